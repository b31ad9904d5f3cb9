package dev.millrace.app;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.control.ControlPlane;
import dev.millrace.control.EventStatus;
import dev.millrace.control.Run;
import dev.millrace.control.RunStatus;
import dev.millrace.control.StopReason;
import dev.millrace.testing.TestPostgres;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** What {@code millrace fleet} shows of a control plane that several programs share. */
class FleetCommandIT {
  private record Said(int exitCode, String text) {
    JsonNode json() throws IOException {
      return new JsonMapper().readTree(text);
    }
  }

  @TempDir private Path folder;
  private String database;
  private Path configuration;

  @BeforeEach
  void configure() throws IOException {
    database = TestPostgres.createDatabase();
    configuration = folder.resolve("millrace.yaml");
    Files.writeString(
        configuration,
        """
        postgres:
          appdb:
            host: 127.0.0.1
            port: %d
            database: %s
            user: postgres
            sslmode: disable
        state: appdb
        """
            .formatted(TestPostgres.server().getPort(), database));
  }

  private Said fleet(String... options) {
    CommandLine program = Main.commandLine(Map.of(), List.of(new FleetCommand()));
    StringWriter text = new StringWriter();
    PrintWriter writer = new PrintWriter(text);
    program.setOut(writer).setErr(writer);
    String[] arguments = new String[options.length + 3];
    arguments[0] = "fleet";
    arguments[1] = "--config";
    arguments[2] = configuration.toString();
    System.arraycopy(options, 0, arguments, 3, options.length);
    int exitCode = program.execute(arguments);
    writer.flush();
    return new Said(exitCode, text.toString());
  }

  private ControlPlane plane(String extractor) {
    return ControlPlane.of(
        extractor,
        folder.resolve("control_wal"),
        "postgresql://postgres@127.0.0.1:%d/%s"
            .formatted(TestPostgres.server().getPort(), database));
  }

  private void ranWell(String extractor, long rows) {
    plane(extractor)
        .run(
            "nightly",
            run -> {
              run.event(Run.Outcome.of("stock", "1", EventStatus.OK, rows));
              run.finish(RunStatus.OK, StopReason.CLEAN, 1, 0, 0);
              return null;
            });
  }

  private void makeStateTables() {
    TestPostgres.execute(
        database,
        """
        CREATE SCHEMA millrace;
        CREATE TABLE millrace.queue (run_id TEXT, pipeline TEXT, workflow_id TEXT,
          started_at TIMESTAMPTZ, asked_at TIMESTAMPTZ, turn_at TIMESTAMPTZ);
        CREATE TABLE millrace.table_state (pipeline TEXT, watermark TEXT, key_kind TEXT)
        """);
  }

  @Test
  void anEmptyDatabaseHasNoPipeline() {
    Said said = fleet();

    assertThat(said.exitCode()).isZero();
    assertThat(said.text()).contains("No pipeline has run yet", "0 bytes in 0 files");
  }

  @Test
  void aGoodFleetNeedsNobody() throws IOException {
    makeStateTables();
    ranWell("gofrugal", 42);
    TestPostgres.execute(
        database,
        """
        INSERT INTO millrace.table_state VALUES
          ('gofrugal', to_char(now() AT TIME ZONE 'UTC' - interval '2 hours',
                               'YYYY-MM-DD HH24:MI:SS.US"Z"'), 'TIMESTAMPTZ'),
          ('gofrugal', '17', 'NUMBER');
        INSERT INTO millrace.queue VALUES
          ('r2', 'gofrugal', 'second', now() - interval '90 seconds', now(), NULL)
        """);

    Said text = fleet();
    Said json = fleet("--json");

    assertThat(text.exitCode()).isZero();
    assertThat(text.text())
        .contains("gofrugal", "ok/clean", "1 ok", "42", "2 h 0 min behind")
        .contains("queued: gofrugal, workflow second, for 1 min");
    JsonNode line = json.json().at("/pipelines/0");
    assertThat(json.exitCode()).isZero();
    assertThat(line.at("/pipeline").asText()).isEqualTo("gofrugal");
    assertThat(line.at("/rows").asLong()).isEqualTo(42);
    assertThat(line.at("/watermark_age_seconds").asLong()).isBetween(7_200L, 7_300L);
    assertThat(json.json().at("/queue/0/workflow_id").asText()).isEqualTo("second");
    assertThat(json.json().at("/attention")).isEmpty();
  }

  @Test
  void aRunAtWorkShowsItsLease() throws IOException {
    makeStateTables();
    Said said =
        plane("gofrugal")
            .run(
                "nightly",
                run -> {
                  return fleet("--json");
                });

    assertThat(said.exitCode()).isZero();
    assertThat(said.json().at("/pipelines/0/status").asText()).isEqualTo("running");
    assertThat(said.json().at("/pipelines/0/lease/seconds_left").asLong()).isBetween(200L, 300L);
  }

  @Test
  void aFailedRunNeedsAPerson() {
    makeStateTables();
    plane("sap")
        .run(
            "full",
            run -> {
              run.event(
                  new Run.Outcome(
                      "OINV",
                      null,
                      null,
                      EventStatus.ERROR,
                      null,
                      null,
                      null,
                      null,
                      null,
                      null,
                      "cannot read",
                      null));
              run.finish(RunStatus.PARTIAL, StopReason.ERROR, 3, 1, 0);
              return null;
            });

    Said said = fleet();

    assertThat(said.exitCode()).isEqualTo(1);
    assertThat(said.text())
        .contains("! pipeline sap: its last run", "partial/error", "OINV: cannot read")
        .contains("3 ok, 1 failed");
  }

  @Test
  void aRunCutShortByItsBudgetNeedsNobody() {
    makeStateTables();
    plane("sap")
        .run(
            "full",
            run -> {
              run.finish(RunStatus.PARTIAL, StopReason.BUDGET_TIME, 3, 0, 2);
              return null;
            });

    assertThat(fleet().exitCode()).isZero();
  }

  @Test
  void aRunWhoseLeaseNobodyRenewsNeedsAPerson() throws IOException {
    makeStateTables();
    ranWell("gofrugal", 1);
    TestPostgres.execute(
        database,
        """
        INSERT INTO control.run (run_id, extractor, host, started_at, status, extra) VALUES
          ('dead-1', 'ptp', 'box1', now() - interval '3 hours', 'running', NULL),
          ('dead-2', 'appdb', 'box2', now() - interval '1 hour', 'running',
           '{"temporal": {"workflow_id": "replicate-appdb"}}');
        INSERT INTO control.lease VALUES ('ptp', 'dead-1', now() - interval '2 hours')
        """);

    Said said = fleet("--json");

    assertThat(said.exitCode()).isEqualTo(1);
    assertThat(said.json().at("/dead")).hasSize(2);
    assertThat(said.json().at("/attention").toString())
        .contains("dead-1 of ptp", "it died on box1", "workflow replicate-appdb");
  }

  @Test
  void linesThatCanNotBeShippedNeedAPerson() throws IOException {
    makeStateTables();
    ranWell("gofrugal", 1);
    Path logs = Files.createDirectories(folder.resolve("control_wal").resolve("ptp"));
    Files.writeString(logs.resolve("r1.jsonl"), "{\"kind\":\"event\"}\n");
    Files.writeString(
        logs.resolve("r1.jsonl.rejected"),
        "{\"offset\":0,\"bytes\":17,\"reason\":\"no run_id\"}\n");

    Said said = fleet();

    assertThat(said.exitCode()).isEqualTo(1);
    assertThat(said.text()).contains("17 bytes in 1 files not shipped", "1 lines rejected");
  }
}
