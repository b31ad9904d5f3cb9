package dev.millrace.refresh;

import dev.millrace.clickhouse.ClickHouse;
import dev.millrace.clickhouse.ClickHouseSettings;
import dev.millrace.clickhouse.TargetTable;
import dev.millrace.dev.ClickHouseServer;
import dev.millrace.testing.TestStack;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

/** A database of its own on the real ClickHouse of the tests; for one thread. */
final class Warehouse implements AutoCloseable {
  static final Duration LIMIT = Duration.ofMinutes(5);

  private final ClickHouse client;
  private final String database = "refresh_" + UUID.randomUUID().toString().substring(0, 8);

  private Warehouse(ClickHouse client) {
    this.client = client;
  }

  /** Makes the database; where no ClickHouse can be had the test is skipped. */
  static Warehouse create() {
    ClickHouseServer server = TestStack.clickHouse();
    return create(server.host(), server.httpPort(), server.adminUser(), server.adminPassword());
  }

  static Warehouse create(String host, int port, String user, String password) {
    Warehouse warehouse =
        new Warehouse(
            new ClickHouse(
                new ClickHouseSettings(
                    "warehouse",
                    host,
                    port,
                    false,
                    user,
                    password,
                    Duration.ofSeconds(5),
                    LIMIT,
                    LIMIT)));
    warehouse.execute("CREATE DATABASE %s ENGINE = Atomic".formatted(warehouse.database));
    return warehouse;
  }

  ClickHouse client() {
    return client;
  }

  TargetTable table(String name) {
    return new TargetTable(database, name);
  }

  void execute(String sql) {
    client.execute(sql, id(), LIMIT);
  }

  void insert(String into, ClickHouse.Body body) {
    client.insert(into, id(), LIMIT, body);
  }

  /** Returns the first column as text, row by row. */
  List<String> column(String sql) {
    return client.query(sql, row -> row.text(1));
  }

  long count(TargetTable table) {
    return client.query("SELECT count() FROM " + table.sql(), row -> row.number(1)).get(0);
  }

  static String id() {
    return "test-" + UUID.randomUUID();
  }

  @Override
  public void close() {
    execute("DROP DATABASE " + database);
    client.close();
  }
}
