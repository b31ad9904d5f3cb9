package dev.millrace.refresh;

/**
 * A ClickHouse table, as the state knows it.
 *
 * @param clickhouse the configured connection
 * @param database its database
 * @param table its name
 */
record TargetKey(String clickhouse, String database, String table) {
  static TargetKey of(RefreshInput input) {
    return new TargetKey(input.clickhouse(), input.targetDatabase(), input.targetTable());
  }

  /** Returns the key of the state as the seed flow writes it. */
  String seedKey() {
    return "clickhouse_dim_refresh_%s_%s".formatted(database, table);
  }

  @Override
  public String toString() {
    return "%s.%s of ClickHouse '%s'".formatted(database, table, clickhouse);
  }
}
