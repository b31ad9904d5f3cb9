package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.ByteString;
import dev.millrace.testing.Appdb;
import dev.millrace.testing.Await;
import dev.millrace.testing.LakeReader;
import dev.millrace.testing.TestRun;
import dev.millrace.testing.TestStack;
import dev.millrace.testing.TestWorker;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.common.converter.RawValue;
import io.temporal.failure.ApplicationFailure;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** How runs and tables fail, on real servers. */
class FailureIT {
  private static final String LAKE = "raw/postgres/failure_it/";
  private static final String READER_PASSWORD = "reader-password";

  private static TestWorker worker;
  private static TestWorker strict;

  @BeforeAll
  static void start() {
    Appdb.execute(
        """
        CREATE SCHEMA failure_it;
        CREATE ROLE failure_reader LOGIN PASSWORD '%s';
        GRANT USAGE ON SCHEMA failure_it TO failure_reader"""
            .formatted(READER_PASSWORD));
    worker =
        TestWorker.start(
            FailureIT::withReaderAndSecondPrefix, Map.of("READER_PASSWORD", READER_PASSWORD));
    strict =
        TestWorker.start(
            text -> text.replace("allow_demo: true", "allow_demo: false"),
            Map.of("MILLRACE_POINTS", "extract.audit=mismatch"));
  }

  @AfterAll
  static void close() {
    worker.close();
    strict.close();
  }

  private static String withReaderAndSecondPrefix(String text) {
    String lake = text.substring(text.indexOf("  lake:\n"), text.indexOf("control:"));
    String elsewhere = lake.replace("  lake:", "  elsewhere:").replace("raw/postgres/", "other/");
    String reader =
        """
          reader:
            host: %s
            port: %d
            database: appdb
            user: failure_reader
            password: "${env:READER_PASSWORD}"
            sslmode: disable
        """
            .formatted(TestStack.postgres().host(), TestStack.postgres().port());
    return text.replace(lake, lake + elsewhere).replace("  appdb:\n", reader + "  appdb:\n");
  }

  private static String real(String fields) {
    return "{\"demo_mode\": false, \"pipeline\": \"fit_bad\", \"source\": \"appdb\", \"lake\": \"lake\", "
        + fields
        + "}";
  }

  private static RawValue raw(String encoding, String data) {
    return new RawValue(
        Payload.newBuilder()
            .putMetadata("encoding", ByteString.copyFromUtf8(encoding))
            .setData(ByteString.copyFromUtf8(data))
            .build());
  }

