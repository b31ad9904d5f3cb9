package dev.millrace.clickhouse;

/** The one place that puts names into ClickHouse's SQL. */
public final class ClickHouseIdentifiers {
  private ClickHouseIdentifiers() {}

  /**
   * Returns the name as a quoted identifier; see <a
   * href="https://clickhouse.com/docs/sql-reference/syntax#identifiers">identifiers</a>.
   *
   * @param name a name as the catalogue has it
   */
  public static String quote(String name) {
    return '`' + name.replace("\\", "\\\\").replace("`", "\\`") + '`';
  }
}
