package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.millrace.testing.Await;
import dev.millrace.testing.TestPostgres;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two processes that take one lease in turn. One of them has a clock that is ten minutes ahead and
 * is stopped past the lease's life now and then.
 */
class LeaseTurnsIT {
  private static final Executor OWN_THREAD = task -> new Thread(task).start();
  private static final int TURNS =
      Math.max(50, (int) (1_000 * Double.parseDouble(System.getProperty("millrace.scale", "0.1"))));

  /** Long enough that a turn mostly fits, short enough to be waited for. */
  private static final Duration TIME_TO_LIVE = Duration.ofMillis(400);

  private static final Duration AHEAD = Duration.ofMinutes(10);

  private static final String TABLES =
      """
      CREATE SCHEMA turn;
      CREATE TABLE turn.published (run_id text, begun timestamptz, ended timestamptz);
      CREATE TABLE turn.taken (
        old_run text, run_id text, old_expires timestamptz, began timestamptz, at timestamptz);
      CREATE FUNCTION turn.note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO turn.taken
        VALUES (OLD.run_id, NEW.run_id, OLD.lease_expires_at, now(), clock_timestamp());
        RETURN NULL;
      END $$;
      CREATE TRIGGER note AFTER UPDATE ON control.lease FOR EACH ROW
      WHEN (OLD.run_id <> NEW.run_id) EXECUTE FUNCTION turn.note()
      """;

  @TempDir private Path folder;
  private String database;

  @BeforeEach
  void makeTables() {
    database = TestPostgres.createDatabase();
    try (DsnDatabase control = DsnDatabase.of(TestPostgres.uri(database))) {
      ControlSchema.ensure(control);
    }
    TestPostgres.execute(database, TABLES);
  }

  private String query(String sql) {
    return TestPostgres.query(database, sql);
  }

  @Test
  void neverTwoHoldersAndTheLateOnePublishesNothing() {
    takeTurns(TestPostgres.uri(database));
  }

  @Test
  void neitherBehindAPoolOfTransactionsAndNoLockIsLeft() throws IOException {
    Path program = pgBouncer();
    int port;
    try (ServerSocket socket = new ServerSocket(0)) {
      port = socket.getLocalPort();
    }
    String dsn = "postgresql://postgres@127.0.0.1:%d/%s?sslmode=disable".formatted(port, database);
    Process pool = startPool(program, port);
    try {
      Await.until("the pool answers", () -> answers(dsn));
      ControlPlane.of("other", folder.resolve("wal"), dsn).run("nightly", run -> null);
      takeTurns(dsn);
    } finally {
      pool.destroy();
      pool.onExit().join();
    }
  }

  /** Asked in a session that served both: a lock that a session holds would be seen, too. */
  private static void assertNoLockIsLeft(String dsn) {
    try (DsnDatabase control = DsnDatabase.of(dsn)) {
      String locks =
          control.transact(
              connection -> {
                try (Statement statement = connection.createStatement();
                    ResultSet row =
                        statement.executeQuery(
                            """
                            SELECT string_agg(locktype || ' ' || mode, ', ')
                            FROM pg_locks JOIN pg_stat_activity USING (pid)
                            WHERE datname = current_database() AND backend_type = 'client backend'
                              AND (pid <> pg_backend_pid() OR locktype = 'advisory')
                            """)) {
                  row.next();
                  return row.getString(1);
                }
              });
      assertThat(locks).isNull();
    }
  }

  private static Path pgBouncer() {
    Optional<Path> found =
        Stream.concat(
                Stream.of(System.getenv("PATH").split(":", -1)).map(Path::of),
                Stream.of(Path.of("/usr/sbin")))
            .map(place -> place.resolve("pgbouncer"))
            .filter(Files::isExecutable)
            .findFirst();
    require(found.isPresent(), "pgbouncer is neither on the PATH nor in /usr/sbin");
    return found.orElseThrow();
  }

  private static void require(boolean there, String missing) {
    if (!there && Boolean.getBoolean("millrace.ci")) {
      fail(missing);
    }
    assumeTrue(there, missing);
  }

  private Process startPool(Path program, int port) throws IOException {
    // Two sessions for all, none of which lives long.
    Path settings =
        Files.writeString(
            folder.resolve("pool.ini"),
            """
            [databases]
            * = host=127.0.0.1 port=%d user=postgres application_name=pool
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = %d
            unix_socket_dir =
            auth_type = any
            pool_mode = transaction
            default_pool_size = 2
            server_lifetime = 2
            ignore_startup_parameters = extra_float_digits
            log_connections = 0
            log_disconnections = 0
            """
                .formatted(TestPostgres.server().getPort(), port));
    boolean root = System.getProperty("user.name").equals("root");
    List<String> command =
        root
            ? List.of(program.toString(), "-q", "-u", "nobody", settings.toString())
            : List.of(program.toString(), "-q", settings.toString());
    return new ProcessBuilder(command).inheritIO().start();
  }

  private static boolean answers(String dsn) {
    try (DsnDatabase control = DsnDatabase.of(dsn)) {
      control.transact(connection -> null);
      return true;
    } catch (RuntimeException exception) {
      return false;
    }
  }

