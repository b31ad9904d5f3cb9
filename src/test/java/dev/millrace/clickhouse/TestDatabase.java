package dev.millrace.clickhouse;

import java.time.Duration;
import java.util.UUID;

/** An Atomic database of its own for each test class. Stateless. */
final class TestDatabase {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private TestDatabase() {}

  /** Makes a database and returns a table name in it. */
  static TargetTable create(ClickHouse clickhouse) {
    TargetTable table =
        new TargetTable("it_" + UUID.randomUUID().toString().substring(0, 8), "table");
    clickhouse.execute(
        "CREATE DATABASE %s ENGINE = Atomic"
            .formatted(ClickHouseIdentifiers.quote(table.database())),
        id(),
        MINUTE);
    return table;
  }

  static void drop(ClickHouse clickhouse, TargetTable table) {
    clickhouse.execute(
        "DROP DATABASE " + ClickHouseIdentifiers.quote(table.database()), id(), MINUTE);
  }

  static void run(ClickHouse clickhouse, String sql) {
    clickhouse.execute(sql, id(), MINUTE);
  }

  private static String id() {
    return "test-" + UUID.randomUUID();
  }
}
