package dev.millrace.replication;

import dev.millrace.control.RunQueue;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.Lake;
import dev.millrace.lake.StagedObject;
import dev.millrace.parquet.ParquetSummary;
import dev.millrace.parquet.ParquetTable;
import dev.millrace.postgres.Column;
import dev.millrace.postgres.CopyOut;
import dev.millrace.postgres.Identifiers;
import dev.millrace.run.Heartbeat;
import dev.millrace.run.PatientState;
import dev.millrace.run.State;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityExecutionContext;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The activities of a table. Thread-safe. */
public final class TableSteps implements TableActivities {
  private final ReplicationSettings settings;

  /** Makes the activities of a worker. */
  public TableSteps(ReplicationSettings settings) {
    this.settings = settings;
  }

  /**
   * What one look at the source tells.
   *
   * @param table the table
   * @param clock the source's clock
   * @param greatest the greatest number key, as text; null for times and for no rows
   * @param nullKeys rows without a key
   */
  private record Look(SourceTable table, Instant clock, String greatest, long nullKeys) {}

  @Override
  public Prepared prepare(TableTask task) {
    try (Heartbeat heartbeat = beat(() -> "preparing")) {
      Lake lake = settings.lake(task);
      TableKey key = TableKey.of(task);
      State state = new PatientState(settings.state(), heartbeat);
      Publishing publishing = new Publishing(state, lake, settings.points());
      publishing.decide(key, task.runId());
      publishing.discardLeftovers(key, task.runId());
      heartbeat.check();
      Look look = settings.source(task).read(connection -> look(connection, task));
      heartbeat.check();
      TableProgress progress = open(state, task, lake, look.table());
      Prepared prepared = prepared(task, look, progress);
      settings.points().pass("prepare.end");
      return prepared;
    }
  }

  private static SourceTable table(Connection connection, TableTask task) throws SQLException {
    return task.demo() ? DemoTable.of(task.table()) : SourceTable.find(connection, task.table());
  }

  private static Look look(Connection connection, TableTask task) throws SQLException {
    SourceTable table = table(connection, task);
    try (Statement statement = connection.createStatement()) {
      // Postgres itself checks privileges, policies and casts, before a row moves.
      statement.execute(table.select("false"));
      return new Look(
          table,
          clock(statement),
          greatest(statement, table),
          table.key().nullable() ? nullKeys(statement, table) : 0);
    }
  }

  private static Instant clock(Statement statement) throws SQLException {
    try (ResultSet row = statement.executeQuery("SELECT clock_timestamp()")) {
      row.next();
      return row.getObject(1, OffsetDateTime.class).toInstant();
    }
  }

  private static String greatest(Statement statement, SourceTable table) throws SQLException {
    if (table.keyKind() != KeyKind.NUMBER) {
      return null;
    }
    String keys = table.rows().select(List.of(table.key()), null);
    String column = Identifiers.quote(table.key().name());
    try (ResultSet row =
        statement.executeQuery("SELECT max(%s)::text FROM (%s) AS keys".formatted(column, keys))) {
      row.next();
      return row.getString(1);
    }
  }

  private static long nullKeys(Statement statement, SourceTable table) throws SQLException {
    String column = Identifiers.quote(table.key().name());
    String keys = table.rows().select(List.of(table.key()), column + " IS NULL");
    try (ResultSet row =
        statement.executeQuery("SELECT count(*) FROM (%s) AS keys".formatted(keys))) {
      row.next();
      return row.getLong(1);
    }
  }

  private static TableProgress open(State state, TableTask task, Lake lake, SourceTable table) {
    TableKey key = TableKey.of(task);
    TableOrigin origin =
        new TableOrigin(
            table.systemIdentifier(),
            table.database(),
            table.oid(),
            lake.location(),
            lake.prefix());
    return state.transact(
        connection -> {
          RunQueue.check(connection, task.pipeline(), task.runId());
          ReplicationState.claimFolder(
              connection,
              lake.location(),
              ObjectName.folder(lake.prefix(), table.name()),
              task.pipeline());
          return ReplicationState.open(
              connection,
              key,
              SeedKey.watermark(task.demo(), table.name()),
              table.key().name(),
              table.keyKind(),
              origin);
        });
  }

