package dev.millrace.testing;

import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.PostgresSettings;
import dev.millrace.postgres.SslMode;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** One real Postgres for all tests of a JVM; each test makes a database of its own in it. */
public final class TestPostgres {
  private static final AtomicInteger DATABASES = new AtomicInteger();

  private TestPostgres() {}

  private static final class Holder {
    private static final EmbeddedPostgres SERVER = start();

    private static EmbeddedPostgres start() {
      try {
        return EmbeddedPostgres.builder()
            .setServerConfig("fsync", "off")
            .setServerConfig("max_prepared_transactions", "64")
            .start();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Starts the server when it is first called. */
  public static EmbeddedPostgres server() {
    return Holder.SERVER;
  }

  /** Makes a database and returns its name. */
  public static String createDatabase() {
    return createDatabase("");
  }

  /**
   * Makes a database and returns its name.
   *
   * @param options what follows CREATE DATABASE name
   */
  public static String createDatabase(String options) {
    String name = "test_" + DATABASES.incrementAndGet();
    execute("postgres", "CREATE DATABASE " + name + " " + options);
    return name;
  }

  /** Runs statements as superuser. */
  public static void execute(String database, String sql) {
    try (Connection connection = server().getDatabase("postgres", database).getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** Returns the first column of the first row, as superuser. */
  public static String query(String database, String sql) {
    try (Connection connection = server().getDatabase("postgres", database).getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      return row.next() ? row.getString(1) : null;
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** Returns settings for the superuser. */
  public static PostgresSettings settings(String database) {
    return settings(database, "postgres");
  }

  /** Returns settings for a role without a password. */
  public static PostgresSettings settings(String database, String user) {
    return settings(server().getPort(), database, user, null);
  }

  /**
   * Returns settings for a server of this machine.
   *
   * @param password null for none
   */
  public static PostgresSettings settings(int port, String database, String user, String password) {
    return new PostgresSettings(
        "appdb",
        "127.0.0.1",
        port,
        database,
        user,
        password,
        SslMode.DISABLE,
        null,
        8,
        Duration.ofSeconds(10),
        Duration.ofSeconds(60));
  }

  /** Returns libpq's URI for the superuser. */
  public static String uri(String database) {
    return uri(database, "postgres");
  }

  /** Returns libpq's URI for a role without a password. */
  public static String uri(String database, String user) {
    return "postgresql://%s@127.0.0.1:%d/%s?sslmode=disable"
        .formatted(user, server().getPort(), database);
  }

  /** Returns a pool as superuser; the caller closes it. */
  public static Postgres connect(String database) {
    return new Postgres(settings(database));
  }
}
