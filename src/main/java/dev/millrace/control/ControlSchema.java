package dev.millrace.control;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the tables of the state where they are missing, while others start and work.
 *
 * <p>What is there costs one read of the catalogue and no lock: DDL takes exclusive locks even
 * where it changes nothing, and writers that start at once would deadlock on them. DDL runs under
 * one advisory lock that all writers of a fleet know, and a transaction of it never holds the locks
 * of two tables that were there before. Stateless.
 */
public final class ControlSchema {
  private static final Logger LOG = LoggerFactory.getLogger(ControlSchema.class);

  /** The key under which all writers of a control schema queue for its DDL. */
  static final long ADVISORY_LOCK = 3_204_198_401L;

  /** How long one call waits for locks, all its waits together. */
  static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final String LOCK_NOT_AVAILABLE = "55P03";
  private static final String DEADLOCK = "40P01";
  private static final String NO_PRIVILEGE = "42501";

  /** The rights that recording a run takes. */
  private static final Map<String, List<String>> TABLES =
      new TreeMap<>(
          Map.of(
              "run", List.of("SELECT", "INSERT", "UPDATE"),
              "lease", List.of("SELECT", "INSERT", "UPDATE"),
              "event", List.of("SELECT", "INSERT"),
              "budget_usage", List.of("SELECT", "INSERT", "UPDATE")));

  /** A column that the first control planes did not have. */
  private record Column(String table, String name, String type) {}

  private static final List<Column> COLUMNS =
      List.of(new Column("event", "extra", "jsonb"), new Column("run", "extra", "jsonb"));

  /** Tells listeners; a plane without it works, only slower. */
  private record Trigger(String table, String name) {}

  private static final List<Trigger> TRIGGERS =
      List.of(
          new Trigger("event", "event_dbt_ready_notify"),
          new Trigger("run", "run_dbt_ready_notify"));

  private ControlSchema() {}

  /**
   * Makes schema {@code control} complete: the one of feather-control-plane 0.1.0, which a fleet
   * shares. An index comes with its table; one that somebody dropped is not made again.
   *
   * <p>Waits at most five seconds for locks. A trigger that can't be had in time is told in the log
   * and left to a later start.
   *
   * @throws MillraceException with {@code POSTGRES_UNAVAILABLE} when a table or column can't be had
   *     in time; with {@code NO_PRIVILEGE} when the role may not use or make the tables
   */
  public static void ensure(ControlDatabase database) {
    ControlCatalogue found = database.transact(ControlSchema::read);
    found.requireUse(TABLES);
    Patience patience = new Patience();
    if (!found.tables().keySet().containsAll(TABLES.keySet())) {
      found.requireMakeTables();
      require(
          "the tables of schema control",
          database,
          patience,
          connection -> missingTables(read(connection)));
    }
    for (Column column : COLUMNS) {
      if (found.has(column.table()) && !found.hasColumn(column.table(), column.name())) {
        found.requireOwner(column.table(), column.name());
        require(
            "column %s of table control.%s".formatted(column.name(), column.table()),
            database,
            patience,
            connection -> missing(column, read(connection)));
      }
    }
    for (Trigger trigger : TRIGGERS) {
      if (found.has(trigger.table()) && !found.hasTrigger(trigger.table(), trigger.name())) {
        tryTrigger(trigger, database, patience);
      }
    }
  }

  private static ControlCatalogue read(Connection connection) throws SQLException {
    return ControlCatalogue.read(connection, TABLES.keySet());
  }

