package dev.millrace.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.temporal.api.enums.v1.WorkflowIdConflictPolicy;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * A Postgres table of {@link TestStack} and the ClickHouse table made of it, with a task queue, and
 * so workers, of its own.
 *
 * <p>The source is {@code <schema>.stop (code, name, zone, lat, updated_at)}, the live table {@code
 * analytics.<schema>}. Thread-safe.
 *
 * @param name of the pipeline, the task queue, and, with underscores, the schema
 * @param configuration a file with which a worker runs for it
 */
public record TestDimension(String name, Path configuration) {
  private static final String TASK_QUEUE = "  task_queue: millrace\n";
  private static final Duration BOUND = Duration.ofMinutes(2);

  /**
   * Makes both tables, the source with rows.
   *
   * @param settings more of the configuration, as YAML lines
   */
  public static TestDimension create(String name, int rows, String... settings) {
    TestStack.clickHouse();
    try {
      Path folder = Files.createTempDirectory(TestStack.stack().dataDirectory(), name);
      Path own = folder.resolve("millrace.yaml");
      Files.writeString(
          own,
          Files.readString(TestStack.configuration())
                  .replace(TASK_QUEUE, "  task_queue: %s\n".formatted(name))
              + String.join("\n", settings)
              + "\n");
      TestDimension dimension = new TestDimension(name, own);
      Appdb.execute(
          """
          CREATE SCHEMA %1$s;
          CREATE TABLE %1$s.stop (
              code BIGINT PRIMARY KEY, name TEXT, zone INTEGER NOT NULL,
              lat NUMERIC(9,6), updated_at TIMESTAMPTZ NOT NULL);
          """
              .formatted(dimension.schema()));
      dimension.add(1, rows);
      dimension.makeLive();
      return dimension;
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Returns the source's schema, and the live table's name. */
  public String schema() {
    return name.replace('-', '_');
  }

  /** Returns the live table as SQL has it. */
  public String live() {
    return "analytics." + schema();
  }

  /** Makes the live table, without rows. */
  public void makeLive() {
    ask(createLive());
  }

  /** Returns the statement that makes the live table. */
  public String createLive() {
    return """
        CREATE TABLE %s (
          code Int64, name Nullable(String), zone Int32, lat Nullable(Decimal(9, 6)),
          updated_at DateTime64(6, 'UTC')
        ) ENGINE = MergeTree ORDER BY code
        """
        .formatted(live());
  }

  /** Gives the live table rows of before, which are in no source. */
  public void fillLive(int rows) {
    ask(fill(rows));
  }

  /** Returns the statement that gives the live table rows of before. */
  public String fill(int rows) {
    return "INSERT INTO %s SELECT number + 1, 'old', 1, NULL, toDateTime64('2026-01-01 00:00:00', 6) FROM numbers(%d)"
        .formatted(live(), rows);
  }

  /** Returns how often the live table was exchanged with another. */
  public int swaps() {
    ask("SYSTEM FLUSH LOGS");
    return Integer.parseInt(
        ask("SELECT count() FROM system.query_log WHERE type = 'QueryFinish' AND exception_code = 0 AND query LIKE 'EXCHANGE TABLES `analytics`.`%s` AND %%'"
                .formatted(schema()))
            .strip());
  }

  /** Adds rows to the source. */
  public void add(int first, int last) {
    Appdb.execute(
        """
        INSERT INTO %s.stop
        SELECT i, CASE WHEN i %% 7 > 0 THEN 'stop ' || i END, i %% 100,
          CASE WHEN i %% 3 > 0 THEN i * 1.000001 END, now() - interval '1 hour'
        FROM generate_series(%d, %d) AS i
        """
            .formatted(schema(), first, last));
  }

  /** Deletes the rows of the source after a code. */
  public void deleteAfter(int last) {
    Appdb.execute("DELETE FROM %s.stop WHERE code > %d".formatted(schema(), last));
  }

  /** Changes the rows of the source up to a code. */
  public void change(int last) {
    Appdb.execute(
        "UPDATE %s.stop SET zone = zone + 1, updated_at = now() WHERE code <= %d"
            .formatted(schema(), last));
  }

  /** Returns the source's rows, one line each. */
  public List<String> sourceRows() {
    return Appdb.values(
        """
        SELECT concat_ws(chr(9), code, coalesce(name, '\\N'), zone, coalesce(lat::text, '\\N'),
          (extract(epoch FROM updated_at) * 1000000)::bigint)
        FROM %s.stop ORDER BY code
        """
            .formatted(schema()));
  }

  /** Returns the rows of a ClickHouse table like the live one, one line each. */
  public List<String> rowsOf(String table) {
    return ask(select(table)).lines().toList();
  }

  /** Returns a SELECT of the rows of a table like the live one. */
  public String select(String table) {
    return """
        SELECT code, name, zone, toDecimalString(lat, 6), toUnixTimestamp64Micro(updated_at)
        FROM %s ORDER BY code FORMAT TabSeparated
        """
        .formatted(table);
  }

  /** Returns the live rows, one line each. */
  public List<String> liveRows() {
    return rowsOf(live());
  }

  /** Checks that readers see the source as it is now. */
  public void requireEqual() {
    assertThat(liveRows()).isEqualTo(sourceRows());
  }

  /** Returns the tables of the live table's name and of those beside it. */
  public List<String> tables() {
    return ask("SELECT name FROM system.tables WHERE database = 'analytics' AND startsWith(name, '%s') ORDER BY name"
            .formatted(schema()))
        .lines()
        .toList();
  }

  /** Asks ClickHouse as its admin, over HTTP. */
  public static String ask(String sql) {
    return TestClickHouse.query(TestStack.clickHouse(), sql);
  }

  /** Starts a worker process for it. */
  public WorkerProcess worker(String points) {
    return WorkerProcess.start(configuration, points);
  }

  /**
   * Starts a refresh.
   *
   * @param more further fields of the input as JSON; they win over the given ones
   */
  public WorkflowStub start(String workflowId, String more) {
    WorkflowStub run =
        TestTemporal.client()
            .newUntypedWorkflowStub(
                "RefreshDimension",
                WorkflowOptions.newBuilder()
                    .setTaskQueue(name)
                    .setWorkflowId(name + "-" + workflowId)
                    .setWorkflowIdConflictPolicy(
                        WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_FAIL)
                    .build());
    run.start(input(more));
    return run;
  }

  /** Returns the input of its refreshes. */
  public JsonNode input(String more) {
    return TestWorker.json(
        """
        {"pipeline": "%s", "source": "appdb", "source_schema": "%s", "source_table": "stop",
         "clickhouse": "clickhouse", "target_table": "%s", "pk_column": "code",
         "checksum_column": "zone", "audit": "full"%s}"""
            .formatted(name, schema(), schema(), more.isEmpty() ? "" : ", " + more));
  }

  /** Runs a refresh to its good end, and returns the result. */
  public JsonNode refresh(String workflowId, String more) {
    return TestTemporal.result(start(workflowId, more));
  }

  /** Waits until a refresh asks, and returns its status. */
  public static JsonNode awaitQuestion(WorkflowStub run) {
    Await.until(
        "it asks",
        BOUND,
        () -> status(run).path("state").asText().equals("waiting_approval"),
        () -> status(run).toString());
    return status(run);
  }

  /** Returns what the query {@code status} tells. */
  public static JsonNode status(WorkflowStub run) {
    return run.query("status", JsonNode.class);
  }

  /** Answers a question by the update. */
  public static String decide(WorkflowStub run, boolean approved, String digest) {
    return run.update(
        "decide",
        String.class,
        Map.of("approved", approved, "by", "ann", "reason", "as agreed", "digest", digest));
  }

  /** Returns the steps of a run, as the control plane has them, with their status. */
  public static List<String> events(String runId) {
    return Appdb.values(
        "SELECT unit || ' ' || status FROM control.event WHERE run_id = '%s' ORDER BY seq"
            .formatted(runId));
  }

  /** Returns how a run ended, as the control plane has it; empty while it is not there. */
  public static String end(String runId) {
    return String.join(
        "",
        Appdb.values(
            "SELECT status || '/' || coalesce(stop_reason, '') FROM control.run WHERE run_id = '%s'"
                .formatted(runId)));
  }
}
