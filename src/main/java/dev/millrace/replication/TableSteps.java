package dev.millrace.replication;

import dev.millrace.control.RunQueue;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.Lake;
import dev.millrace.lake.StagedObject;
import dev.millrace.postgres.Column;
import dev.millrace.postgres.Identifiers;
import dev.millrace.postgres.RowFilter;
import dev.millrace.run.Heartbeat;
import dev.millrace.run.PatientState;
import dev.millrace.run.State;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityExecutionContext;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The activities of a table. Thread-safe. */
public final class TableSteps implements TableActivities {
  /** Results hold a sentence, the log all of it. */
  private static final int MOST_WARNING = 1000;

  /** Bytes that take about a second to make, beside which a full collection is short. */
  private static final long LARGE_OBJECT = 32L << 20;

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
      RowFilter filter = settings.filter(task);
      Look look = settings.source(task).read(connection -> look(connection, task, filter));
      heartbeat.check();
      TableProgress progress = open(state, task, lake, look.table());
      Prepared prepared = prepared(task, look, progress);
      settings.points().pass("prepare.end");
      return prepared;
    }
  }

  private static Look look(Connection connection, TableTask task, RowFilter filter)
      throws SQLException {
    SourceTable table = SourceTable.of(connection, task, filter);
    if (table.relation() != null) {
      filter.check(connection, table.relation());
    }
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
    Extracted extracted = read(task, prepared);
    if (extracted.staged() != null && extracted.staged().bytes() >= LARGE_OBJECT) {
      // Tens of MiB of buffers are dead now; JDK 25 takes all heap that it may before it looks.
      System.gc();
    }
    return extracted;
  }

  private Extracted read(TableTask task, Prepared prepared) {
    Progress progress = new Progress(Activity.getExecutionContext());
    try (Heartbeat heartbeat = beat(progress::look)) {
      State state = new PatientState(settings.state(), heartbeat);
      Lake lake = settings.lake(task);
      try (Staging staging = new Staging(task, state, lake, settings.points())) {
        // A killed attempt of this run may have left an upload.
        new Publishing(state, lake, settings.points())
            .discardLeftovers(TableKey.of(task), task.runId());
        Extraction extraction =
            new Extraction(
                settings,
                task,
                prepared,
                Extraction.Before.of(state, TableKey.of(task), prepared),
                staging,
                heartbeat,
                progress);
        return settings.source(task).read(extraction::run);
      }
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

  @Override
  public Written write(
      TableTask task, Prepared prepared, Extracted extracted, long runRows, boolean spike) {
    try (Heartbeat heartbeat = beat(() -> "writing")) {
      TableKey key = TableKey.of(task);
      if (extracted == null || extracted.reading() == null) {
        return new Written(unmoved(task, key, prepared, extracted), attempt());
      }
      Lake lake = settings.lake(task);
      Publishing publishing = publishing(lake);
      Intent intent = intent(task, prepared, extracted, lake, runRows, spike);
      // An earlier attempt of the step may have done it, and its answer was lost.
      boolean done =
          settings
              .state()
              .transact(connection -> ReplicationState.rests(connection, key, extracted.reading()));
      heartbeat.check();
      return new Written(
          done ? publishing.result(key, intent) : publish(task, key, publishing, intent),
          attempt());
    }
  }

  private static TableResult publish(
      TableTask task, TableKey key, Publishing publishing, Intent intent) {
    return intent.staged() == null
        ? publishing.commit(key, task.runId(), intent)
        : publishing.publish(key, task.runId(), intent);
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