  @Test
  void badInputFailsTheRunAtOnceAndNamesTheThing() {
    Map<String, TestRun> runs = new LinkedHashMap<>();
    Map<String, String> inputs = new LinkedHashMap<>();
    inputs.put("did you mean spike_factor", real("\"spike_facter\": 3"));
    inputs.put("spike_factor must be a whole number, not \"5\"", real("\"spike_factor\": \"5\""));
    inputs.put("spike_factor is 1", real("\"spike_factor\": 1"));
    inputs.put("notify_slack must be true or false, not null", real("\"notify_slack\": null"));
    inputs.put("'customers' is not a table name", real("\"tables\": [\"customers\"]"));
    inputs.put("'public.*' has a wildcard", real("\"tables\": [\"public.*\"]"));
    inputs.put("tables is empty", real("\"tables\": []"));
    inputs.put("tables names a.b twice", real("\"tables\": [\"a.b\", \"A.B\"]"));
    inputs.put("tables[0] has no field 'tabel'", real("\"tables\": [{\"tabel\": \"a.b\"}]"));
    inputs.put("lag 'a minute'", real("\"lag\": \"a minute\""));
    inputs.put("key_time_zone 'Mars'", real("\"key_time_zone\": \"Mars\""));
    inputs.put("null_keys 'drop'", real("\"null_keys\": \"drop\""));
    inputs.put("parallel is 0", real("\"parallel\": 0"));
    inputs.put(
        "source is missing", "{\"demo_mode\": false, \"pipeline\": \"x\", \"lake\": \"lake\"}");
    inputs.put("without demo_mode", "{\"tables\": [\"a.b\"]}");
    inputs.put("pipeline", "{\"demo_mode\": true, \"pipeline\": \"Not A Name\"}");
    inputs.put("the input is not a JSON object", "[1]");
    inputs.forEach(
        (text, json) -> runs.put(text, worker.start("Replicate", TestWorker.json(json))));
    runs.put("the workflow has no input", worker.start("Replicate"));
    runs.put(
        "more than one argument",
        worker.start("Replicate", TestWorker.json("{}"), TestWorker.json("{}")));
    runs.put("not valid JSON", worker.start("Replicate", raw("json/plain", "{\"demo_mode\": tru")));
    runs.put(
        "Duplicate field", worker.start("Replicate", raw("json/plain", "{\"lag\":1,\"lag\":1}")));
    runs.put("the input is binary/plain", worker.start("Replicate", raw("binary/plain", "{}")));
    runs.put("the input is binary/null", worker.start("Replicate", (Object) null));

    runs.forEach(
        (text, run) -> {
          ApplicationFailure failure = run.failure();
          assertThat(failure.getType()).as(text).isEqualTo("BAD_INPUT");
          assertThat(failure.getOriginalMessage()).contains(text);
          assertThat(failure.isNonRetryable()).isTrue();
          assertThat(run.describe().getStatus())
              .isEqualTo(WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_FAILED);
          assertThat(run.history())
              .extracting(event -> event.getEventType())
              .containsExactly(
                  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
                  EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
                  EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED,
                  EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
                  EventType.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED);
        });
  }

  @Test
  void whatTheConfigurationDoesNotAllowFailsTheRunAtOnce() {
    TestRun source = worker.replicate("fit_conf", "[\"failure_it.t\"]", "\"source\": \"appdbb\"");
    TestRun lake = worker.replicate("fit_conf", "[\"failure_it.t\"]", "\"lake\": \"sea\"");
    TestRun slack = worker.replicate("fit_conf", "[\"failure_it.t\"]", "\"notify_slack\": true");
    TestRun demo = strict.start("Replicate", TestWorker.json("{}"));

    assertThat(source.failure().getType()).isEqualTo("UNKNOWN_CONNECTION");
    assertThat(source.failure().getOriginalMessage())
        .contains("source 'appdbb'", "postgres has appdb, reader");
    assertThat(lake.failure().getType()).isEqualTo("UNKNOWN_CONNECTION");
    assertThat(lake.failure().getOriginalMessage()).contains("lake 'sea'", "elsewhere, lake");
    assertThat(slack.failure().getType()).isEqualTo("SLACK_NOT_CONFIGURED");
    assertThat(slack.failure().getOriginalMessage()).contains("slack.webhook");
    assertThat(demo.failure().getType()).isEqualTo("DEMO_REFUSED");
    for (TestRun run : List.of(source, lake, slack, demo)) {
      assertThat(run.history(EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED)).isEmpty();
      assertThat(run.history(EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED)).hasSize(1);
    }
  }

