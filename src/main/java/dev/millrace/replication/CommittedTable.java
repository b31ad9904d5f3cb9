package dev.millrace.replication;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Identifiers;
import dev.millrace.postgres.Relation;
import dev.millrace.postgres.ServerMoment;
import dev.millrace.postgres.TableFiles;
import dev.millrace.postgres.TableName;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.ZoneId;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * How far a table is copied, as the state has it at one moment; for who proves it.
 *
 * <p>Immutable but for what its reading holds, which is not changed here.
 */
public final class CommittedTable {
  private final TableKey key;
  private final String watermark;
  private final String keyColumn;
  private final KeyKind keyKind;
  private final TableOrigin origin;
  private final String lastObject;
  private final Reading reading;
  private final String publishing;
  private final String openRun;

  private CommittedTable(
      TableKey key,
      ResultSet row,
      Reading reading,
      Optional<Intent> intent,
      Optional<String> openRun)
      throws SQLException {
    this.key = key;
    this.watermark = row.getString("watermark");
    this.keyColumn = row.getString("key_column");
    this.keyKind = KeyKind.valueOf(row.getString("key_kind"));
    this.origin =
        new TableOrigin(
            row.getString("system_identifier"),
            row.getString("database_name"),
            row.getLong("table_oid"),
            row.getString("lake"),
            row.getString("prefix"));
    this.lastObject = row.getString("last_object");
    this.reading = reading;
    this.publishing = intent.map(left -> left.staged().key()).orElse(null);
    this.openRun = openRun.orElse(null);
  }

  /**
   * Looks into the state.
   *
   * @return nothing where no run of the pipeline has ever come to the table
   */
  public static Optional<CommittedTable> find(
      Connection connection, String pipeline, TableName table) throws SQLException {
    TableKey key = new TableKey(pipeline, table);
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT watermark, key_column, key_kind, system_identifier, database_name, table_oid,
                   lake, prefix, last_object, reading
            FROM millrace.table_state
            WHERE pipeline = ? AND schema_name = ? AND table_name = ?
            """)) {
      statement.setString(1, pipeline);
      statement.setString(2, table.schema());
      statement.setString(3, table.table());
      try (ResultSet row = statement.executeQuery()) {
        if (!row.next()) {
          return Optional.empty();
        }
        String attempt = row.getString("reading");
        return Optional.of(
            new CommittedTable(
                key,
                row,
                attempt == null ? null : ReplicationState.reading(connection, attempt).orElse(null),
                ReplicationState.intent(connection, key),
                openRun(connection, pipeline)));
      }
    }
  }

  private static Optional<String> openRun(Connection connection, String pipeline)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT run_id FROM control.lease
            WHERE extractor = ? AND lease_expires_at > now()
            """)) {
      statement.setString(1, pipeline);
      try (ResultSet row = statement.executeQuery()) {
        return row.next() ? Optional.of(row.getString(1)) : Optional.empty();
      }
    }
  }

  /** Returns whether another look has found the same windows, and the same one on its way. */
  public boolean sameAs(CommittedTable other) {
    return Objects.equals(watermark, other.watermark)
        && Objects.equals(lastObject, other.lastObject)
        && Objects.equals(publishing, other.publishing)
        && Objects.equals(
            reading == null ? null : reading.attempt(),
            other.reading == null ? null : other.reading.attempt());
  }

  /** Returns the table's folder in the lake; a whole key that ends in a slash. */
  public String folder() {
    return ObjectName.folder(origin.prefix(), key.table());
  }

  /** Returns how far it is copied; null before the first load. */
  public String watermark() {
    return watermark;
  }

  public String keyColumn() {
    return keyColumn;
  }

  public KeyKind keyKind() {
    return keyKind;
  }

  /** Returns the location of its lake. */
  public String lake() {
    return origin.lake();
  }

  /** Returns the prefix of its lake. */
  public String prefix() {
    return origin.prefix();
  }

  /** Returns whether its rows came from a table; true after a person has accepted any. */
  public boolean cameFrom(String systemIdentifier, String database, long tableOid) {
    return origin.systemIdentifier().isEmpty()
        || (origin.systemIdentifier().equals(systemIdentifier)
            && origin.database().equals(database)
            && origin.tableOid() == tableOid);
  }

  /** Returns the key of the object that was published last; null for none. */
  public String lastObject() {
    return lastObject;
  }

  /** Returns the key of the object that is being published, or was left half published; or null. */
  public String publishing() {
    return publishing;
  }

  /** Returns the run that is at work on the pipeline; null for none. */
  public String openRun() {
    return openRun;
  }

  /** Returns the SQL condition of rows that belong to the windows so far. */
  public String upToWatermark(ZoneId zone) {
    return Identifiers.quote(keyColumn) + " <= " + Watermark.literal(keyKind, watermark, zone);
  }

  /**
   * Which rows up to the watermark the next run takes.
   *
   * @param condition SQL
   * @param reason why it takes none; null where it does
   * @param versioned whether rows have {@code xmin}
   */
  public record Pending(String condition, String reason, boolean versioned) {}

  /**
   * Returns which rows up to the watermark the next run takes, if its look-back is the same.
   *
   * @param connection in the transaction that reads the rows
   * @throws MillraceException with {@code POSTGRES_UNAVAILABLE} when the server is behind the last
   *     window, so that it does not show all that was copied
   */
  public Pending pending(Connection connection, Relation relation, ZoneId zone)
      throws SQLException {
    ServerMoment now = ServerMoment.look(connection);
    TableFiles files = TableFiles.inSnapshot(connection, relation);
    Exactness exactness =
        Exactness.of(
            relation.kind(), now, files, reading, false, reading == null ? "" : reading.lookBack());
    return switch (exactness.kind()) {
      case FIRST -> throw new IllegalStateException("a table with a watermark is no first load");
      case WAIT ->
          throw new MillraceException(
              ErrorCode.POSTGRES_UNAVAILABLE, "%s %s".formatted(key.table(), exactness.reason()));
      case WINDOW_ONLY ->
          new Pending(
              "false", "%s %s".formatted(key.table(), exactness.reason()), exactness.versioned());
      case EXACT -> {
        Set<Long> added = files.addedSince(reading.files());
        String late =
            "(%s > %s AND %s)"
                .formatted(
                    Identifiers.quote(keyColumn),
                    Watermark.literal(keyKind, lookBack().below(watermark), zone),
                    UnseenRows.condition(connection, reading.snapshot(), reading.seen(), added));
        yield new Pending(
            added.isEmpty()
                ? late
                : added.stream()
                    .map(String::valueOf)
                    .collect(
                        Collectors.joining(",", late + " OR tableoid = ANY ('{", "}'::oid[])")),
            null,
            true);
      }
    };
  }

  private LookBack lookBack() {
    return switch (keyKind) {
      case TIMESTAMPTZ, TIMESTAMP -> new LookBack(keyKind, Duration.parse(reading.lookBack()), 0);
      case NUMBER ->
          new LookBack(
              keyKind,
              Duration.ZERO,
              new BigDecimal(reading.lookBack().split(" ", 2)[0]).longValueExact());
    };
  }
}
