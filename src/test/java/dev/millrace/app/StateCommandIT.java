package dev.millrace.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testing.Await;
import dev.millrace.testing.TestPipeline;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.WorkerProcess;
import io.temporal.client.WorkflowStub;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The ways out of a table that is another one than before. */
class StateCommandIT {
  private static final int ROWS = 100;

  private record Said(int exitCode, String text) {}

  private static Said state(TestPipeline pipeline, String command, String table) {
    CommandLine program = Main.commandLine(Map.of(), List.of(new StateCommand()));
    StringWriter text = new StringWriter();
    PrintWriter writer = new PrintWriter(text);
    program.setOut(writer).setErr(writer);
    int exitCode =
        program.execute(
            "state",
            command,
            "--config",
            pipeline.configuration().toString(),
            "--pipeline",
            pipeline.name(),
            "--table",
            table);
    writer.flush();
    return new Said(exitCode, text.toString());
  }

  private static void makeAnew(TestPipeline pipeline) {
    pipeline.execute(
        """
        CREATE TABLE %1$s_anew (LIKE %1$s INCLUDING ALL);
        INSERT INTO %1$s_anew SELECT * FROM %1$s;
        DROP VIEW %2$s;
        DROP TABLE %1$s;
        ALTER TABLE %1$s_anew RENAME TO parcel;
        """
            .formatted(pipeline.table(), pipeline.gatedView()));
  }

  @Test
  void anAcceptedTableGoesOnFromItsWatermark() {
    TestPipeline pipeline = TestPipeline.create("state-accept", ROWS);
    try (WorkerProcess worker = pipeline.worker("")) {
      TestTemporal.result(pipeline.start("first"));
      makeAnew(pipeline);
      assertThat(TestTemporal.failure(pipeline.start("second")).getOriginalMessage())
          .contains("SOURCE_CHANGED", "state accept --pipeline state-accept");

      assertThat(state(pipeline, "accept", pipeline.table()).exitCode()).isZero();

      List<String> changed = pipeline.change();
      assertThat(TestTemporal.result(pipeline.start("third")).at("/rows").asInt())
          .isEqualTo(changed.size());
      assertThat(worker.errors()).isEmpty();
    }
  }

  @Test
  void aResetTableIsLoadedAgain() {
    TestPipeline pipeline = TestPipeline.create("state-reset", ROWS);
    try (WorkerProcess worker = pipeline.worker("")) {
      TestTemporal.result(pipeline.start("first"));

      assertThat(state(pipeline, "reset", pipeline.table()).exitCode()).isZero();

      assertThat(pipeline.watermark()).isNull();
      assertThat(
              TestTemporal.result(pipeline.start("second"))
                  .at("/results/0/initial_load")
                  .asBoolean())
          .isTrue();
      assertThat(pipeline.rowsInLake()).hasSize(2 * ROWS);
      assertThat(worker.errors()).isEmpty();
    }
  }

  @Test
  void aTableOfAnOpenRunIsLeftAlone() {
    TestPipeline pipeline = TestPipeline.create("state-open", ROWS);
    try (WorkerProcess worker = pipeline.worker("")) {
      WorkflowStub run;
      try (TestPipeline.Gate gate = pipeline.shutGate()) {
        run = pipeline.start("first", List.of(pipeline.gatedView()));
        Await.until("the run extracts", pipeline::extracts);
        assertThat(gate).isNotNull();

        Said said = state(pipeline, "reset", pipeline.gatedView());

        assertThat(said.exitCode()).isEqualTo(1);
        assertThat(said.text()).contains("RUN_OPEN", "state-open");
      }
      assertThat(TestTemporal.result(run).at("/rows").asInt()).isEqualTo(ROWS);
      assertThat(worker.errors()).isEmpty();
    }
  }

  @Test
  void aTableWithoutStateIsNamed() {
    TestPipeline pipeline = TestPipeline.create("state-none", ROWS);
    try (WorkerProcess worker = pipeline.worker("")) {
      TestTemporal.result(pipeline.start("first"));

      Said said = state(pipeline, "accept", "public.nothing");

      assertThat(said.exitCode()).isEqualTo(2);
      assertThat(said.text()).contains("state-none has no state of table public.nothing");
      assertThat(worker.errors()).isEmpty();
    }
  }
}
