package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The dimension of {@code millrace demo}: the shop's products in Postgres, and their copy in
 * ClickHouse, read without any code of the refresh. Not thread-safe.
 */
final class DemoDimension {
  /** The source, as people write it. */
  static final String SOURCE = "shop.products";

  /** The live table, as people write it. */
  static final String TARGET = "analytics.products";

  /** Rows after the first load. */
  static final int ROWS = 5_000;

  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private static final String MAKE_SOURCE =
      """
      DROP TABLE IF EXISTS shop.products;
      CREATE TABLE shop.products (
        id bigint PRIMARY KEY,
        sku text NOT NULL,
        name text,
        price_cents integer NOT NULL,
        weight numeric(8,3),
        updated_at timestamptz NOT NULL
      );
      """;

  private static final String ADD =
      """
      INSERT INTO shop.products
      SELECT i, 'SKU-' || i, CASE WHEN i %% 9 > 0 THEN 'Product ' || i END, i * 31 %% 9000,
        CASE WHEN i %% 5 > 0 THEN i * 17 %% 90000 / 1000.0 END, now() - interval '1 day'
      FROM generate_series(%d, %d) AS i
      """;

  private static final List<String> MAKE_TARGET =
      List.of(
          "DROP TABLE IF EXISTS analytics.products SYNC",
          "DROP TABLE IF EXISTS analytics.products__refresh SYNC",
          """
          CREATE TABLE analytics.products (
            id Int64,
            sku String,
            name Nullable(String),
            price_cents Int32,
            weight Nullable(Decimal(8, 3)),
            updated_at DateTime64(6, 'UTC')
          ) ENGINE = MergeTree ORDER BY id
          """);

  private static final String SOURCE_ROWS =
      """
      SELECT concat_ws(chr(9), id, sku, coalesce(name, '\\N'), price_cents,
        coalesce(weight::text, '\\N'), (extract(epoch FROM updated_at) * 1000000)::bigint)
      FROM shop.products ORDER BY id
      """;

  private static final String TARGET_ROWS =
      """
      SELECT id, sku, name, price_cents, toDecimalString(weight, 3),
        toUnixTimestamp64Micro(updated_at)
      FROM analytics.products ORDER BY id FORMAT TabSeparated
      """;

  private final Connection postgres;
  private final ClickHouseServer clickHouse;
  private final HttpClient client = HttpClient.newHttpClient();

  private DemoDimension(Connection postgres, ClickHouseServer clickHouse) {
    this.postgres = postgres;
    this.clickHouse = clickHouse;
  }

  /** Makes both tables, the source with its rows. */
  static DemoDimension make(Connection postgres, ClickHouseServer clickHouse) throws SQLException {
    DemoDimension dimension = new DemoDimension(postgres, clickHouse);
    dimension.execute(MAKE_SOURCE);
    dimension.add(1, ROWS);
    for (String statement : MAKE_TARGET) {
      dimension.ask(statement);
    }
    return dimension;
  }

  /** Adds products. */
  void add(int first, int last) throws SQLException {
    execute(ADD.formatted(first, last));
  }

  /** Changes the price of products up to a number. */
  void reprice(int last) throws SQLException {
    execute(
        "UPDATE shop.products SET price_cents = price_cents + 1, updated_at = now() WHERE id <= "
            + last);
  }

  /** Deletes the products after a number. */
  void deleteAfter(int last) throws SQLException {
    execute("DELETE FROM shop.products WHERE id > " + last);
  }

  /** Returns the live rows, one line each. */
  List<String> live() {
    return ask(TARGET_ROWS).lines().toList();
  }

  /** Returns the first difference between the live table and its source. */
  Optional<String> difference() throws SQLException {
    List<String> wanted = source();
    List<String> found = live();
    for (int i = 0; i < Math.max(wanted.size(), found.size()); i++) {
      String there = i < found.size() ? found.get(i) : "no row";
      String should = i < wanted.size() ? wanted.get(i) : "no row";
      if (!there.equals(should)) {
        return Optional.of("Postgres has '%s', ClickHouse has '%s'".formatted(should, there));
      }
    }
    return Optional.empty();
  }

  private List<String> source() throws SQLException {
    List<String> rows = new ArrayList<>();
    try (Statement statement = postgres.createStatement();
        ResultSet row = statement.executeQuery(SOURCE_ROWS)) {
      while (row.next()) {
        rows.add(row.getString(1));
      }
    }
    return rows;
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = postgres.createStatement()) {
      statement.execute(sql);
    }
  }

  private String ask(String sql) {
    URI url =
        URI.create(
            "http://127.0.0.1:%d/?user=%s&password=%s"
                .formatted(
                    clickHouse.httpPort(),
                    encoded(clickHouse.user()),
                    encoded(clickHouse.password())));
    try {
      HttpResponse<String> response =
          client.send(
              HttpRequest.newBuilder(url)
                  .timeout(TIMEOUT)
                  .POST(HttpRequest.BodyPublishers.ofString(sql))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() != 200) {
        throw new MillraceException(
            ErrorCode.STACK_FAILED, "ClickHouse refused the demo: " + response.body().strip());
      }
      return response.body();
    } catch (IOException e) {
      throw new MillraceException(ErrorCode.STACK_FAILED, "ClickHouse does not answer: " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MillraceException(ErrorCode.STACK_FAILED, "The demo was interrupted", e);
    }
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
