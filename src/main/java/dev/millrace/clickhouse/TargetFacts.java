package dev.millrace.clickhouse;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * What decides whether a table can be rebuilt beside itself and swapped; {@link TargetVerdict}
 * judges it.
 *
 * @param target the table's name
 * @param user who is to do it
 * @param databaseEngine the engine of its database; empty when there is no such database
 * @param table what the catalogue says of it; empty when there is no such table
 * @param policies the row policies on the user
 * @param replicas how many replicas the table has; empty where it is not replicated, or unknown
 * @param cluster the cluster that the input names, or null
 */
public record TargetFacts(
    TargetTable target,
    String user,
    Optional<String> databaseEngine,
    Optional<TableFacts> table,
    Seen policies,
    OptionalInt replicas,
    String cluster) {

  /** Reads the facts; may throw as {@link ClickHouse#query(String, Row.Reader, Object...)} does. */
  public static TargetFacts read(ClickHouse clickhouse, TargetTable target, String cluster) {
    return new TargetFacts(
        target,
        clickhouse.settings().user(),
        Catalogue.databaseEngine(clickhouse, target.database()),
        Catalogue.table(clickhouse, target),
        Catalogue.policiesOnUser(clickhouse, target),
        Catalogue.replicas(clickhouse, target),
        cluster);
  }
}
