package dev.millrace.clickhouse;

/**
 * Regular expressions, in RE2's syntax, for texts of queries. The server tells no tables of them.
 */
final class QueryText {
  private static final String START = "(^|[^0-9A-Za-z_])";
  private static final String END = "([^0-9A-Za-z_]|$)";

  private QueryText() {}

  /** Matches text that names a table, whatever its database. */
  static String naming(TargetTable table) {
    return START + literal(table.table()) + END;
  }

  /** Matches text that names a target or one of the tables beside it. */
  static String namingAnyOf(TargetTable live) {
    return START + literal(live.table()) + ShadowNames.beside() + "?" + END;
  }

  /** Matches an INSERT into a table, whatever its database. */
  static String insertingInto(TargetTable table) {
    return "(?is)insert\\s+into\\s+(table\\s+)?([^\\s.(]+\\s*\\.\\s*)?[`\"]?"
        + literal(table.table())
        + END;
  }

  private static String literal(String text) {
    return "\\Q" + text.replace("\\E", "\\E\\\\E\\Q") + "\\E";
  }
}