  private static Prepared prepared(TableTask task, Look look, TableProgress progress) {
    boolean initialLoad = progress.watermark() == null;
    boolean include = initialLoad && task.nullKeys() == NullKeys.INCLUDE_ONCE;
    if (look.nullKeys() > 0 && task.nullKeys() == NullKeys.REFUSE) {
      throw new MillraceException(
          ErrorCode.NULL_KEYS,
          "%s has %d rows whose update key %s is NULL, which no window takes; fill them, or say null_keys: exclude or include_once"
              .formatted(look.table().name(), look.nullKeys(), look.table().key().name()));
    }
    return new Prepared(
        new Window(look.table().keyKind(), progress.watermark(), high(task, look)),
        progress.baseline(),
        include ? 0 : look.nullKeys(),
        include && look.nullKeys() > 0,
        warnings(look.table()));
  }

  private static String high(TableTask task, Look look) {
    return switch (look.table().keyKind()) {
      case TIMESTAMPTZ, TIMESTAMP ->
          Window.highOfTime(
              look.table().keyKind(),
              task.runInstant(),
              look.clock(),
              task.lagDuration(),
              task.zone());
      case NUMBER -> look.greatest() == null ? null : number(look);
    };
  }

  private static String number(Look look) {
    try {
      return Watermark.of(new BigDecimal(look.greatest()));
    } catch (NumberFormatException exception) {
      throw new MillraceException(
          ErrorCode.VALUE_OUT_OF_RANGE,
          "%s: the update key %s has the value %s, which ends no window; remove those rows"
              .formatted(look.table().name(), look.table().key().name(), look.greatest()),
          exception);
    }
  }

  private static List<String> warnings(SourceTable table) {
    List<String> warnings = new ArrayList<>();
    String asText =
        table.columns().stream()
            .filter(Column::asText)
            .limit(20)
            .map(column -> "%s (%s)".formatted(column.name(), column.type().declared()))
            .collect(Collectors.joining(", "));
    if (!asText.isEmpty()) {
      warnings.add("copied as text: " + asText);
    }
    if (!table.keyIndexed()) {
      warnings.add(
          "no index starts with the update key %s, so each run reads the whole table"
              .formatted(table.key().name()));
    }
    return warnings;
  }

  @Override
  public Extracted extract(TableTask task, Prepared prepared) {
    Lake lake = settings.lake(task);
    Progress progress = new Progress(Activity.getExecutionContext());
    try (Heartbeat heartbeat = beat(progress::look);
        Staging staging =
            new Staging(
                task, new PatientState(settings.state(), heartbeat), lake, settings.points())) {
      // A killed attempt of this run may have left an upload.
      new Publishing(new PatientState(settings.state(), heartbeat), lake, settings.points())
          .discardLeftovers(TableKey.of(task), task.runId());
      return settings
          .source(task)
          .read(connection -> extract(connection, task, prepared, staging, heartbeat, progress));
    } catch (MillraceException exception) {
      throw naming(task, exception);
    }
  }

  /** The encoder knows the column and the row's key, not the table. */
  private static MillraceException naming(TableTask task, MillraceException exception) {
    if (exception.code() != ErrorCode.VALUE_OUT_OF_RANGE) {
      return exception;
    }
    return new MillraceException(
        exception.code(),
        "%s: %s".formatted(task.table().name(), exception.getMessage()),
        exception);
  }

  private Extracted extract(
      Connection connection,
      TableTask task,
      Prepared prepared,
      Staging staging,
      Heartbeat heartbeat,
      Progress progress)
      throws SQLException {
    String snapshot = snapshot(connection);
    SourceTable table = table(connection, task);
    String select =
        table.select(
            Bounds.condition(
                prepared.window(), table.key().name(), task.zone(), prepared.includeNullKeys()));
    Sink sink = new Sink(staging);
    try (ParquetTable file =
        new ParquetTable(
            table.columns(),
            table.keyPosition(),
            metadata(task, prepared, staging, table),
            settings.format(task),
            sink)) {
      sink.file = file;
      progress.of(file, staging);
      long copied = settings.source(task).copy(connection, select, new Encoding(file, heartbeat));
      if (copied == 0 && file.rows() == 0) {
        return new Extracted(null, 0, 0, 0, snapshot, attempt(), List.of());
      }
      ParquetSummary summary = file.finish();
      StagedObject staged = staging.finish(heartbeat::confirm);
      settings.points().pass("extract.end");
      long miscounted = settings.points().mismatch("extract.audit") ? 1 : 0;
      return new Extracted(
          staged,
          copied,
          summary.rowsEncoded() + miscounted,
          summary.rowsInFooter(),
          snapshot,
          attempt(),
          ReplacedCounts.few(summary.replaced()));
    }
  }

