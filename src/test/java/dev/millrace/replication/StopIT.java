package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testing.Await;
import dev.millrace.testing.TestPipeline;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.WorkerProcess;
import io.temporal.client.WorkflowStub;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A worker is stopped in the middle of a run, as every roll-out does. */
class StopIT {
  private static final int ROWS = 1_000;

  @Test
  void aWorkerThatIsStoppedHandsItsRunOver() {
    TestPipeline pipeline = TestPipeline.create("stop", ROWS);
    WorkflowStub run;
    try (TestPipeline.Gate gate = pipeline.shutGate();
        WorkerProcess stopped = pipeline.worker("")) {
      run = pipeline.start("first", List.of(pipeline.gatedView()));
      Await.until("the run extracts", pipeline::extracts);
      assertThat(gate).isNotNull();

      assertThat(stopped.stop()).isEqualTo(WorkerProcess.STOPPED);
      assertThat(pipeline.extracts()).isFalse();
    }
    try (WorkerProcess next = pipeline.worker("")) {
      assertThat(TestTemporal.result(run).at("/status").asText()).isEqualTo("ok");
      assertThat(pipeline.rowsInLake()).containsExactlyInAnyOrderElementsOf(pipeline.rowsInTable());
      assertThat(pipeline.openUploads()).isEmpty();
      assertThat(pipeline.leftovers()).isEmpty();
      assertThat(next.log()).doesNotContain(" ERROR ");
    }
  }
}
