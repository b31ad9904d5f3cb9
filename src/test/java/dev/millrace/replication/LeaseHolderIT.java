package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.millrace.run.LeaseHolder;
import dev.millrace.testing.Await;
import dev.millrace.testing.CutLine;
import dev.millrace.testing.Logs;
import dev.millrace.testing.TestPipeline;
import dev.millrace.testing.TestStack;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.WorkerProcess;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.enums.v1.PendingActivityState;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

/** Leases of runs, held by workers with a real Temporal and a real Postgres. */
class LeaseHolderIT {
  private static final String HOLD_LEASE = "RunHoldLease";

  /** Below every timeout after which a lease would change hands by itself. */
  private static final Duration SECONDS = Duration.ofSeconds(20);

  /** What {@link ReplicateWorkflow} asks for. */
  private static final int TIMEOUT_SECONDS = 150;

  /** Two of a worker's heartbeats. */
  private static final int SHORT_TIMEOUT_SECONDS = 20;

  private static Optional<PendingActivityInfo> holding(WorkflowStub run) {
    return TestTemporal.pendingActivities(run.getExecution().getWorkflowId()).stream()
        .filter(activity -> activity.getActivityType().getName().equals(HOLD_LEASE))
        .filter(
            activity -> activity.getState() == PendingActivityState.PENDING_ACTIVITY_STATE_STARTED)
        .findFirst();
  }

  private static boolean isHeld(WorkflowStub run) {
    return holding(run).isPresent();
  }

  private static int attempt(WorkflowStub run) {
    return holding(run).map(PendingActivityInfo::getAttempt).orElse(0);
  }

  private static Instant heartbeat(WorkflowStub run) {
    return holding(run)
        .map(PendingActivityInfo::getLastHeartbeatTime)
        .map(time -> Instant.ofEpochSecond(time.getSeconds(), time.getNanos()))
        .orElse(Instant.EPOCH);
  }

  private static void awaitHeartbeat(WorkflowStub run) {
    Instant before = heartbeat(run);
    Await.until("a heartbeat", () -> heartbeat(run).isAfter(before));
  }

  private static String worker(WorkflowStub run) {
    return holding(run).map(PendingActivityInfo::getLastWorkerIdentity).orElse("");
  }

  private static String result(WorkflowStub run) {
    try {
      return run.getResult(60, TimeUnit.SECONDS, String.class);
    } catch (TimeoutException exception) {
      throw new AssertionError(run.getExecution() + " does not end", exception);
    }
  }

  private static int events(WorkflowStub run) {
    return TestTemporal.events(run.getExecution().getWorkflowId());
  }

  private static List<String> column(String sql) {
    try (Connection connection = TestStack.postgres().connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      List<String> values = new ArrayList<>();
      while (row.next()) {
        values.add(row.getString(1));
      }
      return values;
    } catch (SQLException exception) {
      throw new IllegalStateException(sql, exception);
    }
  }

  private static void execute(String sql) {
    try (Connection connection = TestStack.postgres().connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException exception) {
      throw new IllegalStateException(sql, exception);
    }
  }

  /** The run that holds a lease which has not expired. */
  private static List<String> holder(String pipeline) {
    return column(
        "SELECT run_id FROM control.lease WHERE extractor = '%s' AND lease_expires_at > now()"
            .formatted(pipeline));
  }

  private static List<String> inTurn(String pipeline) {
    return column(
        "SELECT run_id FROM millrace.queue WHERE pipeline = '%s' AND turn_at IS NOT NULL"
            .formatted(pipeline));
  }

