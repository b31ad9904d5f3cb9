package dev.millrace.control;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;

/**
 * Who waits for the lease of a pipeline: the oldest workflow goes first, and who has not asked for
 * five minutes has lost the place.
 *
 * <p>All statements run in the caller's transaction; stateless.
 */
public final class RunQueue {
  /** A place is lost after this time without asking. */
  public static final Duration PATIENCE = Duration.ofMinutes(5);

  private RunQueue() {}

  /**
   * A run that wants a turn.
   *
   * @param pipeline whose lease it needs
   * @param runId its id
   * @param workflowId for people, to find it
   * @param startedAt when its workflow started
   */
  public record Candidate(Pipeline pipeline, String runId, String workflowId, Instant startedAt) {}

  /**
   * The answer to a candidate.
   *
   * @param ours whether it holds the lease now
   * @param ahead how many wait before it; the one at work is not counted
   * @param holder the run that holds the lease; null when nobody does
   * @param holderWorkflowId its workflow, or null when it is no run of Millrace
   */
  public record Answer(boolean ours, int ahead, String holder, String holderWorkflowId) {}

  /** Takes or keeps a place and, when it is the candidate's turn, the lease. */
  public static Answer ask(Connection connection, Candidate candidate) throws SQLException {
    keepPlace(connection, candidate);
    int ahead = ahead(connection, candidate);
    boolean ours = ahead == 0 && Lease.acquire(connection, candidate.pipeline(), candidate.runId());
    if (ours) {
      takeTurn(connection, candidate);
      return new Answer(true, 0, candidate.runId(), candidate.workflowId());
    }
    return holder(connection, candidate, ahead);
  }

  /**
   * Renews the lease of a run whose turn it is.
   *
   * @return false when the run has left, or lost its lease
   */
  public static boolean renew(Connection connection, Pipeline pipeline, String runId)
      throws SQLException {
    // The queue's row first: an activity that wakes up late must not revive a lease let go.
    try (PreparedStatement statement =
        connection.prepareStatement(
            "UPDATE millrace.queue SET asked_at = now() WHERE run_id = ? AND turn_at IS NOT NULL")) {
      statement.setString(1, runId);
      return statement.executeUpdate() == 1 && Lease.renew(connection, pipeline, runId);
    }
  }

  /**
   * Makes sure that this run has its turn and the lease until the caller's transaction ends: who
   * would steal it, and the run's own end, wait.
   *
   * @throws MillraceException with {@code LEASE_LOST} when another run has the lease, or the run
   *     has ended and this is an attempt that wakes up late
   */
  public static void check(Connection connection, Pipeline pipeline, String runId)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT 1 FROM millrace.queue WHERE run_id = ? AND turn_at IS NOT NULL FOR SHARE
            """)) {
      statement.setString(1, runId);
      try (ResultSet result = statement.executeQuery()) {
        boolean inTurn = result.next();
        Lease.check(connection, pipeline, runId);
        if (!inTurn) {
          throw new MillraceException(
              ErrorCode.LEASE_LOST,
              "run %s of pipeline %s has ended; nothing more is published by it"
                  .formatted(runId, pipeline));
        }
      }
    }
  }

  /** Gives up the place and the lease. */
  public static void leave(Connection connection, Pipeline pipeline, String runId)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("DELETE FROM millrace.queue WHERE run_id = ?")) {
      statement.setString(1, runId);
      statement.executeUpdate();
    }
    Lease.release(connection, pipeline, runId);
  }

  private static void keepPlace(Connection connection, Candidate candidate) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            INSERT INTO millrace.queue (run_id, pipeline, workflow_id, started_at, asked_at)
            VALUES (?, ?, ?, ?, now())
            ON CONFLICT (run_id) DO UPDATE SET asked_at = now()
            """)) {
      statement.setString(1, candidate.runId());
      statement.setString(2, candidate.pipeline().name());
      statement.setString(3, candidate.workflowId());
      statement.setTimestamp(4, Timestamp.from(candidate.startedAt()));
      statement.executeUpdate();
    }
  }

  private static int ahead(Connection connection, Candidate candidate) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT count(*)::int
            FROM millrace.queue AS other, millrace.queue AS mine
            WHERE mine.run_id = ? AND mine.turn_at IS NULL
              AND other.pipeline = mine.pipeline AND other.turn_at IS NULL
              AND other.asked_at > now() - make_interval(secs => ?)
              AND (other.started_at, other.run_id) < (mine.started_at, mine.run_id)
            """)) {
      statement.setString(1, candidate.runId());
      statement.setLong(2, PATIENCE.toSeconds());
      try (ResultSet result = statement.executeQuery()) {
        result.next();
        return result.getInt(1);
      }
    }
  }

  private static void takeTurn(Connection connection, Candidate candidate) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            UPDATE millrace.queue SET turn_at = coalesce(turn_at, now()) WHERE run_id = ?
            """)) {
      statement.setString(1, candidate.runId());
      statement.executeUpdate();
    }
    // We hold the lease, so no other turn of this pipeline is one; and lost places go.
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            DELETE FROM millrace.queue
            WHERE pipeline = ? AND run_id <> ?
              AND (turn_at IS NOT NULL OR asked_at <= now() - make_interval(secs => ?))
            """)) {
      statement.setString(1, candidate.pipeline().name());
      statement.setString(2, candidate.runId());
      statement.setLong(3, PATIENCE.toSeconds());
      statement.executeUpdate();
    }
  }

  private static Answer holder(Connection connection, Candidate candidate, int ahead)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT lease.run_id, queue.workflow_id
            FROM control.lease LEFT JOIN millrace.queue USING (run_id)
            WHERE lease.extractor = ? AND lease.lease_expires_at >= now()
            """)) {
      statement.setString(1, candidate.pipeline().name());
      try (ResultSet result = statement.executeQuery()) {
        if (!result.next()) {
          return new Answer(false, ahead, null, null);
        }
        return new Answer(false, ahead, result.getString(1), result.getString(2));
      }
    }
  }
}
