package dev.millrace.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * What a transaction's snapshot is, and on which line of history.
 *
 * @param version {@code server_version_num}, such as 180001
 * @param snapshot of the transaction; null before Postgres 13, which can't tell
 * @param timeline the <a
 *     href="https://www.postgresql.org/docs/current/continuous-archiving.html#BACKUP-TIMELINES">timeline</a>;
 *     0 where it can't be told
 * @param standby whether the server replays another's log
 */
public record ServerMoment(int version, Snapshot snapshot, int timeline, boolean standby) {
  /** The first release with {@code pg_current_snapshot}. */
  public static final int TELLS_SNAPSHOTS = 130_000;

  private static final String VERSION = "SELECT current_setting('server_version_num')::int";

  /** A standby has no position of its own to write at; its control file knows its timeline. */
  private static final String MOMENT =
      """
      SELECT pg_current_snapshot()::text, pg_is_in_recovery(),
             CASE WHEN pg_is_in_recovery()
                  THEN (SELECT timeline_id FROM pg_control_checkpoint())
                  ELSE ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int END""";

  /** Looks; to be called inside {@link Postgres#read}. */
  public static ServerMoment look(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      int version;
      try (ResultSet row = statement.executeQuery(VERSION)) {
        row.next();
        version = row.getInt(1);
      }
      if (version < TELLS_SNAPSHOTS) {
        return new ServerMoment(version, null, 0, false);
      }
      try (ResultSet row = statement.executeQuery(MOMENT)) {
        row.next();
        return new ServerMoment(
            version, Snapshot.parse(row.getString(1)), row.getInt(3), row.getBoolean(2));
      }
    }
  }
}
