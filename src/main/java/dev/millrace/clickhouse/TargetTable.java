package dev.millrace.clickhouse;

import java.util.Objects;

/**
 * A table by name, as the catalogue has it.
 *
 * @param database its database
 * @param table its name
 */
public record TargetTable(String database, String table) {

  public TargetTable {
    Objects.requireNonNull(database, "database");
    Objects.requireNonNull(table, "table");
  }

  /** Returns the quoted name for a statement. */
  public String sql() {
    return ClickHouseIdentifiers.quote(database) + "." + ClickHouseIdentifiers.quote(table);
  }

  /** Returns a table of the same database. */
  public TargetTable sibling(String name) {
    return new TargetTable(database, name);
  }

  /** Returns the name for messages. */
  @Override
  public String toString() {
    return database + "." + table;
  }
}
