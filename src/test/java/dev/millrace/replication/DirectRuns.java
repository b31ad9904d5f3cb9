package dev.millrace.replication;

import dev.millrace.control.Lease;
import dev.millrace.failure.Points;
import dev.millrace.lake.FolderLake;
import dev.millrace.lake.FolderLakeSettings;
import dev.millrace.lake.Lake;
import dev.millrace.parquet.FileFormat;
import dev.millrace.postgres.ColumnRules;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.RowFilter;
import dev.millrace.postgres.TableName;
import dev.millrace.run.Admission;
import dev.millrace.testing.LakeReader;
import dev.millrace.testing.TestActivities;
import dev.millrace.testing.TestPostgres;
import io.temporal.activity.ActivityOptions;
import io.temporal.common.RetryOptions;
import io.temporal.testing.TestActivityEnvironment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * Runs of tables without a Temporal server: the activities of a table in the order of {@link
 * ReplicateTableWorkflow}, on a real Postgres and a folder. For tests that need thousands of runs.
 *
 * <p>Not thread-safe.
 */
public final class DirectRuns implements AutoCloseable {
  private final String database;
  private final Postgres state;
  private final Lake lake;
  private final Path folder;
  private final TestActivityEnvironment environment = TestActivities.environment();
  private final TableActivities activities;
  private final Map<TableName, RowFilter> filters = new HashMap<>();
  private int runs;

  /**
   * Makes the state in a database of {@link TestPostgres}; the tables are there, too.
   *
   * @param folder where objects go
   */
  public DirectRuns(String database, Path folder) {
    this(database, folder, new Postgres(TestPostgres.settings(database)));
  }

  /**
   * The same with tables elsewhere.
   *
   * @param source where the tables are
   */
  public DirectRuns(String database, Path folder, Postgres source) {
    this(database, folder, source, FileFormat.DEFAULT, UnaryOperator.identity());
  }

  /**
   * The same with files of another format, or a lake that fails on purpose.
   *
   * @param source where the tables are
   * @param spoiling makes it of the folder
   */
  public DirectRuns(
      String database,
      Path folder,
      Postgres source,
      FileFormat format,
      UnaryOperator<Lake> spoiling) {
    this.database = database;
    this.folder = folder;
    this.state = new Postgres(TestPostgres.settings(database));
    this.lake = spoiling.apply(new FolderLake(new FolderLakeSettings("lake", folder, "")));
    ReplicationSettings settings =
        new ReplicationSettings(
            state,
            state,
            Map.of("source", source),
            Map.of("source", filters),
            Map.of("lake", lake),
            Map.of("lake", format),
            lake,
            Optional.empty(),
            true,
            admission(),
            Points.parse(null, false));
    settings.prepareState();
    environment.registerActivitiesImplementations(new TableSteps(settings));
    this.activities =
        environment.newActivityStub(
            TableActivities.class,
            ActivityOptions.newBuilder()
                .setStartToCloseTimeout(Duration.ofMinutes(5))
                .setRetryOptions(RetryOptions.newBuilder().setMaximumAttempts(1).build())
                .build());
  }

  private static Admission admission() {
    return new Admission(1, 3600, false, 0, null);
  }

  /** Sets the row filter of a table, as a worker with another configuration would. */
  public void filter(String table, RowFilter.Condition... conditions) {
    filters.put(TableName.parse(table), new RowFilter(List.of(conditions)));
  }

  /** What a run reads; the rest is as an input leaves it, but for the lag, which is zero. */
  public record Asked(
      String pipeline,
      TableName table,
      String key,
      String lookBack,
      long keys,
      long windowRows,
      int connections,
      String longTransaction,
      ColumnRules rules) {
    public static Asked of(String pipeline, String table, String key) {
      return new Asked(
          pipeline,
          TableName.parse(table),
          key,
          "PT24H",
          1_000_000,
          10_000_000,
          2,
          "PT1H",
          ColumnRules.DEFAULT);
    }

    public Asked lookingBack(String time, long numbers) {
      return new Asked(
          pipeline, table, key, time, numbers, windowRows, connections, longTransaction, rules);
    }

    public Asked cutAt(long rows) {
      return new Asked(
          pipeline, table, key, lookBack, keys, rows, connections, longTransaction, rules);
    }

    public Asked over(int most) {
      return new Asked(
          pipeline, table, key, lookBack, keys, windowRows, most, longTransaction, rules);
    }

    public Asked noticing(String age) {
      return new Asked(pipeline, table, key, lookBack, keys, windowRows, connections, age, rules);
    }

    public Asked under(ColumnRules others) {
      return new Asked(
          pipeline, table, key, lookBack, keys, windowRows, connections, longTransaction, others);
    }
  }

