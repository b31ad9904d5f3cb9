package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.Await;
import dev.millrace.testing.TestPipeline;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.WorkerProcess;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.client.WorkflowExecutionMetadata;
import io.temporal.client.WorkflowStub;
import io.temporal.failure.ApplicationFailure;
import java.time.Instant;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** Runs of one pipeline with different workflow ids: they take turns. */
class QueueIT {
  private static final String TAKE_TURN = "RunTakeTurn";
  private static final int ROWS = 20;

  /** A pipeline whose first run waits at its gate, in the middle of extract. */
  private static WorkflowStub startAtWork(TestPipeline pipeline) {
    WorkflowStub run = pipeline.start("first", List.of(pipeline.gatedView()));
    Await.until("the first run extracts", pipeline::extracts);
    return run;
  }

  private static WorkflowStub startQueued(TestPipeline pipeline, String name) {
    WorkflowStub run = pipeline.start(name, List.of(pipeline.gatedView()));
    Await.until(name + " has asked twice", () -> asked(pipeline.workflowId(name)) > 2);
    return run;
  }

  private static int asked(String workflowId) {
    return TestTemporal.attempt(workflowId, TAKE_TURN);
  }

  private static String answer(String workflowId) {
    return TestTemporal.pendingActivities(workflowId).stream()
        .map(PendingActivityInfo::getLastFailure)
        .map(failure -> failure.getMessage())
        .reduce("", String::concat);
  }

  @Test
  void aSecondRunWaitsItsTurnWithoutGrowthOfItsHistory() {
    TestPipeline pipeline = TestPipeline.create("queue-second", ROWS);
    String waiting = pipeline.workflowId("second");
    try (WorkerProcess worker = pipeline.worker("")) {
      WorkflowStub first;
      WorkflowStub second;
      try (TestPipeline.Gate gate = pipeline.shutGate()) {
        first = startAtWork(pipeline);
        second = startQueued(pipeline, "second");

        assertThat(TestTemporal.state(waiting)).isEqualTo("queued");
        assertThat(TestTemporal.state(pipeline.workflowId("first"))).isEqualTo("running");
        assertThat(TestTemporal.currentDetails(waiting)).contains("queued", pipeline.name());
        assertThat(answer(waiting)).contains("queued", pipeline.workflowId("first"), "0 runs wait");
        Await.until("the list shows it as queued", () -> queued(pipeline).equals(List.of(waiting)));

        int events = TestTemporal.events(waiting);
        int asked = asked(waiting);
        Await.until("it has asked three times more", () -> asked(waiting) >= asked + 3);
        assertThat(TestTemporal.events(waiting)).isEqualTo(events);
        assertThat(gate).isNotNull();
      }
      List<String> rows = pipeline.rowsInTable();
      assertThat(TestTemporal.result(first).at("/rows").asInt()).isEqualTo(ROWS);
      JsonNode result = TestTemporal.result(second);
      assertThat(result.at("/rows").asInt()).isZero();
      assertThat(result.at("/results/0/low"))
          .isEqualTo(TestTemporal.result(first).at("/results/0/high"));
      assertThat(firstChild(waiting)).isAfter(tableEnded(pipeline.workflowId("first")));
      assertThat(TestTemporal.state(waiting)).isEqualTo("ok");
      assertThat(pipeline.rowsInLake()).containsExactlyInAnyOrderElementsOf(rows);
      assertThat(pipeline.leftovers()).isEmpty();
      assertThat(worker.errors()).isEmpty();
    }
  }

  private static List<String> queued(TestPipeline pipeline) {
    return TestTemporal.client()
        .listExecutions(
            "MillracePipeline = '%s' AND MillraceState = 'queued'".formatted(pipeline.name()))
        .map(WorkflowExecutionMetadata::getExecution)
        .map(execution -> execution.getWorkflowId())
        .toList();
  }

  @Test
  void theOldestRunGoesFirst() {
    TestPipeline pipeline = TestPipeline.create("queue-oldest", ROWS);
    try (WorkerProcess worker = pipeline.worker("")) {
      WorkflowStub second;
      WorkflowStub third;
      try (TestPipeline.Gate gate = pipeline.shutGate()) {
        startAtWork(pipeline);
        second = startQueued(pipeline, "second");
        third = startQueued(pipeline, "third");
        assertThat(answer(pipeline.workflowId("third"))).contains("1 runs wait before this one");
        assertThat(gate).isNotNull();
      }
      TestTemporal.result(third);
      TestTemporal.result(second);
      assertThat(firstChild(pipeline.workflowId("third")))
          .isAfter(tableEnded(pipeline.workflowId("second")));
      assertThat(worker.errors()).isEmpty();
    }
  }

