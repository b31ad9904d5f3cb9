package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.Appdb;
import dev.millrace.testing.Await;
import dev.millrace.testing.TestRun;
import dev.millrace.testing.TestStack;
import dev.millrace.testing.TestWorker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the control plane shows of runs, on real servers. */
class RecordsIT {
  private static TestWorker worker;
  private static TestWorker hurried;

  @BeforeAll
  static void start() {
    Appdb.execute("CREATE SCHEMA records_it");
    worker = TestWorker.start(text -> text + "business_time_zone: Pacific/Kiritimati\n", Map.of());
    hurried = TestWorker.start(text -> text + "limits: {run_timeout: PT4S}\n", Map.of());
  }

  @AfterAll
  static void close() {
    worker.close();
    hurried.close();
  }

  private static void table(String name, int rows) {
    Appdb.execute(
        """
        CREATE TABLE records_it.%1$s (id INT PRIMARY KEY, updated_at TIMESTAMPTZ NOT NULL);
        INSERT INTO records_it.%1$s
        SELECT id, now() - interval '1 hour' FROM generate_series(1, %2$d) AS id"""
            .formatted(name, rows));
  }

  /** The background thread ships within moments; when the run is shown as ended, all of it is. */
  private static void awaitEnd(String pipeline, int runs) {
    Await.until(
        "%d runs of %s have ended".formatted(runs, pipeline),
        () ->
            Appdb.value(
                    "SELECT count(*) FROM control.run WHERE extractor = '%s' AND finished_at IS NOT NULL"
                        .formatted(pipeline))
                .equals(String.valueOf(runs)));
  }

  private static String run(String pipeline) {
    return Appdb.value(
        """
        SELECT concat_ws('/', mode, status, stop_reason, n_ok, n_err, n_skipped)
        FROM control.run WHERE extractor = '%s' ORDER BY started_at DESC LIMIT 1"""
            .formatted(pipeline));
  }

  @Test
  void aRunIsShownWithEachTableAndLeadsToItsHistory() {
    table("full", 3);
    table("none", 0);
    TestRun run = worker.replicate("rec_ok", "[\"records_it.full\", \"records_it.none\"]");
    JsonNode result = run.result();
    awaitEnd("rec_ok", 1);

    assertThat(run("rec_ok")).isEqualTo("replicate/ok/clean/2/0/0");
    assertThat(
            Appdb.values(
                """
                SELECT concat_ws(' ', seq, entity, status, rows, source_attempts, sink_attempts,
                                 pull_ms >= 0, load_ms >= 0)
                FROM control.event WHERE extractor = 'rec_ok' ORDER BY seq"""))
        .containsExactly("0 records_it.full ok 3 1 1 t t", "1 records_it.none zero_rows 0 1 1 t t");
    assertThat(Appdb.value("SELECT unit FROM control.event WHERE extractor = 'rec_ok' AND seq = 0"))
        .isEqualTo("(, %s]".formatted(result.at("/results/0/high").asText()));
    assertThat(
            Appdb.value(
                "SELECT DISTINCT business_date FROM control.event WHERE extractor = 'rec_ok'"))
        .isEqualTo(LocalDate.now(ZoneId.of("Pacific/Kiritimati")).toString());
    assertThat(
            Appdb.value(
                "SELECT extra -> 'temporal' ->> 'workflow_id' FROM control.run WHERE extractor = 'rec_ok'"))
        .isEqualTo(run.workflowId());
    assertThat(
            Appdb.value(
                "SELECT extra -> 'temporal' ->> 'run_id' FROM control.run WHERE extractor = 'rec_ok'"))
        .isEqualTo(run.describe().getExecution().getRunId());
    assertThat(Appdb.value("SELECT run_id FROM control.run WHERE extractor = 'rec_ok'"))
        .isEqualTo(result.at("/run_id").asText());
    assertThat(
            Appdb.value(
                "SELECT lease_expires_at <= now() FROM control.lease WHERE extractor = 'rec_ok'"))
        .isEqualTo("t");
  }

  @Test
  void someTablesFailedIsPartialAndAllFailedIsFailed() {
    table("good", 2);
    worker.replicate("rec_part", "[\"records_it.gone\", \"records_it.good\"]").failure();
    awaitEnd("rec_part", 1);

    assertThat(run("rec_part")).isEqualTo("replicate/partial/error/1/1/0");
    assertThat(
            Appdb.value(
                "SELECT concat_ws(' ', entity, status, rows, business_date IS NULL) || error_detail FROM control.event WHERE extractor = 'rec_part' AND seq = 0"))
        .startsWith("records_it.gone source_error f")
        .contains("TABLE_MISSING: ");

    worker.replicate("rec_fail", "[\"records_it.gone\"]").failure();
    awaitEnd("rec_fail", 1);

    assertThat(run("rec_fail")).isEqualTo("replicate/failed/error/0/1/0");
  }

