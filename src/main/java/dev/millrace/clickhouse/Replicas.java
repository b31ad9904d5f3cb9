package dev.millrace.clickhouse;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Looks at each replica of a table. Stateless but for the server; thread-safe. */
public final class Replicas {
  private static final UUID NO_TABLE = new UUID(0, 0);

  private final ClickHouse clickhouse;
  private final ShadowStatements statements;

  /** Makes it for a target and how it is replicated. */
  public Replicas(ClickHouse clickhouse, ShadowStatements statements) {
    this.clickhouse = clickhouse;
    this.statements = statements;
  }

  /**
   * A replica.
   *
   * @param host its name and port
   * @param uuid the table's UUID there; all zeros where it has no such table
   * @param rows the table's rows there
   */
  public record Replica(String host, UUID uuid, long rows) {}

  /**
   * Waits until each replica has what others wrote; does nothing where there is one host. A
   * Replicated database's other replicas are not waited for: {@link #all} tells whether they are
   * behind.
   *
   * @param queryId an id that no statement ever had
   * @param limit how long it may take
   */
  public void sync(TargetTable table, String queryId, Duration limit) {
    if (statements.checkedCluster().isPresent()) {
      clickhouse.execute(statements.syncReplica(table), queryId, limit);
    }
  }

  /** Returns each replica of the cluster; empty where there is one host. */
  public List<Replica> all(TargetTable table) {
    return statements.checkedCluster().map(cluster -> all(cluster, table)).orElse(List.of());
  }

  private List<Replica> all(String cluster, TargetTable table) {
    Map<String, Long> rows = new HashMap<>();
    clickhouse
        .query(statements.replicaRows(cluster, table), row -> Map.entry(row.text(1), row.number(2)))
        .forEach(count -> rows.put(count.getKey(), count.getValue()));
    Map<String, UUID> uuids = new HashMap<>();
    clickhouse
        .query(statements.replicaUuids(cluster, table), row -> Map.entry(row.text(1), row.uuid(2)))
        .forEach(found -> uuids.put(found.getKey(), found.getValue()));
    return clickhouse.query(
        statements.replicaHosts(cluster),
        row ->
            new Replica(
                row.text(1),
                uuids.getOrDefault(row.text(1), NO_TABLE),
                rows.getOrDefault(row.text(1), 0L)));
  }

  /** Returns those replicas that differ in UUID or rows from what was published. Pure. */
  public static List<Replica> differing(List<Replica> replicas, UUID uuid, long rows) {
    return replicas.stream()
        .filter(replica -> !replica.uuid().equals(uuid) || replica.rows() != rows)
        .toList();
  }
}
