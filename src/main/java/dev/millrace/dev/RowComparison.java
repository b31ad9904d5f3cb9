package dev.millrace.dev;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Compares two results row by row and value by value, without holding either in memory.
 *
 * <p>Both have the same columns as texts, the key first, ordered by the key's code units. NULL
 * equals NULL only. Not thread-safe.
 */
final class RowComparison {
  private static final int LONGEST_SHOWN = 60;

  private final ResultSet table;
  private final ResultSet lake;
  private final List<String> columns;
  private long rows;

  /**
   * Prepares a comparison.
   *
   * @param columns names of the columns, in the order of both results
   */
  RowComparison(ResultSet table, ResultSet lake, List<String> columns) {
    this.table = table;
    this.lake = lake;
    this.columns = List.copyOf(columns);
  }

  /** Returns how many rows were found equal so far. */
  long rows() {
    return rows;
  }

  /** Reads both to their ends and returns the first difference in words; empty when equal. */
  Optional<String> firstDifference() throws SQLException {
    while (true) {
      List<String> expected = next(table);
      List<String> found = next(lake);
      if (expected == null && found == null) {
        return Optional.empty();
      }
      Optional<String> difference = difference(expected, found);
      if (difference.isPresent()) {
        return difference;
      }
      rows++;
    }
  }

  private List<String> next(ResultSet result) throws SQLException {
    if (!result.next()) {
      return null;
    }
    List<String> row = new ArrayList<>(columns.size());
    for (int column = 1; column <= columns.size(); column++) {
      row.add(result.getString(column));
    }
    return row;
  }

  private Optional<String> difference(List<String> expected, List<String> found) {
    int order = order(expected, found);
    if (order < 0) {
      return Optional.of("the lake lacks the row " + shown(expected));
    }
    if (order > 0) {
      return Optional.of("the lake has a row more: " + shown(found));
    }
    for (int column = 0; column < columns.size(); column++) {
      String wanted = expected.get(column);
      String got = found.get(column);
      if (wanted == null ? got != null : !wanted.equals(got)) {
        return Optional.of(
            "the row with %s %s has %s %s in the table and %s in the lake"
                .formatted(
                    columns.get(0),
                    expected.get(0),
                    columns.get(column),
                    shown(wanted),
                    shown(got)));
      }
    }
    return Optional.empty();
  }

  /** Negative where only the table has this key, positive where only the lake has. */
  private static int order(List<String> expected, List<String> found) {
    if (found == null) {
      return -1;
    }
    if (expected == null) {
      return 1;
    }
    return expected.get(0).compareTo(found.get(0));
  }

  private String shown(List<String> row) {
    List<String> values = new ArrayList<>(row.size());
    for (int column = 0; column < row.size(); column++) {
      values.add(columns.get(column) + " " + shown(row.get(column)));
    }
    return String.join(", ", values);
  }

  private static String shown(String value) {
    if (value == null) {
      return "NULL";
    }
    if (value.length() > LONGEST_SHOWN) {
      return "'" + value.substring(0, LONGEST_SHOWN) + "…'";
    }
    return "'" + value + "'";
  }
}