  /** What a run did. */
  public record Run(List<Extracted> extracted, TableResult result) {}

  /** Copies a table once. */
  public Run run(Asked asked) {
    return run(asked, () -> {});
  }

  /**
   * Copies a table once.
   *
   * @param afterPrepare done between {@code prepare} and {@code extract}
   */
  public Run run(Asked asked, Runnable afterPrepare) {
    Instant instant = Instant.now();
    String runId = "run-" + ++runs;
    begin(asked.pipeline(), runId);
    TableTask task = task(asked, instant, runId);
    Prepared prepared = activities.prepare(task);
    List<Extracted> all = new ArrayList<>();
    if (prepared.window().empty()) {
      return new Run(all, activities.write(task, prepared, null, 0, false).result());
    }
    afterPrepare.run();
    CopiedTable copied = CopiedTable.NOTHING;
    while (true) {
      Extracted extracted = activities.extract(task, prepared);
      extracted.audit(asked.table().toString());
      all.add(extracted);
      copied =
          copied.with(
              activities.write(
                  task, prepared, extracted, copied.rows() + extracted.rowsEncoded(), false),
              extracted,
              0,
              0,
              0);
      if (!extracted.more()) {
        return new Run(all, copied.result());
      }
      prepared = prepared.after(extracted);
    }
  }

  private void begin(String pipeline, String runId) {
    state.transact(
        connection -> {
          try (Statement statement = connection.createStatement()) {
            statement.execute(
                "DELETE FROM control.lease WHERE extractor = '%1$s'; DELETE FROM millrace.queue WHERE pipeline = '%1$s'"
                    .formatted(pipeline));
            statement.execute(
                "INSERT INTO millrace.queue VALUES ('%s', '%s', 'direct', now(), now(), now())"
                    .formatted(runId, pipeline));
          }
          return Lease.acquire(connection, pipeline, runId, Duration.ofHours(1));
        });
  }

  private static TableTask task(Asked asked, Instant instant, String runId) {
    return new TableTask(
        asked.pipeline(),
        runId,
        0,
        instant.toString(),
        false,
        "source",
        "lake",
        new TableRequest(asked.table(), asked.key(), List.of(), List.of(), asked.rules(), Map.of()),
        "PT0S",
        asked.lookBack(),
        asked.keys(),
        asked.windowRows(),
        asked.connections(),
        asked.longTransaction(),
        "UTC",
        NullKeys.REFUSE,
        5,
        false,
        admission());
  }

  /** Returns the objects of a table, in the order of their names. */
  public List<Path> objects(String table) {
    Path tableFolder = folder.resolve(table.replace('.', '/'));
    if (!Files.exists(tableFolder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(tableFolder)) {
      return files.filter(file -> file.toString().endsWith(".parquet")).sorted().toList();
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Returns a column's values of all rows of all objects of a table, sorted. */
  public List<String> values(String table, String column) {
    List<String> values = new ArrayList<>();
    for (Path object : objects(table)) {
      LakeReader.rows(object).forEach(row -> values.add(row.get(column)));
    }
    Collections.sort(values);
    return values;
  }

  /** Returns the ways out of {@code SOURCE_CHANGED} over the same state and lake. */
  StateByHand byHand() {
    return new StateByHand(state, List.of(lake));
  }

  /** Opens a session of the superuser in the database, in autocommit mode. */
  public Connection session() {
    try {
      return TestPostgres.server().getDatabase("postgres", database).getConnection();
    } catch (SQLException exception) {
      throw new IllegalStateException(exception);
    }
  }

  /** Returns where the state is. */
  public Postgres state() {
    return state;
  }

  /** Returns the folder as a lake. */
  public Lake lake() {
    return lake;
  }

  /** Returns the first column of the first row. */
  public String value(String sql) {
    return TestPostgres.query(database, sql);
  }

  /** Runs statements. */
  public void execute(String sql) {
    TestPostgres.execute(database, sql);
  }

  @Override
  public void close() {
    environment.close();
    lake.close();
    state.close();
  }
}
