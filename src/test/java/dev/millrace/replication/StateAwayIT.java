package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.util.Timestamps;
import dev.millrace.dev.PostgresServer;
import dev.millrace.testing.Appdb;
import dev.millrace.testing.Await;
import dev.millrace.testing.CutLine;
import dev.millrace.testing.TestPipeline;
import dev.millrace.testing.TestStack;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.WorkerProcess;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import io.temporal.client.WorkflowStub;
import io.temporal.failure.ApplicationFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The database of the state goes away, and not that of the source. */
class StateAwayIT {
  private static final int ROWS = 1_000;
  private static final String DATABASE = "state_away";

  private static CutLine line;

  @BeforeAll
  static void makeState() {
    Appdb.execute("CREATE DATABASE " + DATABASE);
    line = new CutLine(TestStack.postgres().port());
  }

  @AfterAll
  static void close() {
    line.close();
  }

  private static TestPipeline pipeline(String name) throws IOException {
    TestPipeline pipeline = TestPipeline.create(name, ROWS);
    PostgresServer server = TestStack.postgres();
    String text = Files.readString(pipeline.configuration());
    Path file = pipeline.configuration();
    Files.writeString(
        file,
        text.replace(
                "state: appdb",
                """
              statedb:
                host: 127.0.0.1
                port: %d
                database: %s
                user: %s
                password: "${file:%s}"
                sslmode: disable
                connect_timeout: PT2S
            state: statedb"""
                    .formatted(line.port(), DATABASE, PostgresServer.USER, server.passwordFile()))
            .replaceAll("wal_dir: .*", "wal_dir: " + file.resolveSibling("control_wal")));
    return pipeline;
  }

  private static List<String> state(String sql) {
    PostgresServer server = TestStack.postgres();
    try (Connection connection =
            DriverManager.getConnection(
                "jdbc:postgresql://127.0.0.1:%d/%s".formatted(server.port(), DATABASE),
                PostgresServer.USER,
                server.password());
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      Stream.Builder<String> values = Stream.builder();
      while (row.next()) {
        values.add(row.getString(1));
      }
      return values.build().toList();
    } catch (SQLException exception) {
      throw new IllegalStateException(sql, exception);
    }
  }

  @Test
  void aRunThatHasNotBegunFailsWithinAMinuteAndSaysWhy() throws IOException {
    TestPipeline pipeline = pipeline("state-before");
    line.mend();
    try (WorkerProcess worker = pipeline.worker("")) {
      line.cut();
      WorkflowStub run = pipeline.start("first");

      ApplicationFailure failure = TestTemporal.failure(run);

      assertThat(failure.getType()).isEqualTo("POSTGRES_UNAVAILABLE");
      assertThat(failure.getOriginalMessage()).contains("statedb", DATABASE);
      WorkflowExecutionInfo info =
          TestTemporal.describe(pipeline.workflowId("first")).getWorkflowExecutionInfo();
      assertThat(Timestamps.between(info.getStartTime(), info.getCloseTime()).getSeconds())
          .isLessThan(60);
      assertThat(pipeline.objects()).isEmpty();
      assertThat(worker.errors()).isEmpty();
    } finally {
      line.mend();
    }
  }

  @Test
  void whatIsBegunGoesOnAndTheProjectionIsCompleteAfterwards() throws IOException {
    TestPipeline pipeline = pipeline("state-middle");
    line.mend();
    try (WorkerProcess worker = pipeline.worker("")) {
      WorkflowStub run;
      try (TestPipeline.Gate gate = pipeline.shutGate()) {
        run = pipeline.start("first", List.of(pipeline.gatedView(), pipeline.table()));
        Await.until("the view is extracted", pipeline::extracts);
        Await.until(
            "the other table is done",
            () ->
                state("SELECT entity FROM control.event WHERE extractor = 'state-middle'")
                    .contains(pipeline.table()));
        line.cut();
        gate.open();
        worker.awaitLog("waiting for the state", Duration.ofMinutes(2));
        assertThat(
                TestTemporal.attempt(
                    pipeline.workflowId("first") + "/" + pipeline.gatedView(), "TableExtract"))
            .as("what was read is not thrown away")
            .isEqualTo(1);
      } finally {
        line.mend();
      }
      JsonNode result = TestTemporal.result(run);

      assertThat(result.at("/status").asText()).isEqualTo("ok");
      Await.until(
          "the run has ended in the projection",
          () ->
              state(
                      "SELECT concat_ws('/', status, stop_reason, n_ok, n_err) FROM control.run WHERE extractor = 'state-middle'")
                  .equals(List.of("ok/clean/2/0")));
      assertThat(
              state(
                  "SELECT entity || ' ' || status || ' ' || rows FROM control.event WHERE extractor = 'state-middle' ORDER BY seq"))
          .containsExactly(pipeline.gatedView() + " ok " + ROWS, pipeline.table() + " ok " + ROWS);
      assertThat(worker.errors()).isEmpty();
    }
    assertThat(pipeline.openUploads()).isEmpty();
  }
}