  /** Returns what starts a process with a clock ahead; empty where that can't be. */
  private static List<String> aheadOfTime() {
    for (Path folder : List.of(Path.of("/usr/lib"), Path.of("/usr/local/lib"))) {
      // With the wrapper program, a signal would reach the wrapper.
      try (DirectoryStream<Path> places = Files.newDirectoryStream(folder)) {
        for (Path place : places) {
          Path library = place.resolve("faketime").resolve("libfaketimeMT.so.1");
          if (Files.isReadable(library)) {
            return List.of(
                "env",
                "LD_PRELOAD=" + library,
                "FAKETIME=+" + AHEAD.toSeconds(),
                "FAKETIME_DONT_FAKE_MONOTONIC=1");
          }
        }
      } catch (IOException exception) {
        // No such folder, no library.
      }
    }
    return List.of();
  }

  private void takeTurns(String dsn) {
    List<String> ahead = aheadOfTime();
    if (ahead.isEmpty()) {
      assertThat(Boolean.getBoolean("millrace.ci")).as("libfaketime is missing").isFalse();
      System.out.println("LeaseTurnsIT: both clocks are right, for libfaketime is missing");
    }
    String live = Long.toString(TIME_TO_LIVE.toMillis());
    try (ChildJvm late = ChildJvm.start(ahead, LeaseTaker.class, dsn, "orders", "late", live);
        ChildJvm steady = ChildJvm.start(LeaseTaker.class, dsn, "orders", "steady", live)) {
      long difference = clock(late) - clock(steady);
      if (!ahead.isEmpty()) {
        assertThat(difference).isBetween(AHEAD.toMillis() - 60_000, AHEAD.toMillis() + 60_000);
      }
      Turns turns = new Turns();
      CompletableFuture<Void> other =
          CompletableFuture.runAsync(() -> turns.steady(steady), OWN_THREAD);
      turns.late(late, steady);
      other.join();
      assertThat(late.exitCode()).isZero();
      assertThat(steady.exitCode()).isZero();
      assertThat(turns.stops).as("stops past the lease's life").isGreaterThanOrEqualTo(TURNS / 50);
    }
    assertInvariants();
    assertNoLockIsLeft(dsn);
  }

  private static long clock(ChildJvm child) {
    return Long.parseLong(child.line("clock").substring("clock ".length()));
  }

  /** Both processes, each led by a thread. */
  private final class Turns {
    private final AtomicInteger taken = new AtomicInteger();
    private final AtomicInteger takenBySteady = new AtomicInteger();
    private final Random random = new Random(7);
    private volatile boolean lateIsDone;
    private int stops;

    private void steady(ChildJvm child) {
      while (!lateIsDone) {
        assertThat(child.line("holding")).isNotNull();
        child.say("go");
        taken.incrementAndGet();
        assertThat(child.line("")).matches("(published|lost) steady-\\d+");
        takenBySteady.incrementAndGet();
      }
      child.line("holding");
      child.say("stop");
    }

    private void late(ChildJvm child, ChildJvm steady) {
      while (taken.incrementAndGet() < TURNS || stops < TURNS / 50) {
        String run = child.line("holding").substring("holding ".length());
        switch (random.nextInt(12)) {
          case 0 -> stopPastTheLease(child, steady, run);
          case 1 -> stopAnywhere(child, run);
          default -> {
            child.say("go");
            assertThat(child.line("")).isIn("published " + run, "lost " + run);
          }
        }
      }
      child.line("holding");
      child.say("stop");
      child.line("");
      lateIsDone = true;
    }

    private void stopPastTheLease(ChildJvm child, ChildJvm steady, String run) {
      child.signal("STOP");
      int before = takenBySteady.get();
      child.say("go");
      Await.until(
          "the other one takes the lease",
          Duration.ofMinutes(1),
          () -> takenBySteady.get() > before + 1 || !steady.isAlive(),
          () -> query("SELECT run_id || ' ' || lease_expires_at FROM control.lease"));
      child.signal("CONT");
      assertThat(child.line("")).isEqualTo("lost " + run);
      assertThat(query("SELECT count(*) FROM turn.published WHERE run_id = '%s'".formatted(run)))
          .isEqualTo("0");
      stops++;
    }

    /** In the middle of a transaction, perhaps, in which nobody may take the lease. */
    private void stopAnywhere(ChildJvm child, String run) {
      child.say("go");
      child.signal("STOP");
      Await.until(
          "the lease is over",
          () ->
              query(
                      "SELECT 1 FROM control.lease WHERE run_id <> '%s' OR lease_expires_at < now()"
                          .formatted(run))
                  != null);
      child.signal("CONT");
      assertThat(child.line("")).isIn("published " + run, "lost " + run);
    }
  }

  private void assertInvariants() {
    assertThat(query("SELECT count(*) FROM turn.taken WHERE old_expires >= began"))
        .as("leases taken before they expired")
        .isEqualTo("0");
    assertThat(
            query(
                """
                SELECT string_agg(one.run_id || ' and ' || two.run_id, ', ')
                FROM turn.published AS one JOIN turn.published AS two
                  ON one.run_id < two.run_id AND one.begun <= two.ended AND two.begun <= one.ended
                """))
        .as("two that published at once")
        .isNull();
    assertThat(
            query(
                """
                SELECT string_agg(published.run_id, ', ') FROM turn.published
                JOIN turn.taken ON old_run = published.run_id AND ended > at
                """))
        .as("published after somebody else took the lease")
        .isNull();
    assertThat(Integer.parseInt(query("SELECT count(*) FROM turn.taken")))
        .isGreaterThanOrEqualTo(TURNS - 1);
    assertThat(query("SELECT count(DISTINCT split_part(run_id, '-', 1)) FROM turn.published"))
        .isEqualTo("2");
  }
}