  @Test
  void fiveLeasesAndAllOtherWorkGoWithOneSlotAndNoHistoryGrows() {
    try (LeaseWorker worker = LeaseWorker.start("lease-slot", LeaseWorker.QUICK)) {
      List<WorkflowStub> holding = new ArrayList<>();
      for (int run = 0; run < 5; run++) {
        holding.add(worker.hold("lease-slot-" + run, "lease-slot-run-" + run));
      }
      for (WorkflowStub run : holding) {
        Await.until("the lease is held", () -> isHeld(run));
      }
      WorkflowStub waiting = worker.hold("lease-slot-0", "lease-slot-waiting");
      Await.until(
          "it has asked twice",
          () -> TestTemporal.attempt("lease-slot-waiting", "RunTakeTurn") > 2);

      List<Integer> events = holding.stream().map(LeaseHolderIT::events).toList();
      TestTemporal.result(demo("lease-slot", "lease-slot-demo"));
      for (WorkflowStub run : holding) {
        awaitHeartbeat(run);
        awaitHeartbeat(run);
        awaitHeartbeat(run);
      }
      assertThat(holding.stream().map(LeaseHolderIT::events).toList()).isEqualTo(events);

      for (int run = 0; run < 5; run++) {
        assertThat(holder("lease-slot-" + run)).containsExactly("lease-slot-run-" + run);
      }
      holding.forEach(run -> run.signal("end"));
      holding.forEach(run -> assertThat(result(run)).isEqualTo("ended"));
      Await.until("who waited holds the lease", () -> isHeld(waiting));
      waiting.signal("end");
      assertThat(result(waiting)).isEqualTo("ended");
      assertThat(column("SELECT run_id FROM millrace.queue WHERE pipeline LIKE 'lease-slot%'"))
          .isEmpty();
    }
  }

  private static WorkflowStub demo(String taskQueue, String workflowId) {
    WorkflowStub run =
        TestTemporal.client()
            .newUntypedWorkflowStub(
                "Replicate",
                WorkflowOptions.newBuilder()
                    .setTaskQueue(taskQueue)
                    .setWorkflowId(workflowId)
                    .build());
    run.start(Map.of("demo_mode", true, "pipeline", workflowId));
    return run;
  }

  @Test
  void theLeaseOfATerminatedWorkflowIsLetGoAtTheNextHeartbeat() {
    try (LeaseWorker worker = LeaseWorker.start("lease-terminated", LeaseWorker.QUICK)) {
      WorkflowStub run = worker.hold("lease-terminated", "lease-terminated-run");
      Await.until("the lease is held", () -> isHeld(run));
      WorkflowStub next = worker.hold("lease-terminated", "lease-terminated-next");
      assertThat(holder("lease-terminated")).containsExactly("lease-terminated-run");

      run.terminate("by a test");
      Await.until("the next run holds the lease", SECONDS, () -> isHeld(next), () -> "");
      assertThat(holder("lease-terminated")).containsExactly("lease-terminated-next");
      next.signal("end");
      assertThat(result(next)).isEqualTo("ended");
    }
  }

  @Test
  void anAttemptThatTimedOutDoesNotRobTheNextOne() {
    LeaseHolder.Pace late =
        new LeaseHolder.Pace(
            Duration.ofMinutes(5), Duration.ofMinutes(1), Duration.ofSeconds(3), 50);
    try (LeaseWorker worker = LeaseWorker.start("lease-late", late);
        LeaseWorker other = LeaseWorker.start("lease-late", late);
        Logs logs = Logs.listen()) {
      assertThat(other).isNotNull();
      WorkflowStub run =
          worker.start(new Holding.Order("lease-late", "lease-late-run", null, 1, true));
      Await.until(
          "a worker sees that the other one has the next attempt",
          () -> logs.lines().toString().contains("held by another attempt"));
      Await.until("more attempts have timed out", () -> attempt(run) > 4);
      assertThat(holder("lease-late")).containsExactly("lease-late-run");
      assertThat(inTurn("lease-late")).containsExactly("lease-late-run");
      run.signal("end");
      assertThat(result(run)).isEqualTo("ended");
    }
  }

  @Test
  void aLeaseLostInTheDatabaseIsTold() {
    LeaseHolder.Pace often =
        new LeaseHolder.Pace(
            Duration.ofMinutes(5), Duration.ofMillis(600), Duration.ofMillis(200), 50);
    try (LeaseWorker worker = LeaseWorker.start("lease-lost", often)) {
      WorkflowStub run = worker.hold("lease-lost", "lease-lost-run");
      Await.until("the lease is held", () -> isHeld(run));
      execute("UPDATE control.lease SET run_id = 'thief' WHERE extractor = 'lease-lost'");
      assertThat(result(run)).startsWith("LEASE_LOST").contains("lease-lost-run", "thief holds it");
    }
  }

