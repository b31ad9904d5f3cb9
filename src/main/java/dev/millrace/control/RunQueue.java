package dev.millrace.control;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.NullNode;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Who waits for the lease of a pipeline: the oldest workflow goes first, and who has not asked for
 * five minutes has lost the place.
 *
 * <p>All statements run in the caller's transaction; stateless.
 */
public final class RunQueue {
  /** A place is lost after this time without asking. */
  public static final Duration PATIENCE = Duration.ofMinutes(5);

  private static final JsonMapper JSON = new JsonMapper();

  private RunQueue() {}

  /**
   * A run that wants a turn.
   *
   * @param pipeline whose lease it needs
   * @param runId its id
   * @param workflowId for people, to find it
   * @param startedAt when its workflow started
   */
  public record Candidate(String pipeline, String runId, String workflowId, Instant startedAt) {}

  /**
   * The run that has the turn.
   *
   * @param runId its id
   * @param workflowId its workflow, or null when it is no run of Millrace
   * @param overdue whether its lease has expired though it has not left: it has died, or all its
   *     workers are away; whoever knows that it is over may say so in {@link #ask}
   * @param extra what {@code control.run} tells of an overdue run; a JSON null for nothing
   */
  public record Holder(String runId, String workflowId, boolean overdue, JsonNode extra) {}

  /**
   * The answer to a candidate.
   *
   * @param ours whether it holds the lease now
   * @param ahead how many wait before it; the one at work is not counted
   * @param holder who has the turn; null when nobody does
   */
  public record Answer(boolean ours, int ahead, Holder holder) {}

  /** A lease that is to be renewed. */
  public record Held(String pipeline, String runId) {}

  /**
   * What became of leases that were to be renewed; each run is in one of the three.
   *
   * @param renewed these live on
   * @param skipped these have a row that another transaction has locked, such as one that
   *     publishes; ask again soon
   * @param lost these are not held any more, each with its {@code LEASE_LOST}
   */
  public record Renewals(
      Set<String> renewed, Set<String> skipped, Map<String, MillraceException> lost) {}

  /**
   * Takes or keeps a place and, when it is the candidate's turn, the lease.
   *
   * @param over an overdue holder of which the caller knows that it has ended; the lease is taken
   *     only if it still is that run's and still expired
   */
  public static Answer ask(Connection connection, Candidate candidate, Optional<String> over)
      throws SQLException {
    keepPlace(connection, candidate);
    int ahead = ahead(connection, candidate);
    LeaseRow row = leaseRow(connection, candidate.pipeline());
    if (ahead == 0 && take(connection, candidate, row, over)) {
      takeTurn(connection, candidate);
      return new Answer(
          true,
          0,
          new Holder(candidate.runId(), candidate.workflowId(), false, NullNode.getInstance()));
    }
    return new Answer(false, ahead, row == null ? null : holder(connection, row));
  }

  private static boolean take(
      Connection connection, Candidate candidate, LeaseRow row, Optional<String> over)
      throws SQLException {
    if (row == null) {
      return Lease.acquire(connection, candidate.pipeline(), candidate.runId(), Lease.TIME_TO_LIVE);
    }
    boolean leftOrOver = !row.inTurn() || over.equals(Optional.of(row.runId()));
    if (!leftOrOver && !row.runId().equals(candidate.runId())) {
      return false;
    }
    return Lease.acquireFrom(
        connection, candidate.pipeline(), candidate.runId(), row.runId(), Lease.TIME_TO_LIVE);
  }

