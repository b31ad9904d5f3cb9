package dev.millrace.control;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/**
 * The lease of an extractor: at most one run publishes. Only the database's clock counts.
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
  public static boolean acquire(
      Connection connection, String extractor, String runId, Duration timeToLive)
      throws SQLException {
    return acquireFrom(connection, extractor, runId, null, timeToLive);
  }

  /**
   * Takes the lease as {@link #acquire}, but one that has expired only from this holder: who came
   * in between is another, and nobody has asked yet whether it is at work.
   *
   * @param holder the run that let it expire; null for any
   * @return whether this run holds it now
   */
  static boolean acquireFrom(
      Connection connection, String extractor, String runId, String holder, Duration timeToLive)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO control.lease (extractor, run_id, lease_expires_at)
            VALUES (?, ?, now() + make_interval(secs => ?))
            ON CONFLICT (extractor) DO UPDATE
            SET run_id = EXCLUDED.run_id, lease_expires_at = EXCLUDED.lease_expires_at
            WHERE lease.run_id = EXCLUDED.run_id
               OR (lease.lease_expires_at < now() AND lease.run_id = coalesce(?, lease.run_id))
            """)) {
      statement.setString(1, extractor);
      statement.setString(2, runId);
      statement.setDouble(3, seconds(timeToLive));
      statement.setString(4, holder);
      return statement.executeUpdate() == 1;
    }
  }

  /**
   * Takes the lease as {@link #acquire}, or refuses.
   *
   * @throws MillraceException with {@code LEASE_HELD} while another run holds it
   */
  public static void take(
      Connection connection, String extractor, String runId, Duration timeToLive)
      throws SQLException {
    if (acquire(connection, extractor, runId, timeToLive)) {
      return;
    }
    // The row is locked since, so this reads what was in the way.
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT run_id, ceil(extract(epoch FROM lease_expires_at - now()))::bigint
            FROM control.lease WHERE extractor = ?
            """)) {
      statement.setString(1, extractor);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        throw new MillraceException(
            ErrorCode.LEASE_HELD,
            "run %s can't start: run %s holds the lease of %s, for %d more seconds unless it is renewed; start again when that run has ended"
                .formatted(runId, row.getString(1), extractor, row.getLong(2)));
      }
    }
  }

  /**
   * Pushes the lease forward.
   *
   * @return false when another run has it
   */
  public static boolean renew(
      Connection connection, String extractor, String runId, Duration timeToLive)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            UPDATE control.lease SET lease_expires_at = now() + make_interval(secs => ?)
            WHERE extractor = ? AND run_id = ?
            """)) {
      statement.setDouble(1, seconds(timeToLive));
      statement.setString(2, extractor);
      statement.setString(3, runId);
      return statement.executeUpdate() == 1;
    }
  }

  /** Lets the lease expire at once; does nothing when another run has it. */
  public static void release(Connection connection, String extractor, String runId)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            UPDATE control.lease SET lease_expires_at = now()
            WHERE extractor = ? AND run_id = ?
            """)) {
      statement.setString(1, extractor);
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
  public static void check(Connection connection, String extractor, String runId)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT run_id FROM control.lease WHERE extractor = ? FOR SHARE")) {
      statement.setString(1, extractor);
      try (ResultSet result = statement.executeQuery()) {
        String holder = result.next() ? result.getString(1) : null;
        if (!runId.equals(holder)) {
          throw lost(extractor, runId, holder);
        }
      }
    }
  }

  static double seconds(Duration duration) {
    return duration.toMillis() / 1000.0;
  }

  static MillraceException lost(String extractor, String runId, String holder) {
    return new MillraceException(
        ErrorCode.LEASE_LOST,
        "run %s no longer holds the lease of %s (%s); nothing more is published by it, start a new run"
            .formatted(
                runId, extractor, holder == null ? "nobody holds it" : holder + " holds it"));
  }
}