  @Test
  void aTableThatCannotBeCopiedFailsAtOnceAndTheOthersGoOn() {
    Appdb.execute(
        """
        CREATE TABLE failure_it.good (id int PRIMARY KEY, updated_at timestamptz NOT NULL DEFAULT now());
        CREATE TABLE failure_it.no_key (id int PRIMARY KEY, updated timestamptz);
        CREATE TABLE failure_it.date_key (id int PRIMARY KEY, updated_at date);
        CREATE TABLE failure_it.text_key (id int PRIMARY KEY, updated_at text);
        CREATE TABLE failure_it.secret (id int PRIMARY KEY, updated_at timestamptz NOT NULL);
        CREATE TABLE failure_it.hidden (id int PRIMARY KEY, updated_at timestamptz NOT NULL);
        CREATE TABLE failure_it.infinite
          (id int PRIMARY KEY, valid_until timestamptz, updated_at timestamptz NOT NULL DEFAULT now());
        CREATE TABLE failure_it.nan
          (id int PRIMARY KEY, price numeric(10,2), updated_at timestamptz NOT NULL DEFAULT now());
        INSERT INTO failure_it.good SELECT i FROM generate_series(1, 5) AS i;
        INSERT INTO failure_it.infinite VALUES (1, now()), (2, 'infinity');
        INSERT INTO failure_it.nan VALUES (1, 1), (2, 'NaN');
        GRANT SELECT ON ALL TABLES IN SCHEMA failure_it TO failure_reader;
        REVOKE SELECT ON failure_it.secret FROM failure_reader;
        ALTER TABLE failure_it.hidden ENABLE ROW LEVEL SECURITY""");
    List<String> tables =
        List.of(
            "missing",
            "no_key",
            "date_key",
            "text_key",
            "secret",
            "hidden",
            "infinite",
            "nan",
            "good");
    TestRun run =
        worker.replicate(
            "fit_tables",
            "[\"failure_it." + String.join("\", \"failure_it.", tables) + "\"]",
            "\"source\": \"reader\"");
    ApplicationFailure failure = run.failure();

    assertThat(failure.getType()).isEqualTo("TABLES_FAILED");
    RunResult result = failure.getDetails().get(RunResult.class);
    assertThat(result.status()).isEqualTo("partial");
    assertThat(result.results()).extracting(TableResult::table).containsExactly("failure_it.good");
    assertThat(result.results().get(0).rows()).isEqualTo(5);
    Map<String, String> codes = new LinkedHashMap<>();
    result.failures().forEach(table -> codes.put(table.table(), table.code()));
    assertThat(codes)
        .containsExactly(
            Map.entry("failure_it.missing", "TABLE_MISSING"),
            Map.entry("failure_it.no_key", "KEY_MISSING"),
            Map.entry("failure_it.date_key", "KEY_TYPE_UNSUPPORTED"),
            Map.entry("failure_it.text_key", "KEY_TYPE_UNSUPPORTED"),
            Map.entry("failure_it.secret", "NO_PRIVILEGE"),
            Map.entry("failure_it.hidden", "ROWS_HIDDEN"),
            Map.entry("failure_it.infinite", "VALUE_OUT_OF_RANGE"),
            Map.entry("failure_it.nan", "VALUE_OUT_OF_RANGE"));
    result
        .failures()
        .forEach(
            table -> {
              assertThat(table.message()).contains(table.table().substring("failure_it.".length()));
              assertThat(failure.getOriginalMessage())
                  .contains(table.table() + " " + table.code() + ": ");
            });
    assertThat(message(result, "infinite")).contains("valid_until", "updated_at");
    assertThat(message(result, "nan")).contains("price", "updated_at");
    assertThat(message(result, "date_key")).contains("date");
    assertThat(LakeReader.openUploads(LAKE)).isEmpty();
    for (String table : tables.subList(0, tables.size() - 1)) {
      assertThat(LakeReader.objects(LAKE + table + "/")).isEmpty();
      assertThat(
              run.child("failure_it." + table).history(EventType.EVENT_TYPE_ACTIVITY_TASK_STARTED))
          .allSatisfy(
              event ->
                  assertThat(event.getActivityTaskStartedEventAttributes().getAttempt())
                      .isEqualTo(1))
          .hasSizeBetween(1, 2);
    }
    assertThat(
            Appdb.values("SELECT table_name FROM millrace.watermark WHERE pipeline = 'fit_tables'"))
        .containsExactly("good");
    assertThat(Appdb.values("SELECT 1 FROM millrace.reservation WHERE pipeline = 'fit_tables'"))
        .isEmpty();
  }

