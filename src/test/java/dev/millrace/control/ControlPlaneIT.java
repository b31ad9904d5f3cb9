package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.testing.Await;
import dev.millrace.testing.TestPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs of a program that uses the library alone, against a real Postgres. */
class ControlPlaneIT {
  private static final Executor OWN_THREAD = task -> new Thread(task).start();

  private static final String RUN = "20261130T104450Z-gofrugal-0a1b2c";

  @TempDir private Path folder;
  private String database;
  private String dsn;
  private ControlPlane plane;

  @BeforeEach
  void makeDatabase() {
    database = TestPostgres.createDatabase();
    dsn =
        "postgresql://postgres@127.0.0.1:%d/%s"
            .formatted(TestPostgres.server().getPort(), database);
    plane = ControlPlane.of("gofrugal", folder, dsn);
  }

  private String query(String sql) {
    return TestPostgres.query(database, sql);
  }

  private String run(String runId) {
    return query(
        "SELECT concat_ws('/', status, stop_reason, n_ok, n_err, n_skipped) FROM control.run WHERE run_id = '%s'"
            .formatted(runId));
  }

  private static Run.Outcome ok(String unit) {
    return Run.Outcome.of("stock", unit, EventStatus.OK, 1L);
  }

  @Test
  void aRunIsInThePlaneWithItsEventsAndItsEnd() {
    String result =
        plane.run(
            "nightly",
            RUN,
            run -> {
              run.event(ok("1001"));
              run.event(ok("1002"));
              run.budget(BudgetName.WALLTIME.word(), 1800L, 1800L, 0L, true);
              run.finish(RunStatus.PARTIAL, StopReason.BUDGET_TIME, 47, 1, 0);
              return "done";
            });

    assertThat(result).isEqualTo("done");
    assertThat(run(RUN)).isEqualTo("partial/budget_time/47/1/0");
    assertThat(query("SELECT string_agg(seq || unit, ',' ORDER BY seq) FROM control.event"))
        .isEqualTo("01001,11002");
    assertThat(query("SELECT limit_val || '/' || hit FROM control.budget_usage"))
        .isEqualTo("1800/true");
    assertThat(query("SELECT lease_expires_at <= now() FROM control.lease")).isEqualTo("t");
    assertThat(query("SELECT wal_path FROM control.run"))
        .isEqualTo(folder.resolve("gofrugal").resolve(RUN + ".jsonl").toString());
  }

  @Test
  void workThatReturnsIsOk() {
    plane.run("nightly", RUN, run -> null);

    assertThat(run(RUN)).isEqualTo("ok/clean");
  }

  @Test
  void workThatThrowsIsFailedAndItsTextIsKept() {
    assertThatThrownBy(
            () ->
                plane.run(
                    "nightly",
                    RUN,
                    run -> {
                      throw new IOException("disk on fire, password=hunter2hunter2");
                    }))
        .isInstanceOf(IOException.class);

    assertThat(run(RUN)).isEqualTo("failed/error");
    assertThat(query("SELECT extra ->> 'error' FROM control.run"))
        .contains("IOException: disk on fire")
        .doesNotContain("hunter2");
  }

  @Test
  void aTextThatNoLineCanHoldIsKeptAllTheSame() {
    assertThatThrownBy(
            () ->
                plane.run(
                    "nightly",
                    RUN,
                    run -> {
                      throw new IllegalStateException("nul \0 and half a pair \ud83d end");
                    }))
        .isInstanceOf(IllegalStateException.class);

    assertThat(run(RUN)).isEqualTo("failed/error");
    assertThat(query("SELECT extra ->> 'error' FROM control.run")).contains("half a pair");
  }

  @Test
  void theFirstFinishCounts() {
    assertThatThrownBy(
            () ->
                plane.run(
                    "nightly",
                    RUN,
                    run -> {
                      run.finish(RunStatus.PARTIAL, StopReason.BUDGET_API, 1, 0, 2);
                      run.finish(RunStatus.OK, StopReason.CLEAN, 3, 0, 0);
                      throw new IllegalStateException("late");
                    }))
        .isInstanceOf(IllegalStateException.class);

    assertThat(run(RUN)).isEqualTo("partial/budget_api/1/0/2");
  }

  @Test
  void anAppendThatFailsCanNotTurnFailedIntoOk() {
    assertThatThrownBy(
            () ->
                plane.run(
                    "nightly",
                    RUN,
                    run -> {
                      try {
                        run.event(ok("nul \0"));
                      } catch (MillraceException exception) {
                        assertThat(exception.code()).isEqualTo(ErrorCode.BAD_RECORD);
                        throw exception;
                      }
                      return null;
                    }))
        .isInstanceOf(MillraceException.class);

    assertThat(run(RUN)).isEqualTo("failed/error");
    assertThat(query("SELECT count(*) FROM control.event")).isEqualTo("0");
  }

