package dev.millrace.refresh;

import dev.millrace.postgres.Identifiers;
import dev.millrace.postgres.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Tells whether two transactions see the same rows of a table, without a look at the rows.
 *
 * <p>The version is the transaction's snapshot. A commit that changes anything has an id, which
 * leaves the snapshot's list, or raises its bound; so snapshots of one server that are equal see
 * the same rows. A server that crashed may give lost ids away again, but no longer has the same
 * last checkpoint. Stateless.
 */
final class SourceVersion {
  /** A server with so many open transactions has no two snapshots that are equal. */
  private static final int LONGEST = 1_000;

  /**
   * None for a standby, whose snapshot has no list of what is open; nor for anything but plain
   * tables that survive a crash, since rows from elsewhere are in no snapshot. The older name of
   * {@code pg_current_snapshot} is there in every release.
   */
  private static final String VERSION =
      """
      WITH RECURSIVE part AS (
        SELECT c.oid, c.relkind, c.relpersistence FROM pg_class c WHERE c.oid = to_regclass(?)
        UNION ALL
        SELECT c.oid, c.relkind, c.relpersistence
        FROM part JOIN pg_inherits h ON h.inhparent = part.oid JOIN pg_class c ON c.oid = h.inhrelid)
      SELECT concat_ws(' ', server.system_identifier, point.timeline_id, point.checkpoint_lsn,
                       txid_current_snapshot())
      FROM pg_control_system() AS server, pg_control_checkpoint() AS point
      WHERE NOT pg_is_in_recovery()
        AND (SELECT bool_and(relkind IN ('r', 'p') AND relpersistence = 'p') FROM part)""";

  private SourceVersion() {}

  /**
   * Returns the version of a table that a transaction sees; to be called inside {@code
   * Postgres.read}.
   *
   * @return empty where it can't be told
   */
  static Optional<String> of(Connection connection, TableName table) throws SQLException {
    try (PreparedStatement query = connection.prepareStatement(VERSION)) {
      query.setString(1, Identifiers.quote(table));
      try (ResultSet row = query.executeQuery()) {
        return row.next()
            ? Optional.of(row.getString(1)).filter(version -> version.length() <= LONGEST)
            : Optional.empty();
      }
    }
  }
}
