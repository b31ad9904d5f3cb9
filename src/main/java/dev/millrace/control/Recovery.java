package dev.millrace.control;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.NullNode;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a start does for runs before it: ships what they left, and closes those that died. */
public final class Recovery {
  private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);
  private static final JsonMapper JSON = new JsonMapper();

  private Recovery() {}

  /**
   * A run that has not ended as far as the projection knows.
   *
   * @param runId its id
   * @param extra what was recorded at its start; a JSON null for nothing
   */
  public record Unfinished(String runId, JsonNode extra) {}

  /**
   * What a replay did.
   *
   * @param records records shipped
   * @param rejected lines that can't be shipped and are set aside
   * @param failed files that could not be shipped now
   */
  public record Replayed(long records, long rejected, int failed) {}

  /**
   * Ships what is left in logs of other runs. A run that is alive ships its own log, so that two
   * never write one offset. A log that fails is reported and does not stop the others, unless
   * Postgres is away or a table is locked: then the rest is left to the next replay.
   *
   * @param logs the logs of other runs, of this host
   * @param anewSince logs of runs that the database does not know are shipped from their beginning
   *     when they were appended to since then: a database that was made anew, or restored, lacks
   *     runs that an offset calls shipped
   */
  public static Replayed replay(
      ControlDatabase database, Shipper shipper, List<WalFile> logs, Instant anewSince) {
    if (logs.isEmpty()) {
      return new Replayed(0, 0, 0);
    }
    Set<String> alive = new HashSet<>(database.transact(Recovery::shippedByTheirOwners));
    Set<String> known = known(database, logs, anewSince);
    long records = 0;
    long rejected = 0;
    int failed = 0;
    for (WalFile log : logs) {
      if (alive.contains(log.runId())) {
        continue;
      }
      try {
        Shipper.Shipped shipped = shipper.ship(log, !known.contains(log.runId()));
        records += shipped.records();
        rejected += shipped.rejected();
      } catch (MillraceException exception) {
        failed++;
        LOG.warn(
            "{} could not be shipped and stays as it is: {} {}",
            log.path(),
            exception.code(),
            exception.getMessage());
        if (exception.code() == ErrorCode.POSTGRES_UNAVAILABLE) {
          // Each other log would wait as long, and a start must not.
          break;
        }
      }
    }
    return new Replayed(records, rejected, failed);
  }

  /** Runs of Temporal move from host to host, so each host ships what it holds of them. */
  private static List<String> shippedByTheirOwners(Connection connection) throws SQLException {
    try (PreparedStatement statement =
            connection.prepareStatement(
                """
                SELECT lease.run_id
                FROM control.lease LEFT JOIN control.run USING (run_id)
                WHERE lease.lease_expires_at >= now()
                  AND run.extra -> 'temporal' IS NULL
                """);
        ResultSet row = statement.executeQuery()) {
      return texts(row);
    }
  }

  private static Set<String> known(
      ControlDatabase database, List<WalFile> logs, Instant anewSince) {
    List<String> ids = new ArrayList<>();
    Set<String> known = new HashSet<>();
    for (WalFile log : logs) {
      if (log.changedAt().isBefore(anewSince)) {
        known.add(log.runId());
      } else {
        ids.add(log.runId());
      }
    }
    if (ids.isEmpty()) {
      return known;
    }
    known.addAll(
        database.transact(
            connection -> {
              try (PreparedStatement statement =
                  connection.prepareStatement(
                      "SELECT run_id FROM control.run WHERE run_id = ANY (?)")) {
                statement.setArray(1, connection.createArrayOf("text", ids.toArray()));
                try (ResultSet row = statement.executeQuery()) {
                  return texts(row);
                }
              }
            }));
    return known;
  }

  private static List<String> texts(ResultSet row) throws SQLException {
    List<String> texts = new ArrayList<>();
    while (row.next()) {
      texts.add(row.getString(1));
    }
    return texts;
  }

  /**
   * Returns the other runs of an extractor that have not ended.
   *
   * @param runId the run that asks
   */
  public static List<Unfinished> unfinished(Connection connection, String extractor, String runId)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT run_id, extra::text FROM control.run
            WHERE extractor = ? AND finished_at IS NULL AND run_id <> ?
            ORDER BY started_at
            """)) {
      statement.setString(1, extractor);
      statement.setString(2, runId);
      try (ResultSet row = statement.executeQuery()) {
        List<Unfinished> runs = new ArrayList<>();
        while (row.next()) {
          runs.add(new Unfinished(row.getString(1), json(row.getString(2))));
        }
        return runs;
      }
    }
  }

  private static JsonNode json(String text) {
    try {
      return text == null ? NullNode.getInstance() : JSON.readTree(text);
    } catch (JsonProcessingException exception) {
      throw new IllegalStateException("Postgres gave jsonb that is no JSON", exception);
    }
  }

  /**
   * Marks runs as died; only who holds the extractor's lease may, for then none of them is alive.
   *
   * @param reconciledBy the run that found them
   * @param dead ids of runs of the same extractor; one that has ended in the meantime is left alone
   * @return how many were marked
   */
  public static int markDead(
      Connection connection, String extractor, String reconciledBy, Collection<String> dead)
      throws SQLException {
    if (dead.isEmpty()) {
      return 0;
    }
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            UPDATE control.run
            SET status = 'died', stop_reason = 'died', finished_at = now(), reconciled_by = ?
            WHERE extractor = ? AND run_id = ANY (?) AND finished_at IS NULL
            """)) {
      statement.setString(1, reconciledBy);
      statement.setString(2, extractor);
      statement.setArray(3, connection.createArrayOf("text", dead.toArray()));
      return statement.executeUpdate();
    }
  }
}
