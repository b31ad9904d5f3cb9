package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Postgres;
import dev.millrace.testing.Await;
import dev.millrace.testing.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The lease and the queue in a real Postgres. */
class LeaseIT {
  /** The common pool has one thread on two cores, and one of these waits for another. */
  private static final Executor OWN_THREAD = task -> new Thread(task).start();

  private static String database;
  private static Postgres state;

  private final Pipeline pipeline = new Pipeline("parcels");

  @BeforeAll
  static void connect() {
    database = TestPostgres.createDatabase();
    state = TestPostgres.connect(database);
    state.transact(
        connection -> {
          ControlSchema.ensure(connection);
          return null;
        });
  }

  @BeforeEach
  void empty() {
    TestPostgres.execute(database, "TRUNCATE control.lease, millrace.queue");
  }

  @AfterAll
  static void close() {
    state.close();
  }

  private boolean acquire(String runId) {
    return state.transact(connection -> Lease.acquire(connection, pipeline, runId));
  }

  private boolean renew(String runId) {
    return state.transact(connection -> Lease.renew(connection, pipeline, runId));
  }

  private void release(String runId) {
    state.transact(
        connection -> {
          Lease.release(connection, pipeline, runId);
          return null;
        });
  }

  private void expire() {
    execute("UPDATE control.lease SET lease_expires_at = now() - interval '1 second'");
  }

  private void execute(String update) {
    TestPostgres.execute(database, "%s WHERE extractor = '%s'".formatted(update, pipeline));
  }

  private String lease(String column) {
    return TestPostgres.query(
        database,
        "SELECT %s FROM control.lease WHERE extractor = '%s'".formatted(column, pipeline));
  }