  private static String message(RunResult result, String table) {
    return result.failures().stream()
        .filter(failure -> failure.table().equals("failure_it." + table))
        .findFirst()
        .orElseThrow()
        .message();
  }

  @Test
  void aTableThatWasAwayCatchesUpWhenItIsBack() {
    Appdb.execute(
        """
        CREATE TABLE failure_it.stays (id int PRIMARY KEY, updated_at timestamptz NOT NULL);
        CREATE TABLE failure_it.goes (id int PRIMARY KEY, updated_at timestamptz NOT NULL);
        INSERT INTO failure_it.stays VALUES (1, now());
        INSERT INTO failure_it.goes VALUES (1, now())""");
    String tables = "[\"failure_it.goes\", \"failure_it.stays\"]";
    worker.replicate("fit_away", tables).result();
    Appdb.execute(
        """
        ALTER TABLE failure_it.goes RENAME TO gone;
        INSERT INTO failure_it.gone VALUES (2, clock_timestamp());
        INSERT INTO failure_it.stays VALUES (2, clock_timestamp())""");

    ApplicationFailure failure = worker.replicate("fit_away", tables).failure();
    assertThat(failure.getOriginalMessage()).contains("failure_it.goes TABLE_MISSING");
    assertThat(failure.getDetails().get(RunResult.class).rows()).isEqualTo(1);

    Appdb.execute("ALTER TABLE failure_it.gone RENAME TO goes");
    assertThat(worker.replicate("fit_away", tables).result().get("rows").longValue()).isEqualTo(1);
    for (String table : List.of("goes", "stays")) {
      assertThat(LakeReader.rowsUnder(LAKE + table + "/"))
          .extracting(row -> row.get("id"))
          .containsExactlyInAnyOrder("1", "2");
    }
  }

  @Test
  void aWatermarkIsNotUsedForAnotherTableLakeKeyOrPipeline() {
    String create =
        """
        CREATE TABLE failure_it.swapped
          (id int PRIMARY KEY, updated_at timestamptz NOT NULL DEFAULT now(), other_at timestamptz);
        INSERT INTO failure_it.swapped VALUES (1)""";
    Appdb.execute(create);
    String table = "[\"failure_it.swapped\"]";
    worker.replicate("fit_swap", table).result();

    assertThat(worker.replicate("fit_swap_too", table).failure().getOriginalMessage())
        .contains("FOLDER_TAKEN", "fit_swap ", "fit_swap_too", "/millrace-lake already");
    assertThat(
            worker
                .replicate("fit_swap", table, "\"lake\": \"elsewhere\"")
                .failure()
                .getOriginalMessage())
        .contains("LAKE_CHANGED", "raw/postgres/", "other/", "millrace state accept");
    assertThat(
            worker
                .replicate("fit_swap", table, "\"update_key\": \"other_at\"")
                .failure()
                .getOriginalMessage())
        .contains("SOURCE_CHANGED", "other_at");

    Appdb.execute("DROP TABLE failure_it.swapped; " + create);
    assertThat(worker.replicate("fit_swap", table).failure().getOriginalMessage())
        .contains(
            "SOURCE_CHANGED",
            "millrace state reset --pipeline fit_swap --table 'failure_it.swapped'");
    assertThat(LakeReader.objects(LAKE + "swapped/")).hasSize(1);
  }

