package dev.millrace.replication;

import dev.millrace.control.RunQueue;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.Lake;
import dev.millrace.lake.StagedObject;
import dev.millrace.parquet.FileColumn;
import dev.millrace.parquet.ParquetSummary;
import dev.millrace.parquet.ParquetTable;
import dev.millrace.postgres.Column;
import dev.millrace.postgres.CopyOut;
import dev.millrace.postgres.Identifiers;
import dev.millrace.postgres.TableFiles;
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
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The activities of a table. Thread-safe. */
public final class TableSteps implements TableActivities {
  /** Results hold a sentence, the log all of it. */
  private static final int MOST_WARNING = 1000;

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
      statement.execute(table.select("false", false));
      return new Look(
          table,
          clock(statement),
          greatest(statement, table),
          table.key().nullable() ? nullKeys(statement, table) : 0);
    }
  }

  /** A standby's clock is that of the last commit that it has replayed. */
  private static Instant clock(Statement statement) throws SQLException {
    try (ResultSet row =
        statement.executeQuery(
            """
            SELECT coalesce(CASE WHEN pg_is_in_recovery()
                            THEN pg_last_xact_replay_timestamp() END, clock_timestamp())""")) {
      row.next();
      return row.getObject(1, OffsetDateTime.class).toInstant();
    }
  }

  private static String greatest(Statement statement, SourceTable table) throws SQLException {
    if (table.keyKind() != KeyKind.NUMBER) {
      return null;
    }
    String keys = table.rows().select(List.of(table.key()), null, false);
    String column = Identifiers.quote(table.key().name());
    try (ResultSet row =
        statement.executeQuery("SELECT max(%s)::text FROM (%s) AS keys".formatted(column, keys))) {
      row.next();
      return row.getString(1);
    }
  }

  private static long nullKeys(Statement statement, SourceTable table) throws SQLException {
    String column = Identifiers.quote(table.key().name());
    String keys = table.rows().select(List.of(table.key()), column + " IS NULL", false);
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
    boolean unset = progress.watermark() == null;
    boolean include = unset && task.nullKeys() == NullKeys.INCLUDE_ONCE;
    if (look.nullKeys() > 0 && task.nullKeys() == NullKeys.REFUSE) {
      throw new MillraceException(
          ErrorCode.NULL_KEYS,
          "%s has %d rows whose update key %s is NULL, which no window takes; fill them, or say null_keys: exclude or include_once"
              .formatted(look.table().name(), look.nullKeys(), look.table().key().name()));
    }
    return new Prepared(
        new Window(
            look.table().keyKind(),
            progress.watermark(),
            notBelow(look.table().keyKind(), high(task, look), progress.watermark())),
        progress.reading(),
        unset || progress.firstLoadTo() != null,
        progress.baseline(),
        include ? 0 : look.nullKeys(),
        include && look.nullKeys() > 0,
        warnings(look.table()));
  }

  /** A watermark never moves back. */
  private static String notBelow(KeyKind kind, String high, String watermark) {
    if (watermark == null) {
      return high;
    }
    return high == null || Watermark.compare(kind, high, watermark) < 0 ? watermark : high;
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
      Before before =
          before(new PatientState(settings.state(), heartbeat), TableKey.of(task), prepared);
      return settings
          .source(task)
          .read(
              connection ->
                  extract(connection, task, prepared, before, staging, heartbeat, progress));
    } catch (MillraceException exception) {
      throw naming(task, exception);
    }
  }

  /**
   * What was published before.
   *
   * @param reading the last reading; null for none
   * @param object the key of the last object; null for none
   */
  private record Before(Reading reading, String object) {}

  private static Before before(State state, TableKey key, Prepared prepared) {
    return state.transact(
        connection ->
            new Before(
                prepared.reading() == null
                    ? null
                    : ReplicationState.reading(connection, prepared.reading()).orElse(null),
                ReplicationState.lastObject(connection, key).orElse(null)));
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
      Before before,
      Staging staging,
      Heartbeat heartbeat,
      Progress progress)
      throws SQLException {
    SourceTable table = table(connection, task);
    WindowPlan plan =
        WindowPlan.of(connection, task, prepared, table, before.reading(), staging.attempt());
    settings.points().pass("extract.planned");
    Copied copied =
        plan.select() == null
            ? Copied.NOTHING
            : copy(connection, task, plan, table, staging, heartbeat, progress);
    if (plan.reading() != null) {
      staging.keep(
          plan.reading(),
          copied.staged() == null
              ? null
              : manifest(task, prepared, plan, table, copied, staging, before.object()));
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
        attempt(),
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

  private Copied copy(
      Connection connection,
      TableTask task,
      WindowPlan plan,
      SourceTable table,
      Staging staging,
      Heartbeat heartbeat,
      Progress progress)
      throws SQLException {
    Sink sink = new Sink(staging);
    try (ParquetTable file =
        new ParquetTable(
            table.columns(),
            table.keyPosition(),
            metadata(task, plan.window(), staging, table),
            settings.format(task),
            sink,
            plan.withIds() ? plan.reading().seen()::add : null)) {
      sink.file = file;
      progress.of(file, staging);
      long rows =
          settings.source(task).copy(connection, plan.select(), new Encoding(file, heartbeat));
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

  private static Manifest manifest(
      TableTask task,
      Prepared prepared,
      WindowPlan plan,
      SourceTable table,
      Copied copied,
      Staging staging,
      String previousObject) {
    Reading reading = plan.reading();
    return new Manifest(
        Manifest.FORMAT,
        copied.staged().key(),
        previousObject,
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

  private static Map<String, String> metadata(
      TableTask task, Window window, Staging staging, SourceTable table) {
    return Map.of(
        "millrace.pipeline", task.pipeline(),
        "millrace.run_id", task.runId(),
        "millrace.table", task.table().name().toString(),
        "millrace.update_key", task.table().updateKey(),
        "millrace.window", window.toString(),
        "millrace.attempt", staging.attempt(),
        "millrace.columns", ColumnMetadata.of(table.columns()));
  }

  @Override
  public Written write(
      TableTask task, Prepared prepared, Extracted extracted, long runRows, boolean spike) {
    try (Heartbeat heartbeat = beat(() -> "writing")) {
      TableKey key = TableKey.of(task);
      if (extracted == null || extracted.reading() == null) {
        return new Written(unmoved(task, key, prepared, extracted), attempt());
      }
      Lake lake = settings.lake(task);
      Intent intent = intent(task, prepared, extracted, lake, runRows, spike);
      boolean done =
          settings
              .state()
              .transact(connection -> ReplicationState.rests(connection, key, extracted.reading()));
      heartbeat.check();
      return new Written(
          done ? published(key, lake, intent) : publish(task, key, lake, intent), attempt());
    }
  }

  private TableResult publish(TableTask task, TableKey key, Lake lake, Intent intent) {
    Publishing publishing = publishing(lake);
    return intent.staged() == null
        ? publishing.commit(key, task.runId(), intent)
        : publishing.publish(key, task.runId(), intent);
  }

  /** An earlier attempt of the step did it, and its answer was lost. */
  private static TableResult published(TableKey key, Lake lake, Intent intent) {
    String object = intent.staged() == null ? null : lake.address(intent.staged().key());
    return intent.result(key.table().toString(), object);
  }

  private static Intent intent(
      TableTask task,
      Prepared prepared,
      Extracted extracted,
      Lake lake,
      long runRows,
      boolean spike) {
    Window window = extracted.window();
    return new Intent(
        task.runId(),
        task.position(),
        lake.location(),
        extracted.staged(),
        extracted.rowsEncoded(),
        window.low(),
        window.high(),
        prepared.reading(),
        extracted.reading(),
        prepared.initialLoad(),
        extracted.more() ? prepared.window().high() : null,
        runRows,
        prepared.nullKeys(),
        prepared.baseline(),
        spike,
        warning(extracted),
        extracted.longTransaction(),
        extracted.replaced());
  }

  private static String warning(Extracted extracted) {
    if (extracted == null || extracted.warnings().isEmpty()) {
      return null;
    }
    String text = String.join("; ", extracted.warnings());
    return text.length() <= MOST_WARNING ? text : text.substring(0, MOST_WARNING) + "…";
  }

  private TableResult unmoved(
      TableTask task, TableKey key, Prepared prepared, Extracted extracted) {
    Window window = prepared.window();
    TableResult result =
        new TableResult(
            key.table().toString(),
            window.low(),
            window.low(),
            0,
            0,
            null,
            0,
            prepared.initialLoad(),
            prepared.baseline(),
            false,
            prepared.nullKeys(),
            warning(extracted),
            null,
            List.of());
    settings
        .state()
        .transact(
            connection -> {
              ReplicationState.record(connection, key, task.runId(), task.position(), result, true);
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