  private static void assertLost(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            MillraceException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.LEASE_LOST));
  }

  @Test
  void aFreeLeaseIsTakenForFiveMinutesOfTheDatabasesClock() {
    assertThat(acquire("run-1")).isTrue();
    assertThat(lease("run_id")).isEqualTo("run-1");
    assertThat(
            lease(
                "lease_expires_at > now() + interval '4 minutes' AND lease_expires_at <= now() + interval '5 minutes'"))
        .isEqualTo("t");
  }

  @Test
  void aHeldLeaseIsNotTaken() {
    acquire("run-1");
    assertThat(acquire("run-2")).isFalse();
    assertThat(lease("run_id")).isEqualTo("run-1");
  }

  @Test
  void theHolderMayAcquireAgain() {
    acquire("run-1");
    execute("UPDATE control.lease SET lease_expires_at = now() + interval '1 second'");
    assertThat(acquire("run-1")).isTrue();
    assertThat(lease("lease_expires_at > now() + interval '4 minutes'")).isEqualTo("t");
  }

  @Test
  void onlyAnExpiredLeaseIsStolen() {
    acquire("run-1");
    expire();
    assertThat(acquire("run-2")).isTrue();
    assertThat(lease("run_id")).isEqualTo("run-2");
    assertThat(renew("run-1")).as("the robbed run renews").isFalse();
  }

  @Test
  void anExpiredLeaseThatNobodyTookIsRenewed() {
    acquire("run-1");
    expire();
    assertThat(renew("run-1")).isTrue();
    assertThat(acquire("run-2")).isFalse();
  }

  @Test
  void aReleasedLeaseIsFree() {
    acquire("run-1");
    release("run-1");
    assertThat(acquire("run-2")).isTrue();
  }

  @Test
  void whoDoesNotHoldTheLeaseReleasesNothing() {
    acquire("run-1");
    release("run-2");
    assertThat(acquire("run-2")).isFalse();
  }

  @Test
  void twoRunsThatAcquireAtOnceAreNotBothGivenIt() {
    for (int round = 0; round < 50; round++) {
      CompletableFuture<Boolean> one =
          CompletableFuture.supplyAsync(() -> acquire("run-1"), OWN_THREAD);
      CompletableFuture<Boolean> two =
          CompletableFuture.supplyAsync(() -> acquire("run-2"), OWN_THREAD);
      assertThat(one.join()).as("round %d", round).isNotEqualTo(two.join());
      TestPostgres.execute(
          database, "DELETE FROM control.lease WHERE extractor = '%s'".formatted(pipeline));
    }
  }

  @Test
  void aThiefWaitsUntilTheTransactionThatCheckedHasEnded() {
    acquire("run-1");
    expire();
    CountDownLatch checked = new CountDownLatch(1);
    CountDownLatch mayCommit = new CountDownLatch(1);
    CompletableFuture<Void> publishing =
        CompletableFuture.runAsync(
            () ->
                state.transact(
                    connection -> {
                      Lease.check(connection, pipeline, "run-1");
                      checked.countDown();
                      await(mayCommit);
                      return null;
                    }),
            OWN_THREAD);
    await(checked);
    CompletableFuture<Boolean> theft =
        CompletableFuture.supplyAsync(() -> acquire("run-2"), OWN_THREAD);
    Await.until("the thief waits for the row", LeaseIT::somebodyWaits);
    assertThat(theft).isNotDone();
    mayCommit.countDown();
    publishing.join();
    assertThat(theft.join()).isTrue();
    assertLost(() -> check("run-1"));
  }

  private void check(String runId) {
    state.transact(
        connection -> {
          Lease.check(connection, pipeline, runId);
          return null;
        });
  }

  private static boolean somebodyWaits() {
    return TestPostgres.query(
            database,
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
        != null;
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(exception);
    }
  }

  @Test
  void aRunWithoutALeaseIsRefusedAndToldWhoHasIt() {
    assertLost(() -> check("run-1"));
    acquire("run-2");
    assertThatThrownBy(() -> check("run-1")).hasMessageContaining("run-2 holds it");
  }

  private RunQueue.Answer ask(String runId, int startedSecond) {
    return state.transact(
        connection ->
            RunQueue.ask(
                connection,
                new RunQueue.Candidate(
                    pipeline,
                    runId,
                    "workflow-of-" + runId,
                    Instant.parse("2026-09-20T18:15:00Z").plusSeconds(startedSecond))));
  }

  private void leave(String runId) {
    state.transact(
        connection -> {
          RunQueue.leave(connection, pipeline, runId);
          return null;
        });
  }

  private boolean renewTurn(String runId) {
    return state.transact(connection -> RunQueue.renew(connection, pipeline, runId));
  }

  @Test
  void theFirstToAskHasTheTurnAtOnce() {
    assertThat(ask("run-1", 5))
        .isEqualTo(new RunQueue.Answer(true, 0, "run-1", "workflow-of-run-1"));
  }

  @Test
  void whoWaitsIsToldWhoIsAtWorkAndHowManyAreAhead() {
    ask("run-1", 1);
    assertThat(ask("run-2", 2))
        .isEqualTo(new RunQueue.Answer(false, 0, "run-1", "workflow-of-run-1"));
    assertThat(ask("run-3", 3))
        .isEqualTo(new RunQueue.Answer(false, 1, "run-1", "workflow-of-run-1"));
  }

  @Test
  void aHolderThatIsNoRunOfMillraceIsNamedWithoutAWorkflow() {
    acquire("python-writer");
    assertThat(ask("run-1", 1)).isEqualTo(new RunQueue.Answer(false, 0, "python-writer", null));
  }

  @Test
  void theOldestWorkflowGoesFirstWhoeverAsksFirst() {
    ask("run-1", 1);
    ask("run-3", 3);
    ask("run-2", 2);
    leave("run-1");
    assertThat(ask("run-3", 3).ours()).as("the younger one").isFalse();
    assertThat(ask("run-2", 2).ours()).as("the older one").isTrue();
  }

  @Test
  void aPlaceIsLostAfterFiveMinutesWithoutAsking() {
    ask("run-1", 1);
    ask("run-2", 2);
    ask("run-3", 3);
    leave("run-1");
    TestPostgres.execute(
        database,
        "UPDATE millrace.queue SET asked_at = now() - interval '301 seconds' WHERE run_id = 'run-2' AND pipeline = '%s'"
            .formatted(pipeline));
    assertThat(ask("run-3", 3).ours()).isTrue();
    leave("run-3");
    assertThat(ask("run-2", 2).ours()).as("who comes back late").isTrue();
  }

  @Test
  void whoLeavesWhileWaitingLeavesNoPlaceAndTouchesNoLease() {
    ask("run-1", 1);
    ask("run-2", 2);
    leave("run-2");
    assertThat(ask("run-3", 3).ahead()).isZero();
    assertThat(renewTurn("run-1")).isTrue();
  }

  @Test
  void anAnswerThatGotLostIsGivenAgain() {
    ask("run-1", 1);
    assertThat(ask("run-1", 1).ours()).isTrue();
  }

  @Test
  void aRenewalThatComesLateRevivesNothing() {
    ask("run-1", 1);
    leave("run-1");
    assertThat(renewTurn("run-1")).isFalse();
    assertThat(ask("run-2", 2).ours()).isTrue();
  }

  @Test
  void whoWaitsCannotRenew() {
    ask("run-1", 1);
    ask("run-2", 2);
    assertThat(renewTurn("run-2")).isFalse();
  }

  @Test
  void aRunThatHasLeftPublishesNothingThoughNobodyTookTheLease() {
    ask("run-1", 1);
    state.transact(LeaseIT.this::checkTurn);
    leave("run-1");
    assertLost(() -> state.transact(LeaseIT.this::checkTurn));
  }

  private Void checkTurn(Connection connection) throws SQLException {
    RunQueue.check(connection, pipeline, "run-1");
    return null;
  }

  @Test
  void theTurnOfARunThatDiedIsForgottenByTheNext() {
    ask("run-1", 1);
    ask("run-2", 2);
    expire();
    assertThat(ask("run-2", 2).ours()).isTrue();
    assertThat(
            TestPostgres.query(
                database,
                "SELECT string_agg(run_id, ',') FROM millrace.queue WHERE pipeline = '%s'"
                    .formatted(pipeline)))
        .isEqualTo("run-2");
  }
}