  @Test
  void aRunThatCanNotBeWrittenDoesNotBeginAndLeavesNoLease() throws IOException {
    // A file where the folder of the logs should be.
    Files.writeString(folder.resolve("gofrugal"), "");

    assertThatThrownBy(() -> plane.run("nightly", RUN, run -> null))
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.WAL_UNWRITABLE));

    assertThat(query("SELECT count(*) FROM control.lease WHERE lease_expires_at > now()"))
        .isEqualTo("0");
    Files.delete(folder.resolve("gofrugal"));
    plane.run("nightly", run -> null);
  }

  /** Takes the log away from a run, which notices it within a second. */
  private void hideLogs(Run run) {
    try {
      Files.move(folder.resolve("gofrugal"), folder.resolve("hidden"));
      Files.writeString(folder.resolve("gofrugal"), "a file in place of the folder");
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
    Await.until(
        "the run can't write",
        () -> {
          try {
            run.event(ok("meanwhile"));
            return false;
          } catch (MillraceException exception) {
            return true;
          }
        });
  }

  private void restoreLogs() throws IOException {
    Files.delete(folder.resolve("gofrugal"));
    Files.move(folder.resolve("hidden"), folder.resolve("gofrugal"));
  }

  private void assertNothingIsHeld() {
    assertThat(query("SELECT count(*) FROM control.lease WHERE lease_expires_at > now()"))
        .isEqualTo("0");
    assertThat(Thread.getAllStackTraces().keySet())
        .filteredOn(Thread::isAlive)
        .extracting(Thread::getName)
        .doesNotContain("lease of gofrugal", "log of gofrugal");
  }

  @Test
  void aFailureWhoseEndCanNotBeWrittenStaysTheFailureAndIsNeverOk() throws IOException {
    IllegalStateException failure = new IllegalStateException("out of stock");
    assertThatThrownBy(
            () ->
                plane.run(
                    "nightly",
                    RUN,
                    run -> {
                      run.event(ok("1"));
                      hideLogs(run);
                      throw failure;
                    }))
        .isSameAs(failure);
    assertThat(failure.getSuppressed())
        .singleElement()
        .isInstanceOfSatisfying(
            MillraceException.class,
            second -> assertThat(second.code()).isEqualTo(ErrorCode.WAL_UNWRITABLE));
    assertNothingIsHeld();
    assertThat(run(RUN)).isEqualTo("running");

    restoreLogs();
    plane.run("nightly", run -> null);
    assertThat(run(RUN)).isEqualTo("died/died");
    assertThat(query("SELECT unit FROM control.event WHERE seq = 0")).isEqualTo("1");
  }

  @Test
  void workWhoseEndCanNotBeWrittenHasFailed() throws IOException {
    assertThatThrownBy(
            () ->
                plane.run(
                    "nightly",
                    RUN,
                    run -> {
                      hideLogs(run);
                      return null;
                    }))
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.WAL_UNWRITABLE));
    assertNothingIsHeld();
    assertThat(run(RUN)).isEqualTo("running");
    restoreLogs();
    plane.run("nightly", run -> null);
    assertThat(run(RUN)).isEqualTo("died/died");
  }

  @Test
  void aReleaseThatFailsDoesNotKeepTheLastShipmentFromPostgres() {
    plane.run(
        "nightly",
        RUN,
        run -> {
          // A sequence keeps what a failed transaction did: events land after the release only.
          TestPostgres.execute(
              database,
              """
              CREATE SEQUENCE public.tried;
              CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                PERFORM nextval('public.tried');
                RAISE EXCEPTION 'no release';
              END $$;
              CREATE TRIGGER refuse BEFORE UPDATE ON control.lease
                FOR EACH ROW EXECUTE FUNCTION public.refuse();
              CREATE FUNCTION public.later() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF NOT (SELECT is_called FROM public.tried) THEN
                  RAISE EXCEPTION 'not yet';
                END IF;
                RETURN NEW;
              END $$;
              CREATE TRIGGER later BEFORE INSERT ON control.event
                FOR EACH ROW EXECUTE FUNCTION public.later()
              """);
          run.event(ok("1"));
          return null;
        });

    assertThat(query("SELECT is_called FROM public.tried")).isEqualTo("t");
    assertThat(query("SELECT unit FROM control.event WHERE seq = 0")).isEqualTo("1");
    assertThat(run(RUN)).isEqualTo("ok/clean");
  }

  @Test
  void eightThreadsRecordEachEventOnce() {
    plane.run(
        "nightly",
        RUN,
        run -> {
          List<CompletableFuture<Void>> threads = new ArrayList<>();
          for (int thread = 0; thread < 8; thread++) {
            String name = "t" + thread;
            threads.add(
                CompletableFuture.runAsync(
                    () -> {
                      for (int each = 0; each < 50; each++) {
                        run.event(ok(name + "-" + each));
                      }
                    },
                    OWN_THREAD));
          }
          threads.forEach(CompletableFuture::join);
          return null;
        });

    assertThat(
            query(
                "SELECT count(*) || '/' || count(DISTINCT unit) || '/' || max(seq) FROM control.event"))
        .isEqualTo("400/400/399");
  }

  @Test
  void aSecondRunIsRefusedAndHarmsNothing() {
    String startedAt =
        plane.run(
            "nightly",
            RUN,
            run -> {
              String before = query("SELECT started_at FROM control.run");
              assertThatThrownBy(() -> plane.run("nightly", second -> null))
                  .isInstanceOfSatisfying(
                      MillraceException.class,
                      failure -> {
                        assertThat(failure.code()).isEqualTo(ErrorCode.LEASE_HELD);
                        assertThat(failure).hasMessageContaining(RUN);
                      });
              run.event(ok("after"));
              return before;
            });

    assertThat(query("SELECT started_at FROM control.run WHERE run_id = '%s'".formatted(RUN)))
        .isEqualTo(startedAt);
    assertThat(query("SELECT count(*) FROM control.run")).isEqualTo("1");
    assertThat(run(RUN)).isEqualTo("ok/clean");
  }

  @Test
  void aRunIdIsUsedOnce() {
    plane.run("nightly", RUN, run -> null);

    assertThatThrownBy(() -> plane.run("nightly", RUN, run -> null))
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.RUN_ID_TAKEN));
    assertThatThrownBy(
            () ->
                ControlPlane.of("gofrugal", folder.resolve("other-host"), dsn)
                    .run("nightly", RUN, run -> null))
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.RUN_ID_TAKEN));
  }

  @Test
  void anotherExtractorsRunIdIsRefused() {
    plane.run("nightly", RUN, run -> null);

    assertThatThrownBy(() -> ControlPlane.of("sap", folder, dsn).run("full", RUN, run -> null))
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.RUN_ID_TAKEN));
    assertThat(query("SELECT extractor FROM control.run")).isEqualTo("gofrugal");
  }

  @Test
  void aDatabaseThatIsAwayRefusesTheRunBeforeTheWork() {
    ControlPlane away =
        ControlPlane.of("gofrugal", folder, "postgresql://postgres@127.0.0.1:1/nowhere");
    List<String> worked = new ArrayList<>();

    assertThatThrownBy(() -> away.run("nightly", run -> worked.add("work")))
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.POSTGRES_UNAVAILABLE));
    assertThat(worked).isEmpty();
    assertThat(folder.resolve("gofrugal")).doesNotExist();
  }

  @Test
  void anEmptyDsnIsAnErrorAndNoneIsALogAlone() throws IOException {
    assertThatThrownBy(() -> ControlPlane.of("gofrugal", folder, " "))
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.BAD_CONFIGURATION));

    ControlPlane.withoutDatabase("gofrugal", folder)
        .run(
            "nightly",
            RUN,
            run -> {
              run.event(ok("1"));
              return null;
            });

    try (Stream<String> lines = Files.lines(folder.resolve("gofrugal").resolve(RUN + ".jsonl"))) {
      assertThat(lines).hasSize(3);
    }
    plane.run("nightly", run -> null);
    assertThat(run(RUN)).as("the next run with a database ships it").isEqualTo("ok/clean");
  }

  @Test
  void aConnectionThatIsLostIsOpenedAgain() {
    plane.run(
        "nightly",
        RUN,
        run -> {
          for (int time = 0; time < 3; time++) {
            query(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()");
            run.event(ok("after " + time));
          }
          return null;
        });

    assertThat(run(RUN)).isEqualTo("ok/clean");
    assertThat(query("SELECT count(*) FROM control.event")).isEqualTo("3");
  }

  @Test
  void theLeaseIsRenewedWhileTheWorkGoesOnAndItsLossIsReportedOnly() {
    ControlPlane quick = plane.withLease(Duration.ofSeconds(30), Duration.ofMillis(100));
    quick.run(
        "nightly",
        RUN,
        run -> {
          String before = query("SELECT lease_expires_at FROM control.lease");
          Await.until(
              "a renewal",
              () -> !query("SELECT lease_expires_at FROM control.lease").equals(before));
          TestPostgres.execute(database, "UPDATE control.lease SET run_id = 'thief'");
          run.event(ok("after the loss"));
          return null;
        });

    assertThat(run(RUN)).isEqualTo("ok/clean");
    assertThat(query("SELECT run_id || (lease_expires_at > now()) FROM control.lease"))
        .as("the lease of another run is not let go")
        .isEqualTo("thieftrue");
  }

  @Test
  void aDeadRunIsShippedAndClosedByTheNextOne() throws IOException {
    plane.run("nightly", run -> null);
    WalFile dead = new WalFile(folder, "gofrugal", "20261130T000000Z-gofrugal-dead01");
    try (Wal wal = Wal.open(dead)) {
      wal.append(
          new WalRecord.RunStart(
              dead.runId(), "gofrugal", "nightly", "h", 1, java.time.Instant.EPOCH, "p", null));
      wal.append(
          new WalRecord.Event(
              "gofrugal",
              dead.runId(),
              0,
              java.time.Instant.EPOCH,
              "t2",
              null,
              null,
              EventStatus.ERROR,
              null,
              null,
              null,
              null,
              null,
              null,
              "last words",
              null));
    }

    plane.run("nightly", RUN, run -> null);

    assertThat(
            query(
                "SELECT status || '/' || stop_reason || '/' || reconciled_by FROM control.run WHERE run_id = '%s'"
                    .formatted(dead.runId())))
        .isEqualTo("died/died/" + RUN);
    assertThat(query("SELECT error_detail FROM control.event WHERE entity = 't2'"))
        .isEqualTo("last words");
  }

  @Test
  void aTableThatIsLockedDelaysAStartOnceAndNotForEachLog() throws SQLException {
    plane.run("nightly", run -> null);
    for (int log = 0; log < 3; log++) {
      String runId = "20261130T00000%dZ-gofrugal-dead01".formatted(log);
      ControlPlane.withoutDatabase("gofrugal", folder)
          .run(
              "nightly",
              runId,
              run -> {
                run.event(ok("left"));
                return null;
              });
    }
    try (Connection other =
            TestPostgres.server().getDatabase("postgres", database).getConnection();
        Statement statement = other.createStatement()) {
      other.setAutoCommit(false);
      statement.execute("LOCK TABLE control.event IN ACCESS EXCLUSIVE MODE");
      long begin = System.nanoTime();
      plane.run("nightly", RUN, run -> null);
      // One wait of 5 s; three would be 15, and this bound leaves room for a slow machine.
      assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(14));
    }
    assertThat(query("SELECT count(*) FROM control.event")).isEqualTo("0");

    plane.run("nightly", run -> null);

    assertThat(query("SELECT count(*) FROM control.event")).isEqualTo("3");
  }

  @Test
  void theLogOfALiveRunIsLeftToItsOwner() throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    CompletableFuture<Void> live =
        CompletableFuture.runAsync(
            () ->
                plane.run(
                    "nightly",
                    RUN,
                    run -> {
                      begun.countDown();
                      await(end);
                      return null;
                    }),
            OWN_THREAD);
    assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
    WalFile log = new WalFile(folder, "gofrugal", RUN);
    try {
      Files.writeString(log.offsetPath(), "0");
      assertThatThrownBy(() -> plane.run("nightly", run -> null))
          .isInstanceOf(MillraceException.class);
      assertThat(log.offsetPath()).hasContent("0");
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    } finally {
      end.countDown();
    }
    live.join();
    assertThat(run(RUN)).isEqualTo("ok/clean");
  }

  @Test
  void aDatabaseMadeAnewGetsOlderRuns() {
    plane.run("nightly", RUN, run -> null);
    TestPostgres.execute(database, "DROP SCHEMA control CASCADE");

    plane.run("nightly", run -> null);

    assertThat(run(RUN)).isEqualTo("ok/clean");
  }

  @Test
  void namesWithPatternCharactersAreNames() {
    ControlPlane odd = ControlPlane.of("a[b]*?", folder, dsn);
    ControlPlane.withoutDatabase("a[b]*?", folder).run("nightly", RUN, run -> null);

    odd.run("nightly", run -> null);

    assertThat(run(RUN)).isEqualTo("ok/clean");
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", exception);
    }
  }
}
