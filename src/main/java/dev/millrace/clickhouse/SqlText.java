package dev.millrace.clickhouse;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.UUID;

/** Values in the text of a statement. */
final class SqlText {
  private SqlText() {}

  /** Returns text as a string literal. */
  static String literal(String text) {
    return '\'' + text.replace("\\", "\\\\").replace("'", "\\'") + '\'';
  }

  /**
   * Puts values in the places of the question marks that stand outside of quotes.
   *
   * @param sql a statement without comments
   * @param values a String, UUID, Boolean or number for each question mark, in order
   * @throws IllegalArgumentException when their numbers differ, or for another type
   */
  static String fill(String sql, Object... values) {
    StringBuilder filled = new StringBuilder(sql.length() + 32);
    int next = 0;
    int position = 0;
    while (position < sql.length()) {
      char character = sql.charAt(position);
      if (character == '?') {
        if (next == values.length) {
          throw new IllegalArgumentException("more question marks than values: " + sql);
        }
        filled.append(value(values[next++]));
        position++;
      } else {
        int end = endOfToken(sql, position);
        filled.append(sql, position, end);
        position = end;
      }
    }
    if (next != values.length) {
      throw new IllegalArgumentException("fewer question marks than values: " + sql);
    }
    return filled.toString();
  }

  private static String value(Object value) {
    if (value instanceof String || value instanceof UUID) {
      return literal(value.toString());
    }
    if (value instanceof BigDecimal decimal) {
      return decimal.toPlainString();
    }
    if (value instanceof Integer
        || value instanceof Long
        || value instanceof BigInteger
        || value instanceof Boolean) {
      return value.toString();
    }
    throw new IllegalArgumentException("no literal for " + value);
  }

  /**
   * Returns the position after the quoted text that begins at a position, or after its one
   * character.
   */
  static int endOfToken(String sql, int start) {
    char quote = sql.charAt(start);
    if (quote != '\'' && quote != '`' && quote != '"') {
      return start + 1;
    }
    int position = start + 1;
    while (position < sql.length() && sql.charAt(position) != quote) {
      position += sql.charAt(position) == '\\' ? 2 : 1;
    }
    return Math.min(position + 1, sql.length());
  }
}
