package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testing.Await;
import dev.millrace.testing.TestPipeline;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.WorkerProcess;
import io.temporal.client.WorkflowStub;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * All workers are away for longer than a lease lives, while a run is open. The full profile waits
 * twice the time to live; otherwise the database is told that it has passed.
 */
class WorkersAwayIT {
  private static final int ROWS = 1_000;
  private static final boolean FULL =
      Double.parseDouble(System.getProperty("millrace.scale", "0.1")) >= 1;

  @Test
  void theRunGoesOnAfterTheirReturnAndNobodyCallsItDead() {
    TestPipeline pipeline = TestPipeline.create("away", ROWS);
    WorkflowStub first;
    WorkflowStub second;
    try (TestPipeline.Gate gate = pipeline.shutGate()) {
      List<String> holder;
      try (WorkerProcess killed = pipeline.worker("")) {
        first = pipeline.start("first", List.of(pipeline.gatedView()));
        Await.until("the run extracts", pipeline::extracts);
        holder = pipeline.leaseHolder();
        killed.kill();
      }
      letTheLeaseExpire(pipeline);
      second = pipeline.start("second", List.of(pipeline.gatedView()));
      try (WorkerProcess next = pipeline.worker("")) {
        // The lease may be expired still, or renewed by the worker that came back.
        Await.until(
            "the second run is told to wait for the first",
            () ->
                TestTemporal.pendingActivities(pipeline.workflowId("second")).stream()
                    .anyMatch(step -> step.getLastFailure().getMessage().contains(holder.get(0))));
        assertThat(holders(pipeline)).isEqualTo(holder);

        gate.open();
        assertThat(TestTemporal.result(first).at("/status").asText()).isEqualTo("ok");
        assertThat(TestTemporal.result(second).at("/status").asText()).isEqualTo("ok");
        Await.until("both have ended in the projection", () -> runs(pipeline).size() == 2);
        assertThat(next.errors()).isEmpty();
      }
    }
    assertThat(runs(pipeline)).containsExactly("ok/clean", "ok/clean");
    assertThat(pipeline.rowsInLake()).containsExactlyInAnyOrderElementsOf(pipeline.rowsInTable());
    assertThat(pipeline.openUploads()).isEmpty();
    assertThat(pipeline.leftovers()).isEmpty();
  }

  private static void letTheLeaseExpire(TestPipeline pipeline) {
    if (!FULL) {
      pipeline.execute(
          "UPDATE control.lease SET lease_expires_at = now() - interval '5 minutes' WHERE extractor = '%s'"
              .formatted(pipeline.name()));
      return;
    }
    Await.until(
        "10 minutes since the last renewal",
        Duration.ofMinutes(15),
        () ->
            !pipeline
                .column(
                    "SELECT 1 FROM control.lease WHERE extractor = '%s' AND lease_expires_at < now() - interval '5 minutes'"
                        .formatted(pipeline.name()))
                .isEmpty(),
        () -> "");
  }

  private static List<String> holders(TestPipeline pipeline) {
    return pipeline.column(
        "SELECT run_id FROM control.lease WHERE extractor = '%s'".formatted(pipeline.name()));
  }

  private static List<String> runs(TestPipeline pipeline) {
    return pipeline.column(
        "SELECT status || '/' || stop_reason FROM control.run WHERE extractor = '%s' AND finished_at IS NOT NULL ORDER BY started_at"
            .formatted(pipeline.name()));
  }
}