  @Test
  void theSqlStateOfAFailureIsInItsEvent() {
    Appdb.execute(
        """
        CREATE VIEW records_it.broken AS
        SELECT 1 AS id, now() - interval '1 hour' / (CASE WHEN now() > 'epoch' THEN 0 ELSE 1 END)
          AS updated_at""");
    worker.replicate("rec_state", "[\"records_it.broken\"]").failure();
    awaitEnd("rec_state", 1);

    assertThat(
            Appdb.value(
                "SELECT concat_ws(' ', status, extra ->> 'sqlstate', http_status IS NULL) FROM control.event WHERE extractor = 'rec_state'"))
        .isEqualTo("source_error 22012 t");
  }

  @Test
  void aCancelledRunIsFailedAndItsEventTellsTheCancellation() throws SQLException {
    table("locked", 2);
    try (Connection connection = TestStack.postgres().connect();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("LOCK TABLE records_it.locked IN ACCESS EXCLUSIVE MODE");
      TestRun run = worker.replicate("rec_cancel", "[\"records_it.locked\"]");
      Await.until(
          "the table is at work",
          () ->
              Appdb.value(
                      "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'records_it.locked'::regclass")
                  .equals("1"));
      run.cancel();
      Await.until(
          "it has ended",
          () -> run.describe().getStatus().name().equals("WORKFLOW_EXECUTION_STATUS_CANCELED"));
    }
    awaitEnd("rec_cancel", 1);

    assertThat(run("rec_cancel")).isEqualTo("replicate/failed/error/0/1/0");
    assertThat(
            Appdb.values(
                "SELECT DISTINCT status || ' ' || split_part(error_detail, ':', 1) FROM control.event WHERE extractor = 'rec_cancel'"))
        .containsExactly("error CANCELLED");
  }

  @Test
  void aRunWhoseTimeIsOverIsPartialAndTheNextOneGoesOn() throws SQLException {
    table("first", 2);
    table("slow", 2);
    table("never", 2);
    String tables = "[\"records_it.first\", \"records_it.slow\", \"records_it.never\"]";
    try (Connection connection = TestStack.postgres().connect();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.execute("LOCK TABLE records_it.slow IN ACCESS EXCLUSIVE MODE");
      JsonNode result = hurried.replicate("rec_time", tables, "\"parallel\": 1").result();
      assertThat(result.at("/status").asText()).isEqualTo("partial");
      assertThat(result.at("/summary").asText()).contains("run_timeout");
    }
    awaitEnd("rec_time", 1);

    assertThat(run("rec_time")).isEqualTo("replicate/partial/budget_time/1/0/2");
    assertThat(
            Appdb.values(
                "SELECT entity || ' ' || status FROM control.event WHERE extractor = 'rec_time' ORDER BY seq"))
        .containsExactly("records_it.first ok", "records_it.slow timeout");
    assertThat(
            Appdb.value(
                "SELECT concat_ws(' ', budget_name, limit_val, used >= 4, remaining, hit) FROM control.budget_usage WHERE extractor = 'rec_time'"))
        .isEqualTo("walltime 4 t 0 t");

    hurried.replicate("rec_time", tables).result();
    awaitEnd("rec_time", 2);
    assertThat(run("rec_time")).isEqualTo("replicate/ok/clean/3/0/0");
  }

  @Test
  void aRunThatFailsBeforeItsTurnIsNotShown() {
    worker
        .start(
            "Replicate",
            TestWorker.json(
                "{\"demo_mode\": false, \"pipeline\": \"rec_bad\", \"source\": \"nobody\", \"lake\": \"lake\", \"tables\": [\"a.b\"]}"))
        .failure();

    assertThat(Appdb.values("SELECT run_id FROM control.run WHERE extractor = 'rec_bad'"))
        .isEmpty();
  }

  @Test
  void noSecretIsInHistoryStateOrLog() throws IOException {
    String password = TestStack.postgres().password();
    Appdb.execute(
        """
        CREATE FUNCTION records_it.tell() RETURNS INT LANGUAGE plpgsql AS
        'BEGIN
          RAISE EXCEPTION USING MESSAGE = ''no route to postgresql://app:%1$s@db/app, password=%1$s'',
            ERRCODE = ''42501'';
        END';
        CREATE VIEW records_it.telling AS
        SELECT records_it.tell() AS id, now() - interval '1 hour' AS updated_at"""
            .formatted(password));
    TestRun run = worker.replicate("rec_secret", "[\"records_it.telling\"]");
    run.failure();
    awaitEnd("rec_secret", 1);

    assertThat(
            Appdb.value(
                "SELECT error_detail FROM control.event WHERE extractor = 'rec_secret' AND seq = 0"))
        .contains("NO_PRIVILEGE", "no route to postgresql://***");
    for (String table : List.of("control.event", "control.run", "millrace.table_result")) {
      assertThat(Appdb.values("SELECT row_to_json(r)::text FROM %s AS r".formatted(table)))
          .as(table)
          .noneMatch(row -> row.contains(password));
    }
    assertThat(run.history().toString()).contains("no route").doesNotContain(password);
    assertThat(run.child("records_it.telling").history().toString())
        .contains("no route")
        .doesNotContain(password);
    try (Stream<Path> files = Files.walk(TestStack.stack().walFolder())) {
      List<Path> logs = files.filter(Files::isRegularFile).toList();
      assertThat(logs).isNotEmpty();
      for (Path log : logs) {
        assertThat(Files.readString(log)).as(log.toString()).doesNotContain(password);
      }
    }
  }
}
