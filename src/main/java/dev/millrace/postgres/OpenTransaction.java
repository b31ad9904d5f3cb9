package dev.millrace.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;

/**
 * A transaction in progress, as other sessions may see it.
 *
 * @param id its 64-bit id
 * @param started when it began; null where the user may not see it (no {@code pg_read_all_stats})
 * @param session who runs it, for people; null where nobody is known
 */
public record OpenTransaction(long id, Instant started, String session) {
  private static final String HOLDER =
      """
      SELECT xact_start,
             'process ' || pid || coalesce(', user ' || usename, '')
               || coalesce(', database ' || datname, '')
               || coalesce(', application ' || nullif(application_name, ''), '')
      FROM pg_stat_activity WHERE backend_xid = ?::text::xid
      UNION ALL
      SELECT prepared, 'prepared as ' || quote_literal(gid) || ', user ' || owner
               || ', database ' || database
      FROM pg_prepared_xacts WHERE transaction = ?::text::xid
      LIMIT 1""";

  private static final String OLDEST_START =
      """
      SELECT pg_has_role('pg_read_all_stats', 'USAGE'),
             least((SELECT min(xact_start) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid()
                      AND backend_type <> 'autovacuum worker'),
                   (SELECT min(prepared) FROM pg_prepared_xacts
                    WHERE database = current_database()))""";

  /** Returns what can be told of the oldest transaction in progress of a snapshot. */
  public static OpenTransaction oldestOf(Connection connection, Snapshot snapshot)
      throws SQLException {
    try (PreparedStatement query = connection.prepareStatement(HOLDER)) {
      String id = Integer.toUnsignedString((int) snapshot.xmin());
      query.setString(1, id);
      query.setString(2, id);
      try (ResultSet row = query.executeQuery()) {
        return row.next()
            ? new OpenTransaction(snapshot.xmin(), instant(row, 1), row.getString(2))
            : new OpenTransaction(snapshot.xmin(), null, null);
      }
    }
  }

  /**
   * Returns when the oldest open transaction of this database began: rows stamped from then on may
   * still come. Of a prepared transaction only the time of its PREPARE is known.
   *
   * @return empty when none is open, or when the user may not see those of others
   */
  public static Optional<Instant> oldestStart(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(OLDEST_START)) {
      row.next();
      return row.getBoolean(1) ? Optional.ofNullable(instant(row, 2)) : Optional.empty();
    }
  }

  private static Instant instant(ResultSet row, int column) throws SQLException {
    OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }
}
