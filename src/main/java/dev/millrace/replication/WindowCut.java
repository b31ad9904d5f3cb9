package dev.millrace.replication;

import dev.millrace.postgres.Identifiers;
import dev.millrace.postgres.QueryPlan;
import dev.millrace.postgres.SelectQuery;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.util.List;
import java.util.Optional;

/** Where a window of many rows is cut: at a key that is there, so no piece is empty. */
final class WindowCut {
  /** Watermarks are written with four digits of the year. */
  private static final Instant FIRST = Instant.parse("0001-01-01T00:00:00Z");

  private static final Instant LAST = Instant.parse("9999-12-30T00:00:00Z");

  private WindowCut() {}

  /**
   * Returns the part of the window that has about so many rows, or all of it.
   *
   * @param rows at least 1; rows with equal keys stay together
   */
  static Window of(Connection connection, SourceTable table, Window window, long rows, ZoneId zone)
      throws SQLException {
    String condition = Bounds.condition(window, table.key().name(), zone, false);
    String keys = table.rows().select(List.of(table.key()), condition, false);
    // Counting to the cut costs a walk along the index, which small tables need not pay. How many
    // rows a range or a filter has is a guess without statistics; how many the table has is not.
    String all = SelectQuery.text(table.relation(), List.of(table.key()), null);
    if (QueryPlan.of(connection, all).rows() < rows * 0.75) {
      return window;
    }
    String column = Identifiers.quote(table.key().name());
    String sql =
        "SELECT %s FROM (%s) AS keys ORDER BY 1 OFFSET %d LIMIT 1"
            .formatted(column, keys, rows - 1);
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      if (!row.next()) {
        return window;
      }
      return key(row, window.kind(), zone)
          .filter(cut -> Watermark.compare(window.kind(), cut, window.high()) < 0)
          .map(cut -> new Window(window.kind(), window.low(), cut))
          .orElse(window);
    }
  }

  /**
   * Returns a key as a watermark; nothing where it is out of the range that those are written in.
   */
  private static Optional<String> key(ResultSet row, KeyKind kind, ZoneId zone)
      throws SQLException {
    return switch (kind) {
      case TIMESTAMPTZ -> time(row.getObject(1, OffsetDateTime.class).toInstant());
      case TIMESTAMP -> time(row.getObject(1, LocalDateTime.class).atZone(zone).toInstant());
      case NUMBER -> number(row.getString(1));
    };
  }

  private static Optional<String> number(String text) {
    try {
      return Optional.of(Watermark.of(new BigDecimal(text)));
    } catch (NumberFormatException exception) {
      return Optional.empty();
    }
  }

  private static Optional<String> time(Instant instant) {
    return instant.isBefore(FIRST) || instant.isAfter(LAST)
        ? Optional.empty()
        : Optional.of(Watermark.of(instant));
  }
}
