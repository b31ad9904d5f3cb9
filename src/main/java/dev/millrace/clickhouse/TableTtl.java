package dev.millrace.clickhouse;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** The TTL clause of a table, as far as it removes rows. */
final class TableTtl {
  /** What moves or packs rows, but keeps them. */
  private static final Pattern KEEPING = Pattern.compile("\\b(TO DISK|TO VOLUME|RECOMPRESS)\\b");

  private TableTtl() {}

  /**
   * Returns the parts of the clause that delete or aggregate rows. A part without an action
   * deletes.
   *
   * @param engineFull as in system.tables
   */
  static List<String> removing(String engineFull) {
    return ClickHouseType.split(clause(engineFull)).stream()
        .filter(part -> !KEEPING.matcher(outside(part)).find())
        .toList();
  }

  private static String clause(String engineFull) {
    String outside = outside(engineFull);
    int start = outside.indexOf(" TTL ");
    if (start < 0) {
      return "";
    }
    int end = outside.indexOf(" SETTINGS ", start);
    return engineFull.substring(start + " TTL ".length(), end < 0 ? engineFull.length() : end);
  }

  /** Returns text of the same length in which quoted and bracketed text is blanked out. */
  private static String outside(String text) {
    StringBuilder outside = new StringBuilder(text.length());
    int depth = 0;
    int position = 0;
    while (position < text.length()) {
      char character = text.charAt(position);
      int end = SqlText.endOfToken(text, position);
      depth += character == '(' ? 1 : 0;
      boolean kept = depth == 0 && end == position + 1;
      depth -= character == ')' ? 1 : 0;
      outside.append(kept ? String.valueOf(character) : "_".repeat(end - position));
      position = end;
    }
    return outside.toString().toUpperCase(Locale.ROOT);
  }
}