  /**
   * Renews the leases of runs whose turn it is, in one statement that waits for nobody.
   *
   * @param held each run once
   * @param timeToLive from now on
   */
  public static Renewals renewAll(Connection connection, Collection<Held> held, Duration timeToLive)
      throws SQLException {
    // The queue's rows first: an activity that wakes up late must not revive a lease let go. Rows
    // that the snapshot shows as ours but that were not to be had are locked by others.
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            WITH held AS (
              SELECT * FROM unnest(?::text[], ?::text[]) AS held (extractor, run_id)
            ), turn AS MATERIALIZED (
              SELECT held.extractor, held.run_id
              FROM millrace.queue JOIN held ON queue.run_id = held.run_id
              WHERE queue.turn_at IS NOT NULL
              FOR UPDATE OF queue SKIP LOCKED
            ), mine AS MATERIALIZED (
              SELECT turn.extractor, turn.run_id
              FROM control.lease JOIN turn
                ON lease.extractor = turn.extractor AND lease.run_id = turn.run_id
              FOR UPDATE OF lease SKIP LOCKED
            ), asked AS (
              UPDATE millrace.queue SET asked_at = now()
              FROM mine WHERE queue.run_id = mine.run_id
            ), renewed AS (
              UPDATE control.lease SET lease_expires_at = now() + make_interval(secs => ?)
              FROM mine WHERE lease.extractor = mine.extractor AND lease.run_id = mine.run_id
              RETURNING lease.run_id
            )
            SELECT held.extractor, held.run_id, renewed.run_id IS NOT NULL,
                   queue.run_id IS NOT NULL, lease.run_id
            FROM held
              LEFT JOIN renewed ON renewed.run_id = held.run_id
              LEFT JOIN millrace.queue
                ON queue.run_id = held.run_id AND queue.turn_at IS NOT NULL
              LEFT JOIN control.lease ON lease.extractor = held.extractor
            """)) {
      statement.setArray(1, texts(connection, held, Held::pipeline));
      statement.setArray(2, texts(connection, held, Held::runId));
      statement.setDouble(3, Lease.seconds(timeToLive));
      try (ResultSet row = statement.executeQuery()) {
        return renewals(row);
      }
    }
  }

  private static Array texts(
      Connection connection, Collection<Held> held, Function<Held, String> text)
      throws SQLException {
    return connection.createArrayOf("text", held.stream().map(text).toArray());
  }

  private static Renewals renewals(ResultSet row) throws SQLException {
    Renewals renewals = new Renewals(new HashSet<>(), new HashSet<>(), new HashMap<>());
    while (row.next()) {
      String pipeline = row.getString(1);
      String runId = row.getString(2);
      boolean inTurn = row.getBoolean(4);
      String holder = row.getString(5);
      if (row.getBoolean(3)) {
        renewals.renewed().add(runId);
      } else if (!runId.equals(holder)) {
        renewals.lost().put(runId, Lease.lost(pipeline, runId, holder));
      } else if (!inTurn) {
        renewals.lost().put(runId, ended(pipeline, runId));
      } else {
        renewals.skipped().add(runId);
      }
    }
    return renewals;
  }

  /**
   * Makes sure that this run has its turn and the lease until the caller's transaction ends: who
   * would steal it, and the run's own end, wait.
   *
   * @throws MillraceException with {@code LEASE_LOST} when another run has the lease, or the run
   *     has ended and this is an attempt that wakes up late
   */
  public static void check(Connection connection, String pipeline, String runId)
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
          throw ended(pipeline, runId);
        }
      }
    }
  }

  private static MillraceException ended(String pipeline, String runId) {
    return new MillraceException(
        ErrorCode.LEASE_LOST,
        "run %s of pipeline %s has ended; nothing more is published by it"
            .formatted(runId, pipeline));
  }

  /** Gives up the place and the lease. */
  public static void leave(Connection connection, String pipeline, String runId)
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
      statement.setString(2, candidate.pipeline());
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
      statement.setString(1, candidate.pipeline());
      statement.setString(2, candidate.runId());
      statement.setLong(3, PATIENCE.toSeconds());
      statement.executeUpdate();
    }
  }

  /**
   * The lease of a pipeline as it is.
   *
   * @param workflowId of its run; null when that has left, or is no run of Millrace
   */
  private record LeaseRow(String runId, boolean expired, String workflowId) {
    boolean inTurn() {
      return workflowId != null;
    }
  }

  private static LeaseRow leaseRow(Connection connection, String pipeline) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT lease.run_id, lease.lease_expires_at < now(), queue.workflow_id
            FROM control.lease LEFT JOIN millrace.queue
              ON queue.run_id = lease.run_id AND queue.turn_at IS NOT NULL
            WHERE lease.extractor = ?
            """)) {
      statement.setString(1, pipeline);
      try (ResultSet row = statement.executeQuery()) {
        return row.next()
            ? new LeaseRow(row.getString(1), row.getBoolean(2), row.getString(3))
            : null;
      }
    }
  }

  private static Holder holder(Connection connection, LeaseRow row) throws SQLException {
    if (!row.expired()) {
      return new Holder(row.runId(), row.workflowId(), false, NullNode.getInstance());
    }
    return row.inTurn()
        ? new Holder(row.runId(), row.workflowId(), true, extra(connection, row.runId()))
        : null;
  }

  private static JsonNode extra(Connection connection, String runId) throws SQLException {
    if (!hasRuns(connection)) {
      return NullNode.getInstance();
    }
    try (PreparedStatement statement =
        connection.prepareStatement("SELECT extra::text FROM control.run WHERE run_id = ?")) {
      statement.setString(1, runId);
      try (ResultSet row = statement.executeQuery()) {
        String text = row.next() ? row.getString(1) : null;
        return text == null ? NullNode.getInstance() : JSON.readTree(text);
      }
    } catch (JsonProcessingException exception) {
      throw new IllegalStateException("Postgres gave jsonb that is no JSON", exception);
    }
  }

  private static boolean hasRuns(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement(
                """
                SELECT 1 FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace
                  ON pg_namespace.oid = pg_class.relnamespace
                WHERE pg_namespace.nspname = 'control' AND pg_class.relname = 'run'
                """);
        ResultSet row = statement.executeQuery()) {
      return row.next();
    }
  }
}
