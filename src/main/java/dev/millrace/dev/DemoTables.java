package dev.millrace.dev;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The tables of {@code millrace demo}: a small shop, with columns of many types, NULLs beside empty
 * texts, and an indexed {@code updated_at}.
 *
 * <p>The content is the same in each demo: all of it comes from row numbers. Stateless.
 */
final class DemoTables {
  /** Their names, as people write them. */
  static final List<String> NAMES = List.of("shop.customers", "shop.orders", "shop.payments");

  /** The primary key of each. */
  static final String KEY = "id";

  /** What tells a row's versions apart. */
  static final String UPDATE_KEY = "updated_at";

  /** Least number of orders, so that the changes touch at least one row of each table. */
  static final int LEAST_ORDERS = 1000;

  private static final String TABLES =
      """
      CREATE SCHEMA shop;
      CREATE TABLE shop.customers (
        id bigint PRIMARY KEY,
        email text NOT NULL,
        name text NOT NULL,
        birth_date date,
        newsletter boolean,
        credit_limit numeric(12,2),
        preferences jsonb NOT NULL,
        updated_at timestamptz NOT NULL
      );
      CREATE TABLE shop.orders (
        id bigint PRIMARY KEY,
        customer_id bigint NOT NULL,
        reference uuid NOT NULL,
        status text NOT NULL,
        total numeric(12,2) NOT NULL,
        is_gift boolean NOT NULL,
        note text,
        items jsonb NOT NULL,
        ordered_on date NOT NULL,
        shipped_at timestamptz,
        updated_at timestamptz NOT NULL
      );
      CREATE TABLE shop.payments (
        id uuid PRIMARY KEY,
        order_id bigint NOT NULL,
        amount numeric(12,2) NOT NULL,
        method text NOT NULL,
        refunded boolean,
        details jsonb,
        paid_on date,
        updated_at timestamptz NOT NULL
      );
      """;

  /** Rows are up to 90 days old; {@code %1$s} and {@code %2$s} are the first and last number. */
  private static final String CUSTOMERS =
      """
      INSERT INTO shop.customers
      SELECT i, 'customer' || i || '@shop.example',
        (ARRAY['Ada','Zoë','José','Łukasz','Мария','陽子'])[1 + i %% 6] || ' ' || i,
        CASE WHEN i %% 7 > 0 THEN date '1940-01-01' + (i * 37 %% 25000)::int END,
        CASE i %% 3 WHEN 0 THEN true WHEN 1 THEN false END,
        CASE WHEN i %% 4 > 0 THEN i * 7919 %% 1000000 / 100.0 END,
        jsonb_build_object('language', (ARRAY['en','de','lt'])[1 + i %% 3], 'dark', i %% 2 = 0),
        %3$s
      FROM generate_series(%1$d::bigint, %2$d) AS i
      """;

  private static final String ORDERS =
      """
      INSERT INTO shop.orders
      SELECT i, 1 + i * 31 %% 20000, md5('order' || i)::uuid,
        (ARRAY['new','paid','shipped','returned'])[1 + i %% 4],
        i * 104729 %% 9999999 / 100.0,
        i %% 10 = 0,
        CASE i %% 5 WHEN 0 THEN '' WHEN 1 THEN 'leave it at the door, "left" side' END,
        jsonb_build_array(jsonb_build_object('sku', 'A-' || i %% 500, 'count', 1 + i %% 9)),
        current_date - (i %% 90)::int,
        CASE WHEN i %% 4 > 1 THEN now() - i %% 90 * interval '1 day' END,
        %3$s
      FROM generate_series(%1$d::bigint, %2$d) AS i
      """;

