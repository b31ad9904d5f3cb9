package dev.millrace.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.replication.ObjectName;
import io.temporal.api.enums.v1.WorkflowIdConflictPolicy;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A pipeline over one table of {@link TestStack} with a task queue, and so workers, of its own.
 *
 * <p>Its table is {@code <schema>.parcel (id, version, note, updated_at)}; view {@code gated} shows
 * the same rows, but lets a reader wait while the {@link Gate} is shut. Thread-safe.
 *
 * @param name of the pipeline, the task queue, and, with underscores, the schema
 * @param configuration a file with which a worker runs for it
 */
public record TestPipeline(String name, Path configuration) {
  private static final String TASK_QUEUE = "  task_queue: millrace\n";

  /**
   * Makes the table and its rows; all of them have the same key.
   *
   * @param settings more of the configuration, as YAML lines
   */
  public static TestPipeline create(String name, int rows, String... settings) {
    try {
      String shared = Files.readString(TestStack.configuration());
      if (!shared.contains(TASK_QUEUE)) {
        throw new IllegalStateException("the stack's configuration has no task queue: " + shared);
      }
      Path folder = Files.createTempDirectory(TestStack.stack().dataDirectory(), name);
      Path own = folder.resolve("millrace.yaml");
      Files.writeString(
          own,
          shared.replace(TASK_QUEUE, "  task_queue: %s\n".formatted(name))
              + String.join("\n", settings)
              + "\n");
      TestPipeline pipeline = new TestPipeline(name, own);
      pipeline.createTable(rows);
      return pipeline;
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  private void createTable(int rows) {
    execute(
        """
        CREATE SCHEMA %1$s;
        CREATE TABLE %1$s.parcel (
            id BIGINT PRIMARY KEY, version INTEGER NOT NULL DEFAULT 1,
            note TEXT, updated_at TIMESTAMPTZ NOT NULL);
        CREATE INDEX ON %1$s.parcel (updated_at);
        INSERT INTO %1$s.parcel (id, note, updated_at)
        SELECT id, 'parcel ' || id, now() - interval '1 hour' FROM generate_series(1, %2$d) AS id;
        CREATE FUNCTION %1$s.gate() RETURNS BOOLEAN STABLE LANGUAGE plpgsql AS
        'BEGIN
          WHILE NOT pg_try_advisory_xact_lock_shared(%3$d) LOOP
            PERFORM pg_sleep(0.05);
          END LOOP;
          RETURN true;
        END';
        CREATE VIEW %1$s.gated AS SELECT *, %1$s.gate() AS gate FROM %1$s.parcel;
        """
            .formatted(schema(), rows, gateKey()));
  }

  /** Returns the schema of its tables. */
  public String schema() {
    return name.replace('-', '_');
  }

  /** Returns the table's name. */
  public String table() {
    return schema() + ".parcel";
  }

  /** Returns the name of the view that waits for the gate. */
  public String gatedView() {
    return schema() + ".gated";
  }

  /** Returns whether a run waits at the gate. */
  public boolean extracts() {
    return !column(
            "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'COPY%%\"%s\".\"gated\"%%'"
                .formatted(schema()))
        .isEmpty();
  }

  private int gateKey() {
    return name.hashCode();
  }

  /** A lock held: while it is, no row of the view is read. Not thread-safe. */
  public static final class Gate implements AutoCloseable {
    private final Connection connection;

    private Gate(Connection connection) {
      this.connection = connection;
    }

    /** Opens the gate; readers go on. */
    public void open() {
      try {
        connection.close();
      } catch (SQLException exception) {
        throw new IllegalStateException(exception);
      }
    }

    @Override
    public void close() {
      open();
    }
  }

  /** Shuts the gate before the view. */
  public Gate shutGate() {
    try {
      Connection connection = TestStack.postgres().connect();
      try (Statement statement = connection.createStatement()) {
        statement.execute("SELECT pg_advisory_lock(%d)".formatted(gateKey()));
      }
      return new Gate(connection);
    } catch (SQLException exception) {
      throw new IllegalStateException(exception);
    }
  }

  /**
   * Starts a worker for this pipeline; the caller closes it.
   *
   * @param points value of {@code MILLRACE_POINTS}; empty for none
   */
  public WorkerProcess worker(String points) {
    return WorkerProcess.start(configuration, points);
  }

  /** Starts a run over the table. */
  public WorkflowStub start(String run) {
    return start(run, List.of(table()));
  }

  /**
   * Starts a run.
   *
   * @param run the workflow's id behind the pipeline's name
   * @param tables what it copies
   */
  public WorkflowStub start(String run, List<?> tables) {
    return start(run, tables, Map.of());
  }

  /**
   * Starts a run.
   *
   * @param more of its input
   */
  public WorkflowStub start(String run, List<?> tables, Map<String, Object> more) {
    WorkflowStub stub =
        TestTemporal.client()
            .newUntypedWorkflowStub(
                "Replicate",
                WorkflowOptions.newBuilder()
                    .setTaskQueue(name)
                    .setWorkflowId(workflowId(run))
                    .setWorkflowIdConflictPolicy(
                        WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_FAIL)
                    .build());
    Map<String, Object> input = input(tables);
    input.putAll(more);
    stub.start(input);
    return stub;
  }

  /** Returns the input of a run over tables. */
  public Map<String, Object> input(List<?> tables) {
    Map<String, Object> input = new LinkedHashMap<>();
    input.put("demo_mode", false);
    input.put("pipeline", name);
    input.put("source", "appdb");
    input.put("lake", "lake");
    input.put("tables", tables);
    input.put("lag", "PT0S");
    return input;
  }

  /** Returns the workflow id of a run. */
  public String workflowId(String run) {
    return name + "-" + run;
  }

  /** Changes a tenth of the rows, adds three, and returns the rows of now that are not old. */
  public List<String> change() {
    List<String> before = rowsInTable();
    execute(
        """
        UPDATE %1$s SET version = version + 1, updated_at = clock_timestamp() WHERE id %% 10 = 0;
        INSERT INTO %1$s (id, updated_at)
        SELECT max(id) + step, clock_timestamp() FROM %1$s, generate_series(1, 3) AS step
        GROUP BY step;
        """
            .formatted(table()));
    List<String> changed = rowsInTable();
    changed.removeAll(before);
    return changed;
  }

  /** Returns {@code id/version} of each row of the table. */
  public List<String> rowsInTable() {
    return column("SELECT id || '/' || version FROM %s ORDER BY id".formatted(table()));
  }

  /** Returns {@code id/version} of each row of each object of this pipeline. */
  public List<String> rowsInLake() {
    return LakeReader.rowsUnder(prefix()).stream()
        .map(row -> row.get("id") + "/" + row.get("version"))
        .toList();
  }

  /** Returns the keys of its objects. */
  public List<String> objects() {
    return LakeReader.objects(prefix());
  }

  /** Returns its objects, each with its tag and the time at which it was written. */
  public List<String> writings() {
    return LakeReader.writings(prefix());
  }

  /** Returns the keys of its open uploads. */
  public List<String> openUploads() {
    return LakeReader.openUploads(prefix());
  }

  private String prefix() {
    return "raw/postgres/" + schema() + "/";
  }

  /** Returns what is reserved or half published, and who waits or is at work. */
  public List<String> leftovers() {
    return column(
        """
        SELECT 'reservation ' || object_key FROM millrace.reservation WHERE pipeline = '%1$s'
        UNION ALL SELECT 'manifest ' || attempt FROM millrace.manifest WHERE pipeline = '%1$s'
        UNION ALL SELECT 'intent ' || object_key FROM millrace.intent WHERE pipeline = '%1$s'
        UNION ALL SELECT 'queue ' || run_id FROM millrace.queue WHERE pipeline = '%1$s'
        """
            .formatted(name));
  }

  /** Returns the watermark of the table, or of the view where that was copied; null for none. */
  public String watermark() {
    List<String> values =
        column("SELECT value FROM millrace.watermark WHERE pipeline = '%s'".formatted(name));
    return values.isEmpty() ? null : values.get(0);
  }

  /**
   * Requires that the lake holds these rows, each once, and that a run has left nothing behind.
   *
   * @param rows {@code id/version} of each row
   * @param result of the run
   */
  public void requireExact(List<String> rows, JsonNode result) {
    assertThat(rowsInLake()).containsExactlyInAnyOrderElementsOf(rows);
    assertThat(LakeReader.manifests(prefix()))
        .as("one manifest beside each object")
        .isEqualTo(objects().stream().map(ObjectName::manifest).toList());
    assertThat(openUploads()).isEmpty();
    assertThat(leftovers()).isEmpty();
    assertThat(result.at("/status").asText()).isEqualTo("ok");
    assertThat(watermark()).isEqualTo(result.at("/results/0/high").asText());
  }

  /** Returns the run that holds the lease now; empty when nobody does. */
  public List<String> leaseHolder() {
    return column(
        "SELECT run_id FROM control.lease WHERE extractor = '%s' AND lease_expires_at > now()"
            .formatted(name));
  }

  /** Runs statements in the state and source database. */
  public void execute(String sql) {
    try (Connection connection = TestStack.postgres().connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException exception) {
      throw new IllegalStateException(sql, exception);
    }
  }

  /** Returns the first column of a query's rows. */
  public List<String> column(String sql) {
    try (Connection connection = TestStack.postgres().connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      List<String> values = new ArrayList<>();
      while (row.next()) {
        values.add(row.getString(1));
      }
      return values;
    } catch (SQLException exception) {
      throw new IllegalStateException(sql, exception);
    }
  }
}