  /** All of them in one transaction: a table that nobody sees yet can be part of no deadlock. */
  private static Optional<String> missingTables(ControlCatalogue now) {
    Set<String> missing =
        TABLES.keySet().stream().filter(table -> !now.has(table)).collect(Collectors.toSet());
    String scripts =
        Stream.concat(
                missing.stream().sorted(),
                TRIGGERS.stream()
                    .filter(trigger -> missing.contains(trigger.table()))
                    .map(Trigger::name))
            .map(name -> resource(ControlSchema.class, "schema/" + name + ".sql"))
            .collect(Collectors.joining("\n"));
    if (missing.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(now.hasSchema() ? scripts : "CREATE SCHEMA control;\n" + scripts);
  }

  private static Optional<String> missing(Column column, ControlCatalogue now) {
    return now.hasColumn(column.table(), column.name())
        ? Optional.empty()
        : Optional.of(
            "ALTER TABLE control.%s ADD COLUMN %s %s"
                .formatted(column.table(), column.name(), column.type()));
  }

  private static Optional<String> missing(Trigger trigger, ControlCatalogue now) {
    return now.hasTrigger(trigger.table(), trigger.name())
        ? Optional.empty()
        : Optional.of(resource(ControlSchema.class, "schema/" + trigger.name() + ".sql"));
  }

  private static void tryTrigger(Trigger trigger, ControlDatabase database, Patience patience) {
    try {
      underLock(database, patience, connection -> missing(trigger, read(connection)));
    } catch (MillraceException exception) {
      if (!isState(exception, LOCK_NOT_AVAILABLE, DEADLOCK, NO_PRIVILEGE)) {
        throw exception;
      }
      LOG.warn(
          "trigger {} of table control.{} is not there yet, so its listeners hear nothing; a later start makes it: {}",
          trigger.name(),
          trigger.table(),
          exception.getMessage());
    }
  }

  /**
   * Runs a script of Millrace's own unless all its tables are there. Each part of it, up to an
   * empty line, is a transaction.
   *
   * @param database where
   * @param owner the class beside whose resources the script lies
   * @param script its name; all of it may run again
   * @param tables what it makes, schema-qualified
   * @throws MillraceException with {@code POSTGRES_UNAVAILABLE} when a lock can't be had within
   *     five seconds
   */
  public static void ensure(
      ControlDatabase database, Class<?> owner, String script, String... tables) {
    if (database.transact(connection -> allThere(connection, tables))) {
      return;
    }
    Patience patience = new Patience();
    for (String part : resource(owner, script).split("\n\n", -1)) {
      require(
          String.join(", ", tables),
          database,
          patience,
          connection -> allThere(connection, tables) ? Optional.empty() : Optional.of(part));
    }
  }

  private static boolean allThere(Connection connection, String... tables) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT count(*) FROM pg_catalog.pg_class AS c
            JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname || '.' || c.relname = ANY (?)
            """)) {
      statement.setArray(1, connection.createArrayOf("text", tables));
      try (ResultSet result = statement.executeQuery()) {
        result.next();
        return result.getInt(1) == tables.length;
      }
    }
  }

  /** Looks, under the lock, at what has to be done now. */
  @FunctionalInterface
  private interface Look {
    /** Returns DDL, or nothing when another start has done it in the meantime. */
    Optional<String> ddl(Connection connection) throws SQLException;
  }

  private static void require(String what, ControlDatabase database, Patience patience, Look look) {
    try {
      underLock(database, patience, look);
    } catch (MillraceException exception) {
      if (!isState(exception, LOCK_NOT_AVAILABLE, DEADLOCK)) {
        throw exception;
      }
      throw new MillraceException(
          ErrorCode.POSTGRES_UNAVAILABLE,
          "%s could not be made within %d s: another session holds a lock on it or the advisory lock %d (see pg_locks); try again: %s"
              .formatted(what, PATIENCE.toSeconds(), ADVISORY_LOCK, exception.getMessage()),
          exception);
    }
  }

  private static void underLock(ControlDatabase database, Patience patience, Look look) {
    database.transact(
        connection -> {
          try (Statement statement = connection.createStatement()) {
            patience.limit(statement);
            statement.execute("SELECT pg_advisory_xact_lock(%d)".formatted(ADVISORY_LOCK));
            Optional<String> ddl = look.ddl(connection);
            if (ddl.isPresent()) {
              patience.limit(statement);
              statement.execute(ddl.get());
            }
            return null;
          }
        });
  }

  /** What is left of the time that one call may wait for locks. */
  private static final class Patience {
    /** A lock that is free is had even when nothing is left. */
    private static final long LEAST_MILLIS = 50;

    private final long end = System.nanoTime() + PATIENCE.toNanos();

    /**
     * Bounds the waits that follow; to be called before each, as one bound counts anew for each.
     */
    void limit(Statement statement) throws SQLException {
      long left = Duration.ofNanos(end - System.nanoTime()).toMillis();
      statement.execute("SET LOCAL lock_timeout = " + Math.max(LEAST_MILLIS, left));
    }
  }

  private static boolean isState(Throwable failure, String... states) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof SQLException known && List.of(states).contains(known.getSQLState())) {
        return true;
      }
    }
    return false;
  }

  private static String resource(Class<?> owner, String name) {
    try (InputStream stream = owner.getResourceAsStream(name)) {
      if (stream == null) {
        throw new IllegalStateException("the resource " + name + " is missing");
      }
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }
}
