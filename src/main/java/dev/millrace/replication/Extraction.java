package dev.millrace.replication;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.StagedObject;
import dev.millrace.parquet.FileColumn;
import dev.millrace.parquet.ParquetSummary;
import dev.millrace.parquet.ParquetTable;
import dev.millrace.postgres.Column;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.TableFiles;
import dev.millrace.run.Heartbeat;
import dev.millrace.run.State;
import io.temporal.activity.Activity;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One attempt to read a window, or its next part, into a staged object; {@code docs/extraction.md}
 * follows a field through it. Not thread-safe.
 */
final class Extraction {
  private final ReplicationSettings settings;
  private final TableTask task;
  private final Prepared prepared;
  private final Before before;
  private final Staging staging;
  private final Heartbeat heartbeat;
  private final Progress progress;

  /**
   * Makes an attempt.
   *
   * @param before what was published before
   * @param staging where the object goes
   * @param heartbeat ends the work with the attempt
   * @param progress is told how far it is
   */
  Extraction(
      ReplicationSettings settings,
      TableTask task,
      Prepared prepared,
      Before before,
      Staging staging,
      Heartbeat heartbeat,
      Progress progress) {
    this.settings = settings;
    this.task = task;
    this.prepared = prepared;
    this.before = before;
    this.staging = staging;
    this.heartbeat = heartbeat;
    this.progress = progress;
  }

  /**
   * What was published before.
   *
   * @param reading the last reading; null for none
   * @param object the key of the last object; null for none
   */
  record Before(Reading reading, String object) {
    static Before of(State state, TableKey key, Prepared prepared) {
      return state.transact(
          connection ->
              new Before(
                  prepared.reading() == null
                      ? null
                      : ReplicationState.reading(connection, prepared.reading()).orElse(null),
                  ReplicationState.lastObject(connection, key).orElse(null)));
    }
  }

  /**
   * Reads and stages the rows.
   *
   * @param connection in a transaction of one snapshot
   * @throws MillraceException with {@code VALUE_OUT_OF_RANGE}, {@code TABLE_REWRITTEN} or {@code
   *     ATTEMPT_OVERTAKEN}, and as {@link Postgres#read}
   */
  Extracted run(Connection connection) throws SQLException {
    SourceTable table = SourceTable.of(connection, task, settings.filter(task));
    WindowPlan plan =
        WindowPlan.of(connection, task, prepared, table, before.reading(), staging.attempt());
    settings.points().pass("extract.planned");
    Copied copied = plan.selects().isEmpty() ? Copied.NOTHING : copy(connection, plan, table);
    if (plan.reading() != null) {
      staging.keep(plan.reading(), copied.staged() == null ? null : manifest(plan, table, copied));
    }
    boolean miscounted = copied.staged() != null && settings.points().mismatch("extract.audit");
    return new Extracted(
        copied.staged(),
        copied.rows(),
        copied.file().rowsEncoded() + (miscounted ? 1 : 0),
        copied.file().rowsInFooter(),
        plan.window(),
        plan.more(),
        plan.reading() == null ? null : staging.attempt(),
        plan.warnings(),
        plan.longTransaction(),
        Activity.getExecutionContext().getInfo().getAttempt(),
        ReplacedCounts.few(copied.file().replaced()));
  }

  /**
   * Rows that were copied.
   *
   * @param staged the object; null when there were none
   * @param rows in COPY's command tag
   * @param file what was written
   */
  private record Copied(StagedObject staged, long rows, ParquetSummary file) {
    private static final Copied NOTHING =
        new Copied(null, 0, new ParquetSummary(0, 0, 0, List.of()));
  }

  private Copied copy(Connection connection, WindowPlan plan, SourceTable table)
      throws SQLException {
    Sink sink = new Sink(staging);
    try (ParquetTable file =
        new ParquetTable(
            table.columns(),
            table.keyPosition(),
            metadata(plan.window(), table),
            settings.format(task),
            sink,
            plan.withIds() ? plan.reading().seen()::add : null)) {
      sink.file = file;
      progress.of(file, staging);
      long rows =
          new SharedRead(settings.source(task), file, plan.selects(), () -> look(file))
              .run(connection, task.connections());
      requireSameFiles(connection, table, plan);
      if (rows == 0 && file.rows() == 0) {
        return Copied.NOTHING;
      }
      ParquetSummary summary = file.finish();
      StagedObject staged = staging.finish(heartbeat::confirm);
      settings.points().pass("extract.end");
      return new Copied(staged, rows, summary);
    }
  }