  @Test
  void aCancelledRunLeavesNoPlace() {
    TestPipeline pipeline = TestPipeline.create("queue-cancelled", ROWS);
    String cancelled = pipeline.workflowId("second");
    try (WorkerProcess worker = pipeline.worker("")) {
      WorkflowStub first;
      WorkflowStub third;
      try (TestPipeline.Gate gate = pipeline.shutGate()) {
        first = startAtWork(pipeline);
        WorkflowStub second = startQueued(pipeline, "second");
        third = startQueued(pipeline, "third");
        assertThat(places(pipeline)).hasSize(3);
        second.cancel();
        Await.until("the run is cancelled", () -> ended(cancelled));
        assertThat(TestTemporal.status(cancelled))
            .isEqualTo(WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_CANCELED);
        assertThat(places(pipeline)).hasSize(2).doesNotContain(cancelled);
        assertThat(TestTemporal.state(cancelled)).isNotEqualTo("queued");
        assertThat(gate).isNotNull();
      }
      assertThat(TestTemporal.result(first).at("/rows").asInt()).isEqualTo(ROWS);
      assertThat(TestTemporal.result(third).at("/rows").asInt()).isZero();
      assertThat(pipeline.leftovers()).isEmpty();
      assertThat(worker.errors()).isEmpty();
    }
  }

  @Test
  void aCancelledRunAtWorkLeavesNothingOpenAndTheNextOneRuns() {
    TestPipeline pipeline = TestPipeline.create("queue-cancelled-at-work", ROWS);
    String cancelled = pipeline.workflowId("first");
    try (WorkerProcess worker = pipeline.worker("")) {
      WorkflowStub second;
      try (TestPipeline.Gate gate = pipeline.shutGate()) {
        WorkflowStub first = startAtWork(pipeline);
        second = startQueued(pipeline, "second");
        first.cancel();
        Await.until("the run is cancelled", () -> ended(cancelled));
        assertThat(TestTemporal.status(cancelled))
            .isEqualTo(WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_CANCELED);
        assertThat(pipeline.objects()).isEmpty();
        assertThat(pipeline.openUploads()).isEmpty();
        assertThat(pipeline.watermark()).isNull();
        assertThat(gate).isNotNull();
      }
      assertThat(TestTemporal.result(second).at("/rows").asInt()).isEqualTo(ROWS);
      assertThat(pipeline.leftovers()).isEmpty();
      assertThat(worker.errors()).isEmpty();
    }
  }

  @Test
  void aTerminatedRunIsFollowedAtTheNextHeartbeatOfItsLease() {
    TestPipeline pipeline = TestPipeline.create("queue-terminated", ROWS);
    String waiting = pipeline.workflowId("second");
    try (WorkerProcess worker = pipeline.worker("")) {
      WorkflowStub second;
      try (TestPipeline.Gate gate = pipeline.shutGate()) {
        WorkflowStub first = startAtWork(pipeline);
        second = startQueued(pipeline, "second");
        first.terminate("by a test");
        Await.until("the second has the turn", () -> TestTemporal.state(waiting).equals("running"));
        assertThat(gate).isNotNull();
      }
      assertThat(TestTemporal.result(second).at("/rows").asInt()).isEqualTo(ROWS);
      assertThat(pipeline.leftovers()).isEmpty();
      assertThat(pipeline.openUploads()).isEmpty();
      assertThat(pipeline.rowsInLake()).containsExactlyInAnyOrderElementsOf(pipeline.rowsInTable());
      assertThat(worker.errors()).isEmpty();
    }
  }

  @Test
  void aRunWhoseLeaseIsStolenInExtractPublishesNothing() {
    TestPipeline pipeline = TestPipeline.create("queue-stolen", ROWS);
    try (WorkerProcess worker = pipeline.worker("")) {
      WorkflowStub run;
      try (TestPipeline.Gate gate = pipeline.shutGate()) {
        run = startAtWork(pipeline);
        pipeline.execute(
            """
            UPDATE control.lease
            SET run_id = 'thief', lease_expires_at = now() + interval '5 minutes'
            WHERE extractor = '%s'
            """
                .formatted(pipeline.name()));
        assertThat(gate).isNotNull();
      }
      ApplicationFailure failure = TestTemporal.failure(run);
      assertThat(failure.getType()).isEqualTo("LEASE_LOST");
      assertThat(failure.getOriginalMessage()).contains("thief");
      assertThat(pipeline.objects()).isEmpty();
      assertThat(pipeline.openUploads()).isEmpty();
      assertThat(pipeline.watermark()).isNull();
      assertThat(pipeline.leftovers()).isEmpty();
      assertThat(pipeline.leaseHolder()).containsExactly("thief");
      assertThat(worker.errors()).isEmpty();
    }
  }

  private static boolean ended(String workflowId) {
    return TestTemporal.status(workflowId)
        != WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;
  }

  private static List<String> places(TestPipeline pipeline) {
    return pipeline.column(
        "SELECT workflow_id FROM millrace.queue WHERE pipeline = '%s'".formatted(pipeline.name()));
  }

  private static Instant firstChild(String workflowId) {
    return time(
        workflowId,
        event ->
            event.getEventType() == EventType.EVENT_TYPE_START_CHILD_WORKFLOW_EXECUTION_INITIATED);
  }

  /** The lease is let go before the workflow itself closes, but after its only table has ended. */
  private static Instant tableEnded(String workflowId) {
    return time(
        workflowId,
        event -> event.getEventType() == EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_COMPLETED);
  }

  private static Instant time(String workflowId, Predicate<HistoryEvent> wanted) {
    return TestTemporal.client().fetchHistory(workflowId).getEvents().stream()
        .filter(wanted)
        .map(HistoryEvent::getEventTime)
        .map(time -> Instant.ofEpochSecond(time.getSeconds(), time.getNanos()))
        .findFirst()
        .orElseThrow();
  }
}
