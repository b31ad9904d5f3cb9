package dev.millrace.control;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What there is of schema {@code control}, and what the connection's role may do with it.
 * Immutable.
 *
 * @param role the role, quoted for SQL
 * @param database the database, quoted for SQL
 * @param mayMakeSchema whether the role may make a schema
 * @param hasSchema whether the schema is there
 * @param mayUseSchema whether the role has USAGE on it
 * @param mayMakeTables whether the role has CREATE on it
 * @param tables what is there of the tables that were asked for, by name
 */
record ControlCatalogue(
    String role,
    String database,
    boolean mayMakeSchema,
    boolean hasSchema,
    boolean mayUseSchema,
    boolean mayMakeTables,
    Map<String, Table> tables) {

  /**
   * A table.
   *
   * @param owner its owner, quoted for SQL
   * @param owned whether the role has the owner's rights
   * @param rights which of SELECT, INSERT and UPDATE the role has
   * @param columns their names
   * @param triggers their names
   */
  record Table(
      String owner, boolean owned, Set<String> rights, Set<String> columns, Set<String> triggers) {}

  /**
   * Reads the system's catalogue only: no lock on any table of the schema is taken or awaited, and
   * tables that the role may not touch are seen all the same.
   */
  static ControlCatalogue read(Connection connection, Set<String> tables) throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement(
            """
            SELECT quote_ident(current_user), quote_ident(current_database()),
                   has_database_privilege(current_database(), 'CREATE'),
                   n.oid IS NOT NULL,
                   coalesce(has_schema_privilege(n.oid, 'USAGE'), false),
                   coalesce(has_schema_privilege(n.oid, 'CREATE'), false),
                   c.relname, quote_ident(pg_get_userbyid(c.relowner)),
                   pg_has_role(c.relowner, 'USAGE'),
                   ARRAY(SELECT name FROM unnest(ARRAY['SELECT', 'INSERT', 'UPDATE']) AS name
                         WHERE has_table_privilege(c.oid, name)),
                   ARRAY(SELECT attname::text FROM pg_catalog.pg_attribute
                         WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped),
                   ARRAY(SELECT tgname::text FROM pg_catalog.pg_trigger
                         WHERE tgrelid = c.oid AND NOT tgisinternal)
            FROM (VALUES (1)) AS one (row)
            LEFT JOIN pg_catalog.pg_namespace AS n ON n.nspname = 'control'
            LEFT JOIN pg_catalog.pg_class AS c
              ON c.relnamespace = n.oid AND c.relname = ANY (?) AND c.relkind IN ('r', 'p', 'v', 'f')
            """)) {
      query.setArray(1, connection.createArrayOf("text", tables.toArray()));
      try (ResultSet row = query.executeQuery()) {
        return read(row);
      }
    }
  }

  private static ControlCatalogue read(ResultSet row) throws SQLException {
    row.next();
    Map<String, Table> tables = new HashMap<>();
    ControlCatalogue catalogue =
        new ControlCatalogue(
            row.getString(1),
            row.getString(2),
            row.getBoolean(3),
            row.getBoolean(4),
            row.getBoolean(5),
            row.getBoolean(6),
            tables);
    do {
      if (row.getString(7) != null) {
        tables.put(
            row.getString(7),
            new Table(
                row.getString(8),
                row.getBoolean(9),
                names(row.getArray(10)),
                names(row.getArray(11)),
                names(row.getArray(12))));
      }
    } while (row.next());
    return catalogue;
  }

  private static Set<String> names(Array array) throws SQLException {
    return Set.of((String[]) array.getArray());
  }

  boolean has(String table) {
    return tables.containsKey(table);
  }

  boolean hasColumn(String table, String column) {
    return has(table) && tables.get(table).columns().contains(column);
  }

  boolean hasTrigger(String table, String trigger) {
    return has(table) && tables.get(table).triggers().contains(trigger);
  }

  /**
   * Makes sure that the role may use what is there.
   *
   * @param needed the rights on each table
   * @throws MillraceException with {@code NO_PRIVILEGE}
   */
  void requireUse(Map<String, List<String>> needed) {
    List<String> lacking = new ArrayList<>();
    List<String> grants = new ArrayList<>();
    if (hasSchema && !mayUseSchema) {
      lacking.add("schema control (USAGE)");
      grants.add("GRANT USAGE ON SCHEMA control TO %s".formatted(role));
    }
    needed.forEach(
        (table, rights) -> {
          List<String> missing =
              rights.stream()
                  .filter(right -> has(table) && !tables.get(table).rights().contains(right))
                  .toList();
          if (!missing.isEmpty()) {
            String names = String.join(", ", missing);
            lacking.add("table control.%s (%s)".formatted(table, names));
            grants.add("GRANT %s ON control.%s TO %s".formatted(names, table, role));
          }
        });
    if (!lacking.isEmpty()) {
      throw refused("use " + String.join(", ", lacking), String.join("; ", grants));
    }
  }

  /**
   * Makes sure that the role may make tables.
   *
   * @throws MillraceException with {@code NO_PRIVILEGE}
   */
  void requireMakeTables() {
    if (!hasSchema && !mayMakeSchema) {
      throw refused(
          "make schema control", "GRANT CREATE ON DATABASE %s TO %s".formatted(database, role));
    }
    if (hasSchema && !mayMakeTables) {
      throw refused(
          "make the missing tables of schema control",
          "GRANT CREATE ON SCHEMA control TO %s".formatted(role));
    }
  }

  /**
   * Makes sure that the role may add a column.
   *
   * @throws MillraceException with {@code NO_PRIVILEGE}
   */
  void requireOwner(String table, String column) {
    String owner = tables.get(table).owner();
    if (!tables.get(table).owned()) {
      throw refused(
          "add the missing column %s to table control.%s".formatted(column, table),
          "start once as its owner %s, or GRANT %s TO %s".formatted(owner, owner, role));
    }
  }

  private MillraceException refused(String what, String wayOut) {
    return new MillraceException(
        ErrorCode.NO_PRIVILEGE,
        "role %s may not %s in database %s; nothing was changed; let its owner or a superuser do: %s"
            .formatted(role, what, database, wayOut));
  }
}