  private void look(ParquetTable file) {
    heartbeat.check();
    if (file.rows() > 0) {
      settings.points().pass("extract.middle");
    }
  }

  /**
   * A rewrite, a truncation or an attached partition that came between the snapshot and the read
   * shows the snapshot rows that it knows nothing of, or hides some. The locks of the read keep
   * later ones away until here.
   */
  private static void requireSameFiles(Connection connection, SourceTable table, WindowPlan plan)
      throws SQLException {
    if (plan.files() == null) {
      return;
    }
    TableFiles now = TableFiles.now(connection, table.relation());
    if (!now.nodes().equals(plan.files().nodes())) {
      throw new MillraceException(
          ErrorCode.TABLE_REWRITTEN,
          "%s was rewritten, truncated or got other partitions while it was read (files %s, now %s); it is read again"
              .formatted(table.name(), shortened(plan.files()), shortened(now)));
    }
  }

  private static String shortened(TableFiles files) {
    String text = files.toString();
    return text.length() <= 200 ? text : text.substring(0, 200) + "…";
  }

  /** Holds the file's first bytes back until there is a row: no rows, no object. */
  private static final class Sink implements ParquetTable.Sink {
    private static final int MAGIC = 4;

    private final Staging staging;
    private final ByteBuffer held = ByteBuffer.allocate(MAGIC);
    private ParquetTable file;

    private Sink(Staging staging) {
      this.staging = staging;
    }

    @Override
    public void write(ByteBuffer bytes) {
      if (file == null || file.rows() == 0) {
        held.put(bytes);
        return;
      }
      if (held.position() > 0) {
        staging.write(held.flip());
        held.clear();
      }
      staging.write(bytes);
    }
  }

  private Manifest manifest(WindowPlan plan, SourceTable table, Copied copied) {
    Reading reading = plan.reading();
    return new Manifest(
        Manifest.FORMAT,
        copied.staged().key(),
        before.object(),
        task.pipeline(),
        task.runId(),
        staging.attempt(),
        task.table().name().toString(),
        task.table().updateKey(),
        table.keyKind(),
        task.keyTimeZone(),
        plan.window().low(),
        plan.window().high(),
        plan.lateAbove(),
        plan.wholePartitions(),
        prepared.includeNullKeys(),
        Manifest.conditions(table.filter()),
        reading.snapshot() == null ? null : reading.snapshot().toString(),
        reading.timeline(),
        reading.lookBack(),
        copied.file().rowsInFooter(),
        copied.staged().bytes(),
        staging.checksum(),
        columns(table.columns()),
        copied.file().replaced(),
        Manifest.version());
  }

  private static List<Manifest.CopiedColumn> columns(List<Column> columns) {
    List<FileColumn> inFile = FileColumn.of(columns);
    List<Manifest.CopiedColumn> copied = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      copied.add(
          new Manifest.CopiedColumn(
              columns.get(i).name(), columns.get(i).type().declared(), inFile.get(i).type()));
    }
    return copied;
  }

  private Map<String, String> metadata(Window window, SourceTable table) {
    Map<String, String> metadata = new LinkedHashMap<>();
    metadata.put("millrace.pipeline", task.pipeline());
    metadata.put("millrace.run_id", task.runId());
    metadata.put("millrace.table", task.table().name().toString());
    metadata.put("millrace.update_key", task.table().updateKey());
    metadata.put("millrace.window", window.toString());
    metadata.put("millrace.attempt", staging.attempt());
    metadata.put("millrace.columns", ColumnMetadata.of(table.columns()));
    if (!table.filter().isNone()) {
      metadata.put("millrace.filter", table.filter().text());
    }
    return metadata;
  }
}
