package dev.millrace.clickhouse;

import dev.millrace.dev.ClickHouseServer;
import dev.millrace.testing.TestStack;
import java.time.Duration;
import java.util.UUID;

/** An Atomic database of its own for a test class, and a client that may do all. Thread-safe. */
final class TestDatabase implements AutoCloseable {
  static final Duration MINUTE = Duration.ofMinutes(1);

  private final ClickHouse clickhouse;
  private final String name;

  private TestDatabase(ClickHouse clickhouse, String name) {
    this.clickhouse = clickhouse;
    this.name = name;
  }

  static TestDatabase create() {
    ClickHouse clickhouse = new ClickHouse(settings());
    TestDatabase database =
        new TestDatabase(clickhouse, "it_" + UUID.randomUUID().toString().substring(0, 8));
    database.run("CREATE DATABASE %s ENGINE = Atomic".formatted(database.name));
    return database;
  }

  /** Returns settings with generous limits. */
  static ClickHouseSettings settings() {
    ClickHouseServer server = TestStack.clickHouse();
    return new ClickHouseSettings(
        "warehouse",
        server.host(),
        server.httpPort(),
        false,
        server.user(),
        server.password(),
        Duration.ofSeconds(5),
        Duration.ofSeconds(60),
        Duration.ofMinutes(2));
  }

  ClickHouse clickhouse() {
    return clickhouse;
  }

  TargetTable table(String table) {
    return new TargetTable(name, table);
  }

  /** Makes a MergeTree table without order. */
  TargetTable create(String table, String columns) {
    TargetTable made = table(table);
    run("CREATE TABLE %s (%s) ENGINE = MergeTree ORDER BY tuple()".formatted(made.sql(), columns));
    return made;
  }

  void run(String sql) {
    clickhouse.execute(sql, id(), MINUTE);
  }

  long count(TargetTable table) {
    return clickhouse.query("SELECT count() FROM " + table.sql(), row -> row.number(1)).get(0);
  }

  static String id() {
    return "test-" + UUID.randomUUID();
  }

  static String token() {
    return UUID.randomUUID().toString().replace("-", "").substring(0, ShadowNames.TOKEN_LENGTH);
  }

  @Override
  public void close() {
    run("DROP DATABASE " + name);
    clickhouse.close();
  }
}
