package dev.millrace.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.testing.Await;
import dev.millrace.testing.LakeReader;
import dev.millrace.testing.TestPipeline;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.WorkerProcess;
import io.temporal.client.WorkflowStub;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The command on real servers, beside runs and after killed ones. */
class VerifyCommandIT {
  private static final int ROWS = 100;

  private record Said(int exitCode, String text, String errors) {}

  private static Said verify(TestPipeline pipeline, String... more) {
    CommandLine program = Main.commandLine(Map.of(), List.of(new VerifyCommand()));
    StringWriter text = new StringWriter();
    StringWriter errors = new StringWriter();
    program.setOut(new PrintWriter(text)).setErr(new PrintWriter(errors));
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "verify",
                "--config",
                pipeline.configuration().toString(),
                "--pipeline",
                pipeline.name(),
                "--source",
                "appdb"));
    arguments.addAll(List.of(more));
    int exitCode = program.execute(arguments.toArray(String[]::new));
    return new Said(exitCode, text.toString(), errors.toString());
  }

  private static JsonNode json(Said said) throws JsonProcessingException {
    return new JsonMapper().readTree(said.text());
  }

  @Test
  void aLakeIsProvenAndWhatDiffersIsSaid() throws JsonProcessingException {
    TestPipeline pipeline = TestPipeline.create("verify-rows", ROWS);
    String table = "--table=" + pipeline.table();
    try (WorkerProcess worker = pipeline.worker("")) {
      TestTemporal.result(pipeline.start("first"));
      pipeline.change();
      TestTemporal.result(pipeline.start("second"));

      Said figures = verify(pipeline, table);
      assertThat(figures.exitCode()).as(figures.errors()).isZero();
      assertThat(figures.text())
          .contains("FIGURES AGREE", "2 objects", "113 rows", "103 rows up to the watermark");

      Said proven = verify(pipeline, table, "--rows");
      assertThat(proven.exitCode()).as(proven.errors()).isZero();
      assertThat(proven.text())
          .contains("PROVEN", "103 rows equal", "10 rows of the lake are older");
      assertThat(proven.errors()).contains("reading object 2 of 2");

      pipeline.execute("DELETE FROM %s WHERE id = 7".formatted(pipeline.table()));
      Said deleted = verify(pipeline, table, "--rows", "--json");
      assertThat(deleted.exitCode()).isZero();
      JsonNode proof = json(deleted);
      assertThat(proof.at("/verdict").asText()).isEqualTo("PROVEN_BUT_DELETED_ROWS");
      assertThat(proof.at("/rows/deleted_rows").asInt()).isEqualTo(1);
      assertThat(proof.at("/rows/deleted_examples/0").asText()).startsWith("id=7, updated_at=");

      pipeline.execute(
          "INSERT INTO %s VALUES (900, 1, 'by hand', now() - interval '9 days')"
              .formatted(pipeline.table()));
      Said differs = verify(pipeline, table, "--rows");
      assertThat(differs.exitCode()).isEqualTo(1);
      assertThat(differs.text())
          .contains(
              "DIFFERS", "! 1 rows of the table are not in the lake", "id=900", "what to do:");
      assertThat(worker.errors()).isEmpty();
    }
  }

  @Test
  void anOpenRunIsNotDisturbedAndSaid() {
    TestPipeline pipeline = TestPipeline.create("verify-open", ROWS);
    String table = "--table=" + pipeline.table();
    try (WorkerProcess worker = pipeline.worker("")) {
      TestTemporal.result(pipeline.start("first"));
      List<String> rows = pipeline.rowsInTable();
      WorkflowStub run;
      try (TestPipeline.Gate gate = pipeline.shutGate()) {
        run = pipeline.start("second", List.of(pipeline.gatedView()));
        Await.until("the run extracts", pipeline::extracts);
        assertThat(gate).isNotNull();

        Said said = verify(pipeline, table, "--rows");

        assertThat(said.exitCode()).as(said.errors()).isZero();
        assertThat(said.text()).contains("PROVEN", "of the pipeline is open");
      }
      assertThat(TestTemporal.result(run).at("/rows").asInt()).isEqualTo(rows.size());
      assertThat(worker.errors()).isEmpty();
    }
  }

  @Test
  void whatAKilledWorkerLeftIsLeftOutUntilTheNextRunDecidesIt() {
    TestPipeline pipeline = TestPipeline.create("verify-killed", ROWS);
    String table = "--table=" + pipeline.table();
    try (WorkerProcess worker = pipeline.worker("")) {
      TestTemporal.result(pipeline.start("first"));
      assertThat(worker.errors()).isEmpty();
    }
    pipeline.change();
    WorkflowStub second;
    try (WorkerProcess doomed = pipeline.worker("write.before-manifest=kill")) {
      second = pipeline.start("second");
      assertThat(doomed.awaitEnd()).isEqualTo(WorkerProcess.KILLED);
    }
    assertThat(pipeline.objects()).hasSize(2);
    assertThat(LakeReader.manifests("raw/postgres/" + pipeline.schema() + "/")).hasSize(1);

    Said left = verify(pipeline, table, "--rows");
    assertThat(left.exitCode()).as(left.text()).isZero();
    assertThat(left.text()).contains("PROVEN", "1 objects", "is left out");

    try (WorkerProcess next = pipeline.worker("")) {
      TestTemporal.result(second);
      Said decided = verify(pipeline, table, "--rows");
      assertThat(decided.exitCode()).as(decided.text()).isZero();
      assertThat(decided.text()).contains("PROVEN", "2 objects", "113 rows");
      assertThat(next.errors()).isEmpty();
    }
  }

  @Test
  void whatCantBeLookedAtEndsWithTwo() {
    TestPipeline pipeline = TestPipeline.create("verify-none", ROWS);
    try (WorkerProcess worker = pipeline.worker("")) {
      TestTemporal.result(pipeline.start("first"));
      assertThat(worker.errors()).isEmpty();
    }
    String table = "--table=" + pipeline.table();

    assertThat(verify(pipeline, "--table=public.nothing"))
        .satisfies(
            said -> {
              assertThat(said.exitCode()).isEqualTo(2);
              assertThat(said.errors()).contains("BAD_INPUT", "has no state of table");
            });
    assertThat(verify(pipeline, table, "--lake=nothing"))
        .satisfies(
            said -> {
              assertThat(said.exitCode()).isEqualTo(2);
              assertThat(said.errors()).contains("UNKNOWN_CONNECTION", "did you mean lake?");
            });
    pipeline.execute("DROP TABLE %s CASCADE".formatted(pipeline.table()));
    assertThat(verify(pipeline, table))
        .satisfies(
            said -> {
              assertThat(said.exitCode()).isEqualTo(2);
              assertThat(said.errors()).contains("TABLE_MISSING");
            });
    assertThat(verify(pipeline, "--help").text())
        .contains("--rows", "Ends with:", "could not look");
  }
}
