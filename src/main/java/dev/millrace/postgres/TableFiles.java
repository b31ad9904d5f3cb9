package dev.millrace.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The tables that hold the rows of a relation: itself, its leaf partitions or its child tables,
 * with the file of each. A table that is rewritten or truncated gets another file.
 *
 * @param nodes <a href="https://www.postgresql.org/docs/current/storage-file-layout.html">file
 *     nodes</a> by the table's oid
 * @param foreign whether some rows are on another server
 */
public record TableFiles(SortedMap<Long, Long> nodes, boolean foreign) {
  private static final String TREE =
      """
      WITH RECURSIVE tree AS (
        SELECT ?::oid AS oid
        UNION
        SELECT i.inhrelid FROM pg_inherits i JOIN tree ON i.inhparent = tree.oid)
      SELECT c.oid::int8, %s AS node, c.relkind
      FROM tree JOIN pg_class c ON c.oid = tree.oid
      WHERE c.relkind IN ('r', 'm', 'f')""";

  private static final String IN_SNAPSHOT = TREE.formatted("c.relfilenode::int8");
  private static final String CHILDREN_NOW = TREE.formatted("pg_relation_filenode(c.oid)::int8");

  private static final String PARTITIONS_NOW =
      """
      SELECT relid::oid::int8, pg_relation_filenode(relid)::int8 AS node,
             CASE WHEN pg_relation_filenode(relid) IS NULL THEN 'f' ELSE 'r' END
      FROM pg_partition_tree(?::oid::regclass) WHERE isleaf""";

  public TableFiles {
    nodes = new TreeMap<>(nodes);
  }

  /** Reads the files as the transaction's snapshot shows them. */
  public static TableFiles inSnapshot(Connection connection, Relation relation)
      throws SQLException {
    return read(connection, IN_SNAPSHOT, relation.oid());
  }

  /**
   * Reads the files as they are at this moment: these functions look past the snapshot. When they
   * are those of the snapshot after rows were read, whose locks keep others from rewriting, then
   * the rows are those that the snapshot is about.
   */
  public static TableFiles now(Connection connection, Relation relation) throws SQLException {
    return read(
        connection,
        relation.kind() == Relation.Kind.PARTITIONED_TABLE ? PARTITIONS_NOW : CHILDREN_NOW,
        relation.oid());
  }

  private static TableFiles read(Connection connection, String sql, long oid) throws SQLException {
    SortedMap<Long, Long> nodes = new TreeMap<>();
    boolean foreign = false;
    try (PreparedStatement query = connection.prepareStatement(sql)) {
      query.setLong(1, oid);
      try (ResultSet row = query.executeQuery()) {
        while (row.next()) {
          long node = row.getLong(2);
          foreign |= row.getString(3).equals("f");
          if (node != 0) {
            nodes.put(row.getLong(1), node);
          }
        }
      }
    }
    return new TableFiles(nodes, foreign);
  }

  /** Returns the oids that an earlier look did not have. */
  public Set<Long> addedSince(TableFiles earlier) {
    Set<Long> added = new TreeSet<>(nodes.keySet());
    added.removeAll(earlier.nodes.keySet());
    return added;
  }

  /** Returns the oids that are still there, with another file. */
  public Set<Long> rewrittenSince(TableFiles earlier) {
    return nodes.entrySet().stream()
        .filter(
            now ->
                earlier.nodes.containsKey(now.getKey())
                    && !earlier.nodes.get(now.getKey()).equals(now.getValue()))
        .map(Map.Entry::getKey)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Reads what {@link #toString} returned. */
  public static TableFiles parse(String text) {
    SortedMap<Long, Long> nodes = new TreeMap<>();
    for (String entry : text.isEmpty() ? new String[0] : text.split(",")) {
      int colon = entry.indexOf(':');
      nodes.put(
          Long.parseLong(entry.substring(0, colon)), Long.parseLong(entry.substring(colon + 1)));
    }
    return new TableFiles(nodes, false);
  }

  /** Returns {@code oid:node,oid:node}. */
  @Override
  public String toString() {
    return nodes.entrySet().stream()
        .map(entry -> entry.getKey() + ":" + entry.getValue())
        .collect(Collectors.joining(","));
  }
}
