package dev.millrace.control;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** Creates tables in the state database where they are missing. Stateless. */
public final class ControlSchema {
  /** The key under which all writers of a control schema queue for its DDL. */
  private static final long ADVISORY_LOCK = 3_204_198_401L;

  private ControlSchema() {}

  /** Creates the lease and the queue where they are missing. */
  public static void ensure(Connection connection) throws SQLException {
    ensure(connection, ControlSchema.class, "control.sql", "control.lease", "millrace.queue");
  }

  /**
   * Runs a script unless all tables are there. When they are, that costs one read and no lock: DDL
   * takes exclusive locks even where it changes nothing, and two starting writers deadlock on them.
   *
   * @param connection in a transaction of its own
   * @param owner the class beside whose resources the script lies
   * @param script its name
   * @param tables what it creates, schema-qualified
   */
  public static void ensure(Connection connection, Class<?> owner, String script, String... tables)
      throws SQLException {
    if (allThere(connection, tables)) {
      return;
    }
    try (Statement statement = connection.createStatement()) {
      // Before the lock is awaited, or the wait for it would have no end.
      statement.execute("SET LOCAL lock_timeout = '5s'");
      statement.execute("SELECT pg_advisory_xact_lock(" + ADVISORY_LOCK + ")");
      statement.execute(read(owner, script));
    }
  }

  private static boolean allThere(Connection connection, String... tables) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            "SELECT bool_and(to_regclass(name) IS NOT NULL) FROM unnest(?::text[]) AS name")) {
      statement.setArray(1, connection.createArrayOf("text", tables));
      try (ResultSet result = statement.executeQuery()) {
        result.next();
        return result.getBoolean(1);
      }
    }
  }

  private static String read(Class<?> owner, String script) {
    try (InputStream stream = owner.getResourceAsStream(script)) {
      if (stream == null) {
        throw new IllegalStateException("the resource " + script + " is missing");
      }
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }
}