  @Test
  void aCancellationIsReportedAndTheLeaseStaysTheRuns() {
    try (LeaseWorker worker = LeaseWorker.start("lease-cancelled", LeaseWorker.QUICK)) {
      WorkflowStub run = worker.hold("lease-cancelled", "lease-cancelled-run");
      Await.until("the lease is held", () -> isHeld(run));
      run.signal("cancelLease");
      assertThat(result(run)).startsWith("CANCELLED");
      assertThat(
              TestTemporal.client().fetchHistory("lease-cancelled-run").getEvents().stream()
                  .filter(
                      event -> event.getEventType() == EventType.EVENT_TYPE_ACTIVITY_TASK_CANCELED))
          .hasSize(1);
      assertThat(holder("lease-cancelled")).containsExactly("lease-cancelled-run");
    }
  }

  @Test
  void aRunThatContinuesAsNewKeepsItsLease() {
    try (LeaseWorker worker = LeaseWorker.start("lease-continued", LeaseWorker.QUICK)) {
      WorkflowStub run = worker.hold("lease-continued", "lease-continued-run");
      Await.until("the lease is held", () -> isHeld(run));
      String first = run.describe().getExecution().getRunId();
      WorkflowStub newest = TestTemporal.client().newUntypedWorkflowStub("lease-continued-run");
      newest.signal("move", "lease-continued");
      Await.until(
          "the next execution holds the lease",
          () -> !newest.describe().getExecution().getRunId().equals(first) && isHeld(newest));
      awaitHeartbeat(newest);
      awaitHeartbeat(newest);
      assertThat(holder("lease-continued")).containsExactly("lease-continued-run");
      assertThat(inTurn("lease-continued")).containsExactly("lease-continued-run");
      newest.signal("end");
      assertThat(result(newest)).isEqualTo("ended");
    }
  }

  @Test
  void aWorkerThatIsStoppedHandsItsLeasesOverWithinSeconds() {
    TestPipeline pipeline = TestPipeline.create("lease-stop", 1);
    try (LeaseWorker workflows = LeaseWorker.start("lease-stop-workflows", LeaseWorker.QUICK);
        WorkerProcess stopped = pipeline.worker("")) {
      WorkflowStub run = workflows.start(onWorkers(pipeline, TIMEOUT_SECONDS));
      Await.until("the lease is held", () -> isHeld(run));
      String first = worker(run);
      try (WorkerProcess next = pipeline.worker("")) {
        int events = events(run);
        assertThat(stopped.stop()).isEqualTo(WorkerProcess.STOPPED);
        Await.until(
            "the other worker holds the lease",
            SECONDS,
            () -> isHeld(run) && !worker(run).equals(first),
            next::log);
        assertThat(events(run)).isEqualTo(events);
        assertThat(holder(pipeline.name())).containsExactly(run.getExecution().getWorkflowId());
        run.signal("end");
        assertThat(result(run)).isEqualTo("ended");
        assertThat(next.errors()).isEmpty();
      }
      assertThat(stopped.errors()).isEmpty();
    }
  }

  private static Holding.Order onWorkers(TestPipeline pipeline, int heartbeatSeconds) {
    return new Holding.Order(
        pipeline.name(), pipeline.name() + "-run", pipeline.name(), heartbeatSeconds, true);
  }

  @Test
  void aWorkerThatIsFrozenIsFollowedAfterTheHeartbeatTimeoutAndHarmsNothing() {
    TestPipeline pipeline = TestPipeline.create("lease-freeze", 1);
    // All else is what production does.
    int timeout =
        Double.parseDouble(System.getProperty("millrace.scale", "0.1")) < 1
            ? SHORT_TIMEOUT_SECONDS
            : TIMEOUT_SECONDS;
    try (LeaseWorker workflows = LeaseWorker.start("lease-freeze-workflows", LeaseWorker.QUICK);
        WorkerProcess frozen = pipeline.worker("")) {
      WorkflowStub run = workflows.start(onWorkers(pipeline, timeout));
      Await.until("the lease is held", () -> isHeld(run));
      String first = worker(run);
      awaitHeartbeat(run);
      awaitHeartbeat(run);
      assertThat(attempt(run)).isEqualTo(1);
      try (WorkerProcess next = pipeline.worker("")) {
        frozen.freeze();
        Await.until(
            "the other worker holds the lease",
            Duration.ofMinutes(4),
            () -> isHeld(run) && !worker(run).equals(first),
            next::log);
        frozen.wake();
        frozen.awaitLog("held by another attempt", Duration.ofMinutes(1));
        assertThat(holder(pipeline.name())).containsExactly(run.getExecution().getWorkflowId());
        assertThat(inTurn(pipeline.name())).containsExactly(run.getExecution().getWorkflowId());
        // Whoever has a later attempt on a slow machine, it is held and the run goes on.
        awaitHeartbeat(run);
        run.signal("end");
        assertThat(result(run)).isEqualTo("ended");
        assertThat(next.errors()).isEmpty();
        assertThat(frozen.errors()).isEmpty();
      }
    }
  }

