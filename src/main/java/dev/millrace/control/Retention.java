package dev.millrace.control;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How long things are kept; nothing is removed unless it says so.
 *
 * @param logs how long a log that is wholly shipped is kept after its last record
 * @param runs how long a run of Millrace, its events and its budgets are kept after its end
 */
public record Retention(Optional<Duration> logs, Optional<Duration> runs) {
  /** Keeps everything. */
  public static final Retention NONE = new Retention(Optional.empty(), Optional.empty());

  /**
   * Removes logs whose every line is in Postgres. A log with a line that was set aside stays: a
   * person has to look at it.
   *
   * @param walFolder the folder of all extractors
   * @param before the last append to a log that is old
   * @return how many logs were removed
   * @throws MillraceException with {@code WAL_UNWRITABLE}
   */
  public static int removeLogs(Path walFolder, Instant before) {
    int removed = 0;
    for (WalFile log : WalFile.in(walFolder)) {
      if (isOver(log, before)) {
        remove(log);
        removed++;
      }
    }
    return removed;
  }

  private static boolean isOver(WalFile log, Instant before) {
    return log.changedAt().isBefore(before)
        && Shipper.unshipped(log) == 0
        && RejectedLines.count(log) == 0;
  }

  private static void remove(WalFile log) {
    try {
      // The log first: an offset without a log does no harm.
      Files.deleteIfExists(log.path());
      Files.deleteIfExists(log.offsetPath());
    } catch (IOException exception) {
      throw unremovable(log, exception);
    }
  }

  private static MillraceException unremovable(WalFile log, IOException cause) {
    return new MillraceException(
        ErrorCode.WAL_UNWRITABLE,
        "%s is old and can't be removed: %s; check the rights on its folder"
            .formatted(log.path(), cause),
        cause);
  }

  /**
   * Removes an extractor's runs that ended long ago, with their events and budgets.
   *
   * @param keep how long they are kept after their end
   * @return how many runs were removed
   */
  public static int removeRuns(Connection connection, String extractor, Duration keep)
      throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            WITH old AS (
              DELETE FROM control.run
              WHERE extractor = ? AND finished_at < now() - make_interval(secs => ?)
              RETURNING run_id
            ), events AS (
              DELETE FROM control.event USING old WHERE event.run_id = old.run_id AND extractor = ?
            ), budgets AS (
              DELETE FROM control.budget_usage AS budget USING old
              WHERE budget.run_id = old.run_id AND extractor = ?
            )
            SELECT count(*) FROM old
            """)) {
      statement.setString(1, extractor);
      statement.setLong(2, keep.toSeconds());
      statement.setString(3, extractor);
      statement.setString(4, extractor);
      try (var row = statement.executeQuery()) {
        row.next();
        return row.getInt(1);
      }
    }
  }

  /** Removes runs that Millrace made; those of other writers of the schema are theirs to remove. */
  static int removeRuns(Connection connection, Duration keep) throws SQLException {
    List<String> extractors = new ArrayList<>();
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT DISTINCT extractor FROM control.run
            WHERE extra -> 'temporal' IS NOT NULL
              AND finished_at < now() - make_interval(secs => ?)
            """)) {
      statement.setLong(1, keep.toSeconds());
      try (ResultSet row = statement.executeQuery()) {
        while (row.next()) {
          extractors.add(row.getString(1));
        }
      }
    }
    int removed = 0;
    for (String extractor : extractors) {
      removed += removeRuns(connection, extractor, keep);
    }
    return removed;
  }
}
