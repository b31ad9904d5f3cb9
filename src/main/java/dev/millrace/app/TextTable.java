package dev.millrace.app;

import java.util.ArrayList;
import java.util.List;

/** Rows of text in columns as wide as their longest value. Not thread-safe. */
final class TextTable {
  private static final String GAP = "  ";

  private final List<String[]> rows = new ArrayList<>();
  private final int[] widths;

  TextTable(String... headings) {
    widths = new int[headings.length];
    add(headings);
  }

  void add(String... values) {
    for (int column = 0; column < widths.length; column++) {
      widths[column] = Math.max(widths[column], values[column].length());
    }
    rows.add(values);
  }

  /** Returns the lines, each with its line feed. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (String[] row : rows) {
      StringBuilder line = new StringBuilder();
      for (int column = 0; column < widths.length; column++) {
        line.append(row[column]);
        line.append(" ".repeat(widths[column] - row[column].length())).append(GAP);
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }
}
