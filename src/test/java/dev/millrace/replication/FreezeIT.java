package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.SideBySide;
import dev.millrace.testing.TestPipeline;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.WorkerProcess;
import io.temporal.api.enums.v1.EventType;
import io.temporal.client.WorkflowStub;
import io.temporal.failure.ApplicationFailure;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * A worker is frozen past its heartbeat timeout and wakes up when another one has done its work.
 *
 * <p>Without the profile {@code full} at some points only, one of them chosen by a seed that is
 * printed.
 */
class FreezeIT {
  private static final int AT_A_TIME = 3;
  private static final int ROWS = 2_000;
  private static final Set<String> ALWAYS = Set.of("extract.middle", "write.before-complete");

  @TestFactory
  Stream<DynamicTest> aWorkerThatWakesUpLateHarmsNothing() {
    SideBySide tests = new SideBySide(AT_A_TIME);
    for (String point : RunPoints.of(FreezeIT.class, ALWAYS, 1)) {
      tests.add("frozen at " + point, frozen(point));
    }
    return tests.tests();
  }

  private static Callable<Void> frozen(String point) {
    return () -> {
      TestPipeline pipeline = TestPipeline.create("freeze-" + point.replace('.', '-'), ROWS);
      try (WorkerProcess late = pipeline.worker(point + "=freeze")) {
        WorkflowStub first = pipeline.start("first");
        late.awaitFrozen();
        try (WorkerProcess next = pipeline.worker("")) {
          List<String> rows = pipeline.rowsInTable();
          pipeline.requireExact(rows, TestTemporal.result(first));
          final List<String> published = pipeline.writings();

          late.wake();
          late.awaitNothingRunsOf(TableSteps.class);
          pipeline.requireExact(rows, TestTemporal.result(first));
          assertThat(pipeline.writings()).as(point).isEqualTo(published);

          // The one that woke up may take part in it.
          rows.addAll(pipeline.change());
          pipeline.requireExact(rows, TestTemporal.result(pipeline.start("second")));
          assertThat(next.errors()).as(point).isEmpty();
          assertThat(late.errors()).as(point).isEmpty();
        }
      }
      return null;
    };
  }

  @Test
  void aRunWhoseLeaseIsStolenBetweenExtractAndWritePublishesNothing() {
    TestPipeline pipeline = TestPipeline.create("stolen-before-write", ROWS);
    try (WorkerProcess worker = pipeline.worker("extract.end=freeze")) {
      WorkflowStub run = pipeline.start("robbed");
      worker.awaitFrozen();
      assertThat(pipeline.openUploads()).hasSize(1);
      steal(pipeline);
      worker.wake();
      ApplicationFailure failure = TestTemporal.failure(run);
      assertThat(failure.getType()).isEqualTo("LEASE_LOST");
      assertThat(failure.getOriginalMessage()).contains("thief");
      assertThat(pipeline.objects()).isEmpty();
      assertThat(pipeline.openUploads()).isEmpty();
      assertThat(pipeline.leftovers()).isEmpty();
      assertThat(pipeline.watermark()).isNull();
      assertThat(pipeline.leaseHolder()).containsExactly("thief");
    }
  }

  @Test
  void aRunWhoseLeaseIsStolenAfterCompleteLeavesTheDecisionToTheNext() {
    TestPipeline pipeline = TestPipeline.create("stolen-after-complete", ROWS);
    try (WorkerProcess worker = pipeline.worker("write.before-watermark=freeze")) {
      WorkflowStub run = pipeline.start("robbed");
      worker.awaitFrozen();
      steal(pipeline);
      worker.wake();
      assertThat(TestTemporal.failure(run).getType()).isEqualTo("LEASE_LOST");
      assertThat(pipeline.watermark()).isNull();
      assertThat(pipeline.leftovers()).anyMatch(left -> left.startsWith("intent "));

      pipeline.execute(
          "UPDATE control.lease SET lease_expires_at = now() - interval '1 second' WHERE run_id = 'thief'");
      List<String> rows = pipeline.rowsInTable();
      JsonNode next = TestTemporal.result(pipeline.start("next"));
      assertThat(next.at("/rows").asLong()).isZero();
      pipeline.requireExact(rows, next);
    }
  }

  private static void steal(TestPipeline pipeline) {
    pipeline.execute(
        """
        UPDATE control.lease
        SET run_id = 'thief', lease_expires_at = now() + interval '5 minutes'
        WHERE extractor = '%s'
        """
            .formatted(pipeline.name()));
  }

  @Test
  void aTableThatFailsAgainAndAgainIsTriedAsOftenAsTheConfigurationSays() {
    TestPipeline pipeline = TestPipeline.create("attempts", 10, "limits:", "  max_attempts: 2", "");
    pipeline.execute(
        """
        CREATE FUNCTION %1$s.cut() RETURNS BOOLEAN STABLE LANGUAGE plpgsql AS
        'BEGIN RAISE EXCEPTION ''cut on purpose'' USING ERRCODE = ''40001''; END';
        CREATE VIEW %1$s.broken AS SELECT *, %1$s.cut() AS cut FROM %1$s.parcel;
        """
            .formatted(pipeline.schema()));
    try (WorkerProcess worker = pipeline.worker("")) {
      WorkflowStub run =
          pipeline.start("run", List.of(pipeline.schema() + ".broken", pipeline.table()));
      ApplicationFailure failure = TestTemporal.failure(run);
      assertThat(failure.getType()).isEqualTo("TABLES_FAILED");
      assertThat(failure.getOriginalMessage())
          .contains(pipeline.schema() + ".broken", "POSTGRES_UNAVAILABLE", "cut on purpose");
      assertThat(attempts(pipeline.workflowId("run") + "/" + pipeline.schema() + ".broken"))
          .as("attempts of extract")
          .isEqualTo(2);
      assertThat(pipeline.rowsInLake()).containsExactlyInAnyOrderElementsOf(pipeline.rowsInTable());
      assertThat(pipeline.leftovers()).isEmpty();
      assertThat(worker.errors()).isEmpty();
    }
  }

  /** The number of tries of the last activity of a workflow. */
  private static int attempts(String workflowId) {
    return TestTemporal.client().fetchHistory(workflowId).getEvents().stream()
        .filter(event -> event.getEventType() == EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED)
        .mapToInt(event -> event.getActivityTaskStartedEventAttributes().getAttempt())
        .reduce(0, (earlier, last) -> last);
  }
}
