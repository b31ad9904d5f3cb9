package dev.millrace.replication;

import dev.millrace.postgres.SeenIds;
import dev.millrace.postgres.Snapshot;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Collection;
import java.util.stream.Collectors;

/**
 * The SQL that tells rows by the transactions that wrote them ({@code xmin}). Stateless.
 *
 * <p>{@code age(xmin)} is the distance from the transaction's latest id, which stays the same in a
 * transaction; it is cheap, needs no text and knows of wrap-around. The special ids 1 and 2 are
 * infinitely old.
 */
final class UnseenRows {
  private UnseenRows() {}

  /**
   * Returns what a row meets that an earlier snapshot did not show.
   *
   * @param connection in the transaction that will read the rows
   * @param earlier the earlier snapshot; ids below its {@code xmin} had ended, so their rows were
   *     shown
   * @param seen ids from there on whose rows were shown
   * @param whole oids of partitions that are read whole elsewhere
   */
  static String condition(
      Connection connection, Snapshot earlier, SeenIds seen, Collection<Long> whole)
      throws SQLException {
    StringBuilder sql = new StringBuilder(since(connection, earlier));
    if (!seen.isEmpty()) {
      // A sub-select is hashed once; a list would be searched for each row.
      sql.append(" AND NOT xmin::text::int8 IN (SELECT unnest('")
          .append(seen.array())
          .append("'::int8[]))");
    }
    if (!whole.isEmpty()) {
      sql.append(
          whole.stream()
              .map(String::valueOf)
              .collect(Collectors.joining(",", " AND tableoid <> ALL ('{", "}'::oid[])")));
    }
    return sql.toString();
  }

  /** Returns what a row meets whose transaction had not ended when a snapshot was taken. */
  static String since(Connection connection, Snapshot snapshot) throws SQLException {
    try (PreparedStatement query = connection.prepareStatement("SELECT age(?::text::xid)")) {
      query.setString(1, Integer.toUnsignedString((int) snapshot.xmin()));
      try (ResultSet row = query.executeQuery()) {
        row.next();
        return "age(xmin) BETWEEN 1 AND " + row.getInt(1);
      }
    }
  }
}
