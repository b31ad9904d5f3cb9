package dev.millrace.control;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/**
 * The lease of a pipeline: at most one run publishes. Only the database's clock counts.
 *
 * <p>All statements run in the caller's transaction; stateless.
 */
public final class Lease {
  /** How long a lease lives after its last renewal. */
  public static final Duration TIME_TO_LIVE = Duration.ofMinutes(5);

  /** How often a holder renews. */
  public static final Duration RENEWAL = Duration.ofMinutes(1);

  private Lease() {}

  /**
   * Takes the lease when nobody holds it, its holder let it expire, or this run holds it already.
   *
   * @return whether this run holds it now
   */
  public static boolean acquire(Connection connection, Pipeline pipeline, String runId)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO control.lease (extractor, run_id, lease_expires_at)
            VALUES (?, ?, now() + make_interval(secs => ?))
            ON CONFLICT (extractor) DO UPDATE
            SET run_id = EXCLUDED.run_id, lease_expires_at = EXCLUDED.lease_expires_at
            WHERE lease.lease_expires_at < now() OR lease.run_id = EXCLUDED.run_id
            """)) {
      statement.setString(1, pipeline.name());
      statement.setString(2, runId);
      statement.setLong(3, TIME_TO_LIVE.toSeconds());
      return statement.executeUpdate() == 1;
    }
  }

  /**
   * Pushes the lease forward.
   *
   * @return false when another run has it
   */
  public static boolean renew(Connection connection, Pipeline pipeline, String runId)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            UPDATE control.lease SET lease_expires_at = now() + make_interval(secs => ?)
            WHERE extractor = ? AND run_id = ?
            """)) {
      statement.setLong(1, TIME_TO_LIVE.toSeconds());
      statement.setString(2, pipeline.name());
      statement.setString(3, runId);
      return statement.executeUpdate() == 1;
    }
  }

  /** Lets the lease expire at once; does nothing when another run has it. */
  public static void release(Connection connection, Pipeline pipeline, String runId)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            UPDATE control.lease SET lease_expires_at = now()
            WHERE extractor = ? AND run_id = ?
            """)) {
      statement.setString(1, pipeline.name());
      statement.setString(2, runId);
      statement.executeUpdate();
    }
  }

  /**
   * Makes sure that this run holds the lease until the caller's transaction ends: who would steal
   * it waits for the row.
   *
   * @throws MillraceException with {@code LEASE_LOST} when another run has it
   */
  public static void check(Connection connection, Pipeline pipeline, String runId)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT run_id FROM control.lease WHERE extractor = ? FOR SHARE")) {
      statement.setString(1, pipeline.name());
      try (ResultSet result = statement.executeQuery()) {
        String holder = result.next() ? result.getString(1) : null;
        if (!runId.equals(holder)) {
          throw lost(pipeline, runId, holder);
        }
      }
    }
  }

  static MillraceException lost(Pipeline pipeline, String runId, String holder) {
    return new MillraceException(
        ErrorCode.LEASE_LOST,
        "run %s no longer holds the lease of pipeline %s (%s); nothing more is published by it, start a new run"
            .formatted(runId, pipeline, holder == null ? "nobody holds it" : holder + " holds it"));
  }
}