  /** Rows on their way into the file. */
  private final class Encoding implements CopyOut.Rows {
    private final ParquetTable file;
    private final Heartbeat heartbeat;

    private Encoding(ParquetTable file, Heartbeat heartbeat) {
      this.file = file;
      this.heartbeat = heartbeat;
    }

    @Override
    public void accept(byte[] data, int offset, int length) {
      heartbeat.check();
      file.accept(data, offset, length);
      if (file.rows() > 0) {
        settings.points().pass("extract.middle");
      }
    }

    @Override
    public void waiting() {
      heartbeat.check();
    }
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

  private static String snapshot(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_current_snapshot()::text")) {
      row.next();
      return row.getString(1);
    }
  }

  private static Map<String, String> metadata(
      TableTask task, Prepared prepared, Staging staging, SourceTable table) {
    return Map.of(
        "millrace.pipeline", task.pipeline(),
        "millrace.run_id", task.runId(),
        "millrace.table", task.table().name().toString(),
        "millrace.update_key", task.table().updateKey(),
        "millrace.window", prepared.window().toString(),
        "millrace.attempt", staging.attempt(),
        "millrace.columns", ColumnMetadata.of(table.columns()));
  }

  @Override
  public Written write(TableTask task, Prepared prepared, Extracted extracted, boolean spike) {
    try (Heartbeat heartbeat = beat(() -> "writing")) {
      TableKey key = TableKey.of(task);
      Optional<TableResult> done =
          settings
              .state()
              .transact(connection -> ReplicationState.result(connection, key, task.runId()));
      heartbeat.check();
      TableResult result = done.orElseGet(() -> writeNow(task, key, prepared, extracted, spike));
      return new Written(result, attempt());
    }
  }

  private TableResult writeNow(
      TableTask task, TableKey key, Prepared prepared, Extracted extracted, boolean spike) {
    Lake lake = settings.lake(task);
    Window window = prepared.window();
    if (extracted == null) {
      return unmoved(task, key, prepared);
    }
    Intent intent =
        new Intent(
            task.runId(),
            task.position(),
            lake.location(),
            extracted.staged(),
            extracted.rowsEncoded(),
            window.low(),
            window.high(),
            extracted.snapshot(),
            prepared.nullKeys(),
            prepared.baseline(),
            spike,
            extracted.replaced());
    Publishing publishing = publishing(lake);
    return extracted.staged() == null
        ? publishing.commit(key, task.runId(), intent)
        : publishing.publish(key, task.runId(), intent);
  }

  private TableResult unmoved(TableTask task, TableKey key, Prepared prepared) {
    Window window = prepared.window();
    TableResult result =
        new TableResult(
            key.table().toString(),
            window.low(),
            window.low(),
            0,
            0,
            null,
            window.initialLoad(),
            prepared.baseline(),
            false,
            prepared.nullKeys(),
            List.of());
    settings
        .state()
        .transact(
            connection -> {
              ReplicationState.record(connection, key, task.runId(), task.position(), result);
              return null;
            });
    return result;
  }

  @Override
  public void abandon(TableTask task, Extracted extracted) {
    TableKey key = TableKey.of(task);
    StagedObject staged = extracted.staged();
    boolean publishing =
        settings
            .state()
            .transact(connection -> ReplicationState.intent(connection, key))
            .filter(intent -> intent.staged().attempt().equals(staged.attempt()))
            .isPresent();
    if (publishing) {
      // Its write went too far to be taken back here; the next run decides it.
      return;
    }
    settings.lake(task).discard(staged);
    settings
        .state()
        .transact(
            connection -> {
              ReplicationState.unreserve(connection, staged.attempt());
              return null;
            });
  }

  private Publishing publishing(Lake lake) {
    return new Publishing(settings.state()::transact, lake, settings.points());
  }

  private static int attempt() {
    return Activity.getExecutionContext().getInfo().getAttempt();
  }

  private static Heartbeat beat(Supplier<?> details) {
    ActivityExecutionContext context = Activity.getExecutionContext();
    return Heartbeat.start(context, details);
  }
}
