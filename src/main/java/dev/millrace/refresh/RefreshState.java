package dev.millrace.refresh;

import dev.millrace.control.ControlDatabase;
import dev.millrace.control.ControlSchema;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/**
 * The SQL of what Millrace remembers of refreshed tables.
 *
 * <p>All statements run in the caller's transaction; stateless.
 */
final class RefreshState {
  private RefreshState() {}

  /** Creates what is missing. */
  static void ensure(ControlDatabase database) {
    ControlSchema.ensure(
        database,
        RefreshState.class,
        "state.sql",
        "millrace.refresh_state",
        "millrace.refresh_claim",
        "millrace.refresh_intent",
        "millrace.refresh_fingerprint");
  }

  /** A run that is at work on a target, as far as the state knows. */
  record Holder(String runId, String workflowId, boolean expired) {}

  /**
   * Claims a target for a run, unless another one that has its turn holds it.
   *
   * @param over a holder of which the caller knows that it has ended
   * @return who holds it, when it is not this run
   */
  static Optional<Holder> claim(
      Connection connection, TargetKey key, String runId, String workflowId, Optional<String> over)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO millrace.refresh_claim AS claim
              (clickhouse, database_name, table_name, run_id, workflow_id)
            VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (clickhouse, database_name, table_name) DO UPDATE
            SET (run_id, workflow_id, claimed_at)
              = (EXCLUDED.run_id, EXCLUDED.workflow_id, now())
            WHERE claim.run_id = EXCLUDED.run_id
               OR claim.run_id = ?
               OR NOT EXISTS (SELECT 1 FROM millrace.queue
                              WHERE queue.run_id = claim.run_id AND queue.turn_at IS NOT NULL)
            """)) {
      bind(statement, key);
      statement.setString(4, runId);
      statement.setString(5, workflowId);
      statement.setString(6, over.orElse(null));
      if (statement.executeUpdate() == 1) {
        return Optional.empty();
      }
    }
    return Optional.of(holder(connection, key));
  }

  /** The claim's row is locked since it was not to be had. */
  private static Holder holder(Connection connection, TargetKey key) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT claim.run_id, claim.workflow_id,
                   coalesce(lease.lease_expires_at < now(), true)
            FROM millrace.refresh_claim AS claim
              LEFT JOIN control.lease ON lease.run_id = claim.run_id
            WHERE clickhouse = ? AND database_name = ? AND table_name = ?
            """)) {
      bind(statement, key);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return new Holder(row.getString(1), row.getString(2), row.getBoolean(3));
      }
    }
  }

  /** Lets go of a target. */
  static void leave(Connection connection, TargetKey key, String runId) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            DELETE FROM millrace.refresh_claim
            WHERE clickhouse = ? AND database_name = ? AND table_name = ? AND run_id = ?
            """)) {
      bind(statement, key);
      statement.setString(4, runId);
      statement.executeUpdate();
    }
  }

  /**
   * Makes sure until the end of the transaction that the target is this run's.
   *
   * @throws MillraceException with {@code LEASE_LOST}
   */
  static void checkClaim(Connection connection, TargetKey key, String runId) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT run_id FROM millrace.refresh_claim
            WHERE clickhouse = ? AND database_name = ? AND table_name = ? FOR SHARE
            """)) {
      bind(statement, key);
      try (ResultSet row = statement.executeQuery()) {
        String holder = row.next() ? row.getString(1) : null;
        if (!runId.equals(holder)) {
          throw new MillraceException(
              ErrorCode.LEASE_LOST,
              "run %s no longer has %s (%s); nothing more is published by it"
                  .formatted(runId, key, holder == null ? "nobody has it" : holder + " has it"));
        }
      }
    }
  }

  /** Returns what the last publish left, if it was of this layout and made of this source. */
  static Optional<Fingerprint> saved(
      Connection connection, TargetKey key, String layout, String source) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT source_fingerprint, live_fingerprint FROM millrace.refresh_state
            WHERE clickhouse = ? AND database_name = ? AND table_name = ?
              AND layout = ? AND source = ?
            """)) {
      bind(statement, key);
      statement.setString(4, layout);
      statement.setString(5, source);
      try (ResultSet row = statement.executeQuery()) {
        return row.next()
            ? Optional.of(new Fingerprint(row.getString(1), row.getString(2)))
            : Optional.empty();
      }
    }
  }

  /** Returns the swap that is being published, if there is one. */
  static Optional<Intent> intent(Connection connection, TargetKey key) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT run_id, pipeline, shadow_uuid, live_uuid, source_fingerprint,
                   live_fingerprint, rows, layout, source
            FROM millrace.refresh_intent
            WHERE clickhouse = ? AND database_name = ? AND table_name = ?
            """)) {
      bind(statement, key);
      try (ResultSet row = statement.executeQuery()) {
        return row.next()
            ? Optional.of(
                new Intent(
                    row.getString(1),
                    row.getString(2),
                    row.getString(3),
                    row.getString(4),
                    new Fingerprint(row.getString(5), row.getString(6)),
                    row.getString(7),
                    row.getString(8),
                    row.getString(9)))
            : Optional.empty();
      }
    }
  }

  /**
   * Inserts the one swap that may be published.
   *
   * @throws MillraceException with {@code INTENT_CONFLICT} when another one is there
   */
  static void insertIntent(Connection connection, TargetKey key, Intent intent)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO millrace.refresh_intent AS known
              (clickhouse, database_name, table_name, run_id, pipeline, shadow_uuid, live_uuid,
               source_fingerprint, live_fingerprint, rows, layout, source)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (clickhouse, database_name, table_name) DO UPDATE
            SET inserted_at = known.inserted_at
            WHERE known.run_id = EXCLUDED.run_id AND known.shadow_uuid = EXCLUDED.shadow_uuid
            """)) {
      bind(statement, key);
      bind(statement, intent);
      if (statement.executeUpdate() == 0) {
        throw new MillraceException(
            ErrorCode.INTENT_CONFLICT,
            "another swap of %s is being published; the next run decides it".formatted(key));
      }
    }
  }

  private static void bind(PreparedStatement statement, Intent intent) throws SQLException {
    statement.setString(4, intent.runId());
    statement.setString(5, intent.pipeline());
    statement.setString(6, intent.shadowUuid());
    statement.setString(7, intent.liveUuid());
    statement.setString(8, intent.fingerprint().source());
    statement.setString(9, intent.fingerprint().live());
    statement.setString(10, intent.rows());
    statement.setString(11, intent.layout());
    statement.setString(12, intent.source());
  }

  /** Forgets a swap, because it was taken back or never happened. */
  static void forgetIntent(Connection connection, TargetKey key, String shadowUuid)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            DELETE FROM millrace.refresh_intent
            WHERE clickhouse = ? AND database_name = ? AND table_name = ? AND shadow_uuid = ?
            """)) {
      bind(statement, key);
      statement.setString(4, shadowUuid);
      statement.executeUpdate();
    }
  }

  /** Turns the intent into the state; does nothing when an earlier attempt did it. */
  static void save(Connection connection, TargetKey key, String shadowUuid) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            WITH published AS (
              DELETE FROM millrace.refresh_intent
              WHERE clickhouse = ? AND database_name = ? AND table_name = ? AND shadow_uuid = ?
              RETURNING *
            )
            INSERT INTO millrace.refresh_state
              (clickhouse, database_name, table_name, seed_key, pipeline, source_fingerprint,
               live_fingerprint, rows, layout, source, shadow_uuid, run_id)
            SELECT clickhouse, database_name, table_name, ?, pipeline, source_fingerprint,
                   live_fingerprint, rows, layout, source, shadow_uuid, run_id
            FROM published
            ON CONFLICT (clickhouse, database_name, table_name) DO UPDATE
            SET (seed_key, pipeline, source_fingerprint, live_fingerprint, rows, layout, source,
                 shadow_uuid, run_id, published_at)
              = (EXCLUDED.seed_key, EXCLUDED.pipeline, EXCLUDED.source_fingerprint,
                 EXCLUDED.live_fingerprint, EXCLUDED.rows, EXCLUDED.layout, EXCLUDED.source,
                 EXCLUDED.shadow_uuid, EXCLUDED.run_id, now())
            """)) {
      bind(statement, key);
      statement.setString(4, shadowUuid);
      statement.setString(5, key.seedKey());
      statement.executeUpdate();
    }
  }

  private static void bind(PreparedStatement statement, TargetKey key) throws SQLException {
    statement.setString(1, key.clickhouse());
    statement.setString(2, key.database());
    statement.setString(3, key.table());
  }
}