  @Test
  void aMiscountedFileIsNotPublished() {
    Appdb.execute(
        """
        CREATE TABLE failure_it.audited (id int PRIMARY KEY, updated_at timestamptz NOT NULL);
        INSERT INTO failure_it.audited VALUES (1, now())""");
    assertThat(strict.replicate("fit_audit", "[\"failure_it.audited\"]").failure())
        .extracting(ApplicationFailure::getOriginalMessage)
        .asString()
        .contains("AUDIT_FAILED", "failure_it.audited: Postgres sent 1 rows, 2 were encoded");
    assertThat(LakeReader.objects(LAKE + "audited/")).isEmpty();
    assertThat(LakeReader.openUploads(LAKE + "audited/")).isEmpty();
    assertThat(
            Appdb.values(
                """
                SELECT object_key FROM millrace.reservation WHERE pipeline = 'fit_audit'
                UNION ALL SELECT object_key FROM millrace.intent WHERE pipeline = 'fit_audit'
                UNION ALL SELECT value FROM millrace.watermark WHERE pipeline = 'fit_audit'"""))
        .isEmpty();

    JsonNode next = strict.replicate("fit_audit", "[\"failure_it.audited\"]").onlyTable();
    assertThat(next.get("rows").longValue()).isEqualTo(1);
  }

  @Test
  void aCancelledRunCancelsItsTablesAndLeavesNothing() {
    // More than a row group, so that an upload is open; then the last of the rows waits.
    Appdb.execute(
        """
        CREATE FUNCTION failure_it.gate(i int) RETURNS int LANGUAGE plpgsql STABLE AS $$
        BEGIN
          WHILE i = 150000 AND EXISTS (SELECT FROM failure_it.closed) LOOP
            PERFORM pg_sleep(0.05);
          END LOOP;
          RETURN i;
        END $$;
        CREATE TABLE failure_it.closed (i int);
        INSERT INTO failure_it.closed VALUES (1);
        CREATE TABLE failure_it.many (id int, updated_at timestamptz NOT NULL);
        INSERT INTO failure_it.many SELECT i, now() FROM generate_series(1, 150000) AS i;
        CREATE VIEW failure_it.gated AS
          SELECT id, updated_at,
                 sha512(int4send(id)) || sha512(int4send(-id)) || sha512(int4send(id + 1000000))
                   || sha512(int4send(id + 2000000)) AS noise, failure_it.gate(id) AS gate FROM failure_it.many;
        CREATE TABLE failure_it.later (id int, updated_at timestamptz NOT NULL)""");
    TestRun run =
        worker.replicate(
            "fit_cancel", "[\"failure_it.gated\", \"failure_it.later\"]", "\"parallel\": 1");
    Await.until("an upload is open", () -> !LakeReader.openUploads(LAKE + "gated/").isEmpty());

    run.cancel();

    assertThat(run.end()).isEqualTo(WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_CANCELED);
    assertThat(run.child("failure_it.gated").describe().getStatus())
        .isEqualTo(WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_CANCELED);
    assertThat(run.history(EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED)).hasSize(1);
    assertThat(LakeReader.openUploads(LAKE + "gated/")).isEmpty();
    assertThat(LakeReader.objects(LAKE + "gated/")).isEmpty();
    assertThat(
            Appdb.values(
                """
                SELECT object_key FROM millrace.reservation WHERE pipeline = 'fit_cancel'
                UNION ALL SELECT run_id FROM millrace.queue WHERE pipeline = 'fit_cancel'
                UNION ALL SELECT run_id FROM control.lease
                  WHERE extractor = 'fit_cancel' AND lease_expires_at > now()"""))
        .isEmpty();

    Appdb.execute("DELETE FROM failure_it.closed");
    List<String> rows = new ArrayList<>();
    worker
        .replicate("fit_cancel", "[\"failure_it.gated\", \"failure_it.later\"]")
        .result()
        .get("results")
        .forEach(table -> rows.add(table.get("table").textValue() + " " + table.get("rows")));
    assertThat(rows).containsExactly("failure_it.gated 150000", "failure_it.later 0");
  }

  @Test
  void theChildWorkflowIsNotStartedByHand() {
    TestRun run = worker.start("ReplicateTable", TestWorker.json("{}"));
    assertThat(run.failure().getType()).isEqualTo("BAD_INPUT");
    assertThat(run.failure().getOriginalMessage()).contains("started by Replicate only");
    assertThat(run.history(EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED)).isEmpty();
  }
}
