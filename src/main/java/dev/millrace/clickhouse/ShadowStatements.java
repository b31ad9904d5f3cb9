package dev.millrace.clickhouse;

import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * The statements on a target and the tables beside it, for each way in which it may be replicated.
 * Pure.
 *
 * @param live the table that readers use
 * @param databaseEngine the engine of its database: {@code Atomic}, {@code Replicated} or {@code
 *     Shared}
 * @param cluster the cluster of all its replicas; null where there is one host only
 */
public record ShadowStatements(TargetTable live, String databaseEngine, String cluster) {
  /** Database engines that bring a statement to all hosts themselves, and refuse ON CLUSTER. */
  private static final Set<String> SPREADING = Set.of("Replicated", "Shared");

  /** Another path for each table, also when it is renamed or exchanged. */
  private static final String PATH = "'/clickhouse/tables/{uuid}/{shard}'";

  private String onCluster() {
    return cluster == null || SPREADING.contains(databaseEngine)
        ? ""
        : " ON CLUSTER " + ClickHouseIdentifiers.quote(cluster);
  }

  /** Returns whether a new table needs a UUID that is chosen before it is made. */
  boolean choosesUuid(TableFacts facts) {
    return !SPREADING.contains(databaseEngine) && TargetEngine.of(facts.engine()).replicated();
  }

  /**
   * Returns a statement that makes an empty table like the live one.
   *
   * @param facts of the live table
   * @param uuid its UUID where {@link #choosesUuid}, else ignored
   */
  String create(TableFacts facts, TargetTable table, UUID uuid) {
    boolean chosen = choosesUuid(facts);
    String identity = chosen ? " UUID " + SqlText.literal(uuid.toString()) : "";
    String engine =
        chosen
            ? engineWithOwnPath(facts.engineFull()).map(own -> " ENGINE = " + own).orElse("")
            : "";
    return "CREATE TABLE %s%s%s AS %s%s"
        .formatted(table.sql(), identity, onCluster(), live.sql(), engine);
  }

  /** Returns a statement that makes a tiny table. */
  String createTiny(TargetTable table) {
    return "CREATE TABLE %s%s (n UInt8) ENGINE = MergeTree ORDER BY n"
        .formatted(table.sql(), onCluster());
  }

  String rename(TargetTable from, TargetTable to) {
    return "RENAME TABLE %s TO %s%s".formatted(from.sql(), to.sql(), onCluster());
  }

  String exchange(TargetTable one, TargetTable other) {
    return "EXCHANGE TABLES %s AND %s%s".formatted(one.sql(), other.sql(), onCluster());
  }

  String drop(TargetTable table) {
    return "DROP TABLE IF EXISTS %s%s SYNC".formatted(table.sql(), onCluster());
  }

  /**
   * Returns a statement that reloads a dictionary.
   *
   * @param dictionary {@code database.name}, plain identifiers
   */
  public String reload(String dictionary) {
    return "SYSTEM RELOAD DICTIONARY%s %s".formatted(onCluster(), dictionary);
  }

  /** Returns a statement that waits until each replica has what the others wrote. */
  String syncReplica(TargetTable table) {
    return "SYSTEM SYNC REPLICA%s %s".formatted(onCluster(), table.sql());
  }

  /** Returns the cluster on which each replica is looked at; empty where there is one host. */
  Optional<String> checkedCluster() {
    // A Replicated database is a cluster of its own name.
    return databaseEngine.equals("Replicated") && cluster == null
        ? Optional.of(live.database())
        : Optional.ofNullable(cluster);
  }

  /** Returns a SELECT of each replica's host. */
  String replicaHosts(String onCluster) {
    return "SELECT DISTINCT concat(hostName(), ':', toString(tcpPort()))"
        + " FROM clusterAllReplicas(%s, system.one)".formatted(SqlText.literal(onCluster));
  }

  /** Returns a SELECT of host and UUID, one row for each replica that has the table. */
  String replicaUuids(String onCluster, TargetTable table) {
    return "SELECT concat(hostName(), ':', toString(tcpPort())), uuid"
        + " FROM clusterAllReplicas(%s, system.tables) WHERE database = %s AND name = %s"
            .formatted(
                SqlText.literal(onCluster),
                SqlText.literal(table.database()),
                SqlText.literal(table.table()));
  }

  /** Returns a SELECT of host and rows, one row for each replica that has any. */
  String replicaRows(String onCluster, TargetTable table) {
    return "SELECT concat(hostName(), ':', toString(tcpPort())) AS host, count()"
        + " FROM clusterAllReplicas(%s, %s) GROUP BY host"
            .formatted(SqlText.literal(onCluster), table.sql());
  }

  /**
   * Returns the engine clause with a path that two tables can't share.
   *
   * @return empty where it has one, or the server's default
   */
  static Optional<String> engineWithOwnPath(String engineFull) {
    int open = engineFull.indexOf('(');
    int blank = engineFull.indexOf(' ');
    if (open < 0 || (blank >= 0 && blank < open) || engineFull.charAt(open + 1) != '\'') {
      return Optional.empty();
    }
    int end = SqlText.endOfToken(engineFull, open + 1);
    return engineFull.substring(open, end).contains("{uuid}")
        ? Optional.empty()
        : Optional.of(engineFull.substring(0, open + 1) + PATH + engineFull.substring(end));
  }
}