  private static final String PAYMENTS =
      """
      INSERT INTO shop.payments
      SELECT md5('payment' || i)::uuid, i,
        i * 104729 %% 9999999 / 100.0,
        (ARRAY['card','transfer','voucher'])[1 + i %% 3],
        CASE WHEN i %% 8 > 0 THEN i %% 50 = 0 END,
        CASE WHEN i %% 3 = 0 THEN jsonb_build_object('last4', lpad((i %% 10000)::text, 4, '0')) END,
        CASE WHEN i %% 6 > 0 THEN current_date - (i %% 90)::int END,
        %3$s
      FROM generate_series(%1$d::bigint, %2$d) AS i
      """;

  private static final String OLD =
      "now() - i * 7 % 7776000 * interval '1 second' - interval '1 hour'";

  private DemoTables() {}

  /** Returns whether the tables are there, from an earlier demo in the same data folder. */
  static boolean exist(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT to_regclass('shop.payments') IS NOT NULL")) {
      row.next();
      return row.getBoolean(1);
    }
  }

  /**
   * Makes and fills the tables in one transaction.
   *
   * @param orders rows of {@code shop.orders}; the others have fewer
   */
  static void create(Connection connection, int orders) throws SQLException {
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.execute(TABLES);
      statement.execute(rows(CUSTOMERS, 1, orders / 10, OLD));
      statement.execute(rows(ORDERS, 1, orders, OLD));
      statement.execute(rows(PAYMENTS, 1, orders / 4L * 3, OLD));
      for (String table : NAMES) {
        statement.execute("CREATE INDEX ON " + table + " (" + UPDATE_KEY + ")");
      }
      connection.commit();
    }
    connection.setAutoCommit(true);
    try (Statement statement = connection.createStatement()) {
      statement.execute("VACUUM ANALYZE shop.customers, shop.orders, shop.payments");
    }
  }

  /**
   * Updates and inserts rows, all with a new {@code updated_at}.
   *
   * @return by table, what was done in words
   */
  static Map<String, String> change(Connection connection) throws SQLException {
    Map<String, String> done = new LinkedHashMap<>();
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      int moved =
          statement.executeUpdate(
              """
              UPDATE shop.customers
              SET email = 'new-' || email, newsletter = NULL, updated_at = now()
              WHERE id % 40 = 0
              """);
      done.put(NAMES.get(0), String.format(Locale.ROOT, "%,d updated", moved));
      int shipped =
          statement.executeUpdate(
              """
              UPDATE shop.orders
              SET status = 'shipped', shipped_at = now(), note = nullif(note, ''), updated_at = now()
              WHERE id % 100 = 0
              """);
      long orders = count(statement, NAMES.get(1));
      int ordered =
          statement.executeUpdate(rows(ORDERS, orders + 1, orders + orders / 200, "now()"));
      done.put(
          NAMES.get(1), String.format(Locale.ROOT, "%,d updated, %,d inserted", shipped, ordered));
      int refunded =
          statement.executeUpdate(
              """
              UPDATE shop.payments
              SET refunded = true, amount = -amount, updated_at = now()
              WHERE order_id % 150 = 0
              """);
      int paid =
          statement.executeUpdate(rows(PAYMENTS, orders + 1, orders + orders / 400, "now()"));
      done.put(
          NAMES.get(2), String.format(Locale.ROOT, "%,d updated, %,d inserted", refunded, paid));
      connection.commit();
    }
    connection.setAutoCommit(true);
    return done;
  }

  /** Returns the number of rows of each table. */
  static Map<String, Long> counts(Connection connection) throws SQLException {
    Map<String, Long> counts = new LinkedHashMap<>();
    try (Statement statement = connection.createStatement()) {
      for (String table : NAMES) {
        counts.put(table, count(statement, table));
      }
    }
    return counts;
  }

  private static long count(Statement statement, String table) throws SQLException {
    try (ResultSet row = statement.executeQuery("SELECT count(*) FROM " + table)) {
      row.next();
      return row.getLong(1);
    }
  }

  private static String rows(String insert, long first, long last, String updatedAt) {
    return insert.formatted(first, last, updatedAt);
  }
}