  @Test
  void aDatabaseThatIsAwayIsToldOnceAndHeartbeatsGoOn() {
    LeaseHolder.Pace often =
        new LeaseHolder.Pace(
            Duration.ofMinutes(5), Duration.ofMillis(600), Duration.ofMillis(200), 50);
    try (CutLine line = new CutLine(TestStack.postgres().port());
        Logs logs = Logs.listen();
        LeaseWorker worker =
            LeaseWorker.start(
                "worker",
                "lease-no-database",
                new LeaseHolder(LeaseWorker.state(line.port()), TestTemporal.client(), often))) {
      WorkflowStub run =
          worker.start(
              new Holding.Order("lease-no-database", "lease-no-database-run", null, 10, true));
      Await.until("the lease is held", () -> isHeld(run));
      line.cut();
      Await.until("it is told", () -> !warnings(logs, "the renewal of leases fails").isEmpty());
      awaitHeartbeat(run);
      awaitHeartbeat(run);
      execute("UPDATE control.lease SET lease_expires_at = now() WHERE run_id LIKE 'lease-no-d%'");
      assertThat(holder("lease-no-database")).isEmpty();

      line.mend();
      Await.until("it is renewed", () -> !holder("lease-no-database").isEmpty());
      assertThat(warnings(logs, "the renewal of leases fails")).hasSize(1);
      assertThat(attempt(run)).isEqualTo(1);
      run.signal("end");
      assertThat(result(run)).isEqualTo("ended");
    }
  }

  private static List<String> warnings(Logs logs, String text) {
    return logs.messages(Level.WARN).stream().filter(line -> line.contains(text)).toList();
  }

  @Test
  void aTemporalThatIsAwayIsToldOnceAndRenewalsGoOn() {
    LeaseHolder.Pace often =
        new LeaseHolder.Pace(
            Duration.ofMinutes(5), Duration.ofMillis(600), Duration.ofMillis(200), 50);
    String address = TestStack.temporal().address();
    int port = Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    try (CutLine line = new CutLine(port);
        Logs logs = Logs.listen()) {
      WorkflowClient client = TestTemporal.connect("127.0.0.1:" + line.port());
      try (LeaseWorker worker =
          LeaseWorker.start(
              "worker", "lease-no-temporal", new LeaseHolder(LeaseWorker.state(), client, often))) {
        WorkflowStub run =
            worker.start(
                new Holding.Order("lease-no-temporal", "lease-no-temporal-run", null, 60, true));
        Await.until("the lease is held", () -> isHeld(run));
        awaitHeartbeat(run);
        line.cut();
        Await.until("it is told", () -> !warnings(logs, "the heartbeat of leases fails").isEmpty());
        execute(
            "UPDATE control.lease SET lease_expires_at = now() WHERE run_id LIKE 'lease-no-t%'");
        Await.until("it is renewed", () -> !holder("lease-no-temporal").isEmpty());

        line.mend();
        awaitHeartbeat(run);
        awaitHeartbeat(run);
        assertThat(warnings(logs, "the heartbeat of leases fails")).hasSize(1);
        assertThat(attempt(run)).isEqualTo(1);
        run.signal("end");
        assertThat(result(run)).isEqualTo("ended");
      } finally {
        client.getWorkflowServiceStubs().shutdownNow();
      }
    }
  }
}
