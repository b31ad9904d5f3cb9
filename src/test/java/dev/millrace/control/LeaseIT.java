package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Postgres;
import dev.millrace.testing.Await;
import dev.millrace.testing.TestPostgres;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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

  private final String pipeline = "parcels";

  @BeforeAll
  static void connect() {
    database = TestPostgres.createDatabase();
    state = TestPostgres.connect(database);
    try (DsnDatabase control = DsnDatabase.of(TestPostgres.uri(database))) {
      ControlSchema.ensure(control);
      ControlSchema.ensure(control, RunQueue.class, "queue.sql", "millrace.queue");
    }
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
    return state.transact(
        connection -> Lease.acquire(connection, pipeline, runId, Lease.TIME_TO_LIVE));
  }

  private boolean renew(String runId) {
    return state.transact(
        connection -> Lease.renew(connection, pipeline, runId, Lease.TIME_TO_LIVE));
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
  void whoMayNotWaitIsToldWhoHoldsTheLeaseAndForHowLong() {
    take("run-1", Duration.ofSeconds(90));
    take("run-1", Duration.ofSeconds(90));
    assertThatThrownBy(() -> take("run-2", Duration.ofSeconds(90)))
        .isInstanceOfSatisfying(
            MillraceException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.LEASE_HELD))
        .hasMessageContaining("run-1")
        .hasMessageMatching(".* for (90|8\\d) more seconds.*");
    expire();
    take("run-2", Duration.ofSeconds(90));
    assertThat(lease("run_id")).isEqualTo("run-2");
  }

  private void take(String runId, Duration timeToLive) {
    state.transact(
        connection -> {
          Lease.take(connection, pipeline, runId, timeToLive);
          return null;
        });
  }

  @Test
  void aLeaseLivesAsLongAsItWasTakenFor() {
    state.transact(
        connection -> Lease.acquire(connection, pipeline, "run-1", Duration.ofMillis(1)));
    assertThat(acquire("run-2")).isTrue();
    state.transact(
        connection -> Lease.renew(connection, pipeline, "run-2", Duration.ofMillis(1_500)));
    assertThat(lease("lease_expires_at < now() + interval '1600 milliseconds'")).isEqualTo("t");
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
    return ask(runId, startedSecond, Optional.empty());
  }

  private RunQueue.Answer ask(String runId, int startedSecond, Optional<String> over) {
    return state.transact(
        connection ->
            RunQueue.ask(
                connection,
                new RunQueue.Candidate(
                    pipeline,
                    runId,
                    "workflow-of-" + runId,
                    Instant.parse("2026-09-20T18:15:00Z").plusSeconds(startedSecond)),
                over));
  }

  private void leave(String runId) {
    state.transact(
        connection -> {
          RunQueue.leave(connection, pipeline, runId);
          return null;
        });
  }

  private RunQueue.Renewals renewAll(String... runIds) {
    List<RunQueue.Held> held =
        Stream.of(runIds).map(runId -> new RunQueue.Held(pipeline, runId)).toList();
    return renewAll(held, Lease.TIME_TO_LIVE);
  }

  private static RunQueue.Renewals renewAll(List<RunQueue.Held> held, Duration timeToLive) {
    return state.transact(connection -> RunQueue.renewAll(connection, held, timeToLive));
  }

  private static RunQueue.Holder holder(String runId) {
    return new RunQueue.Holder(runId, "workflow-of-" + runId, false, NullNode.getInstance());
  }

  private static RunQueue.Holder overdue(String runId, JsonNode extra) {
    return new RunQueue.Holder(runId, "workflow-of-" + runId, true, extra);
  }

  private boolean renewTurn(String runId) {
    return renewAll(runId).renewed().contains(runId);
  }

  @Test
  void theFirstToAskHasTheTurnAtOnce() {
    assertThat(ask("run-1", 5)).isEqualTo(new RunQueue.Answer(true, 0, holder("run-1")));
  }

  @Test
  void whoWaitsIsToldWhoIsAtWorkAndHowManyAreAhead() {
    ask("run-1", 1);
    assertThat(ask("run-2", 2)).isEqualTo(new RunQueue.Answer(false, 0, holder("run-1")));
    assertThat(ask("run-3", 3)).isEqualTo(new RunQueue.Answer(false, 1, holder("run-1")));
  }

  @Test
  void aHolderThatIsNoRunOfMillraceIsNamedWithoutAWorkflow() {
    acquire("python-writer");
    assertThat(ask("run-1", 1).holder())
        .isEqualTo(new RunQueue.Holder("python-writer", null, false, NullNode.getInstance()));
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
    assertThat(ask("run-2", 2, Optional.of("run-1")).ours()).isTrue();
    assertThat(
            TestPostgres.query(
                database,
                "SELECT string_agg(run_id, ',') FROM millrace.queue WHERE pipeline = '%s'"
                    .formatted(pipeline)))
        .isEqualTo("run-2");
  }

  @Test
  void aThousandLeasesAreRenewedWithOneStatement() {
    List<RunQueue.Held> held =
        IntStream.range(0, 1_000)
            .mapToObj(number -> new RunQueue.Held("pipeline-" + number, "run-" + number))
            .toList();
    TestPostgres.execute(
        database,
        """
        INSERT INTO control.lease (extractor, run_id, lease_expires_at)
        SELECT 'pipeline-' || number, 'run-' || number, now() + interval '1 second'
        FROM generate_series(0, 999) AS number;
        INSERT INTO millrace.queue (run_id, pipeline, workflow_id, started_at, asked_at, turn_at)
        SELECT run_id, extractor, 'workflow', now(), now() - interval '1 hour', now()
        FROM control.lease;
        """);
    AtomicInteger statements = new AtomicInteger();
    RunQueue.Renewals renewals =
        state.transact(
            connection ->
                RunQueue.renewAll(counted(connection, statements), held, Duration.ofMinutes(7)));
    assertThat(statements).hasValue(1);
    assertThat(renewals.renewed()).hasSize(1_000);
    assertThat(renewals.skipped()).isEmpty();
    assertThat(renewals.lost()).isEmpty();
    assertThat(
            TestPostgres.query(
                database,
                "SELECT count(*) FROM control.lease WHERE lease_expires_at > now() + interval '6 minutes'"))
        .isEqualTo("1000");
    assertThat(
            TestPostgres.query(
                database,
                "SELECT count(*) FROM millrace.queue WHERE asked_at > now() - interval '1 minute'"))
        .isEqualTo("1000");
  }

  private static Connection counted(Connection connection, AtomicInteger statements) {
    return (Connection)
        Proxy.newProxyInstance(
            LeaseIT.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().endsWith("Statement")) {
                statements.incrementAndGet();
              }
              return method.invoke(connection, arguments);
            });
  }

  @Test
  void aLeaseThatWasStolenOrLetGoIsLostAndTheOthersLiveOn() {
    ask("run-1", 1);
    leave("run-1");
    ask("run-2", 2);
    String other = "other-pipeline";
    state.transact(
        connection ->
            RunQueue.ask(
                connection,
                new RunQueue.Candidate(other, "run-3", "workflow-of-run-3", Instant.now()),
                Optional.empty()));
    RunQueue.Renewals renewals =
        renewAll(
            List.of(
                new RunQueue.Held(pipeline, "run-1"),
                new RunQueue.Held(pipeline, "run-2"),
                new RunQueue.Held(other, "run-3"),
                new RunQueue.Held("never-heard-of", "run-4")),
            Lease.TIME_TO_LIVE);
    assertThat(renewals.renewed()).containsExactlyInAnyOrder("run-2", "run-3");
    assertThat(renewals.skipped()).isEmpty();
    assertThat(renewals.lost()).containsOnlyKeys("run-1", "run-4");
    assertThat(renewals.lost().get("run-1").code()).isEqualTo(ErrorCode.LEASE_LOST);
    assertThat(renewals.lost().get("run-1")).hasMessageContaining("run-2 holds it");
    assertThat(renewals.lost().get("run-4")).hasMessageContaining("nobody holds it");
  }

  @Test
  void aRunThatHasLeftIsToldThatItHasEnded() {
    ask("run-1", 1);
    leave("run-1");
    assertThat(renewAll("run-1").lost().get("run-1"))
        .hasMessageContaining("run-1")
        .hasMessageContaining("has ended");
    assertThat(lease("lease_expires_at <= now()")).isEqualTo("t");
  }

  @Test
  void aRowThatAPublisherHasLockedIsSkippedAndNotLost() {
    ask("run-1", 1);
    whileAnother(
        connection -> RunQueue.check(connection, pipeline, "run-1"),
        () -> {
          RunQueue.Renewals renewals = renewAll("run-1");
          assertThat(renewals.skipped()).containsExactly("run-1");
          assertThat(renewals.lost()).isEmpty();
        });
    assertThat(renewAll("run-1").renewed()).containsExactly("run-1");
  }

  @Test
  void aTheftThatIsNotCommittedIsNoLoss() {
    ask("run-1", 1);
    expire();
    whileAnother(
        connection -> assertThat(stolen(connection, "run-1")).isTrue(),
        () -> assertThat(renewAll("run-1").skipped()).containsExactly("run-1"));
    assertThat(renewAll("run-1").lost()).containsOnlyKeys("run-1");
  }

  private boolean stolen(Connection connection, String from) throws SQLException {
    return Lease.acquireFrom(connection, pipeline, "thief", from, Lease.TIME_TO_LIVE);
  }

  /** Work in a transaction. */
  private interface Step {
    void run(Connection connection) throws SQLException;
  }

  /** Does something while a transaction is open, which is committed then. */
  private static void whileAnother(Step transaction, Runnable meanwhile) {
    CountDownLatch done = new CountDownLatch(1);
    CountDownLatch mayCommit = new CountDownLatch(1);
    CompletableFuture<Void> other =
        CompletableFuture.runAsync(
            () ->
                state.transact(
                    connection -> {
                      try {
                        transaction.run(connection);
                      } finally {
                        done.countDown();
                      }
                      await(mayCommit);
                      return null;
                    }),
            OWN_THREAD);
    await(done);
    try {
      meanwhile.run();
    } finally {
      mayCommit.countDown();
      other.join();
    }
  }

  @Test
  void anExpiredLeaseOfARunThatHasNotLeftIsTakenOnlyWhenItIsOver() {
    ask("run-1", 1);
    expire();
    assertThat(ask("run-2", 2))
        .isEqualTo(new RunQueue.Answer(false, 0, overdue("run-1", NullNode.getInstance())));
    assertThat(ask("run-2", 2, Optional.of("run-0")).ours()).as("another is over").isFalse();
    assertThat(ask("run-2", 2, Optional.of("run-1")).ours()).isTrue();
    assertThat(lease("run_id")).isEqualTo("run-2");
  }

  @Test
  void aRunThatIsOverKeepsALeaseThatHasNotExpired() {
    ask("run-1", 1);
    assertThat(ask("run-2", 2, Optional.of("run-1")).ours()).isFalse();
    assertThat(lease("run_id")).isEqualTo("run-1");
  }

  @Test
  void aRunThatComesBackKeepsItsExpiredLease() {
    ask("run-1", 1);
    expire();
    assertThat(renewTurn("run-1")).isTrue();
    assertThat(ask("run-2", 2, Optional.of("run-1")).ours()).isFalse();
    expire();
    assertThat(ask("run-1", 1).ours()).isTrue();
  }

  @Test
  void anExpiredLeaseOfAForeignWriterIsTakenAsEver() {
    acquire("python-writer");
    expire();
    assertThat(ask("run-1", 1).ours()).isTrue();
  }

  @Test
  void aThiefWhoseVictimIsAnotherByThenTakesNothing() {
    acquire("python-writer");
    expire();
    assertThat(state.<Boolean>transact(connection -> stolen(connection, "run-1"))).isFalse();
    assertThat(state.<Boolean>transact(connection -> stolen(connection, "python-writer"))).isTrue();
  }

  @Test
  void ofTwoThatKnowThatTheHolderIsOverOneTakesTheLease() {
    for (int round = 0; round < 50; round++) {
      empty();
      ask("run-1", 1);
      expire();
      CompletableFuture<Boolean> one = takes("run-2");
      CompletableFuture<Boolean> two = takes("run-3");
      assertThat(Stream.of(one.join(), two.join()).filter(ours -> ours)).hasSize(1);
    }
  }

  private CompletableFuture<Boolean> takes(String runId) {
    return CompletableFuture.supplyAsync(
        () -> ask(runId, 2, Optional.of("run-1")).ours(), OWN_THREAD);
  }

  @Test
  void whatTheProjectionTellsOfAnOverdueRunIsInTheAnswer() {
    ask("run-1", 1);
    expire();
    assertThat(ask("run-2", 2).holder().extra().isNull()).isTrue();
    TestPostgres.execute(
        database,
        """
        INSERT INTO control.run (run_id, extractor, started_at, status, extra)
        VALUES ('run-1', 'parcels', now(), 'running',
                '{"temporal": {"namespace": "default", "workflow_id": "w", "run_id": "r"}}')
        """);
    assertThat(ask("run-2", 2).holder().extra().at("/temporal/workflow_id").asText())
        .isEqualTo("w");
  }
}
