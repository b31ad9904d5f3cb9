package dev.millrace.replication;

import dev.millrace.postgres.QueryPlan;
import dev.millrace.postgres.Relation;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Splits the read of a table that Postgres would read from its first block to its last into ranges
 * of blocks, for several connections: <a
 * href="https://www.postgresql.org/docs/current/ddl-system-columns.html">{@code ctid}</a> ranges,
 * which Postgres 14 and later find without reading the rest.
 *
 * <p>A range goes over all partitions, whose blocks are numbered from 0 each, so rights on the
 * parent are enough, and partitions may be of any size.
 */
final class BlockRanges {
  /** 32 MiB of the usual blocks: a range costs a statement, and the last ones run alone. */
  private static final int LEAST_BLOCKS = 4096;

  private static final int MOST_RANGES = 256;

  /** What ranges may cost, by the planner's guess, of what one read costs. */
  private static final double MOST_COST = 1.5;

  private BlockRanges() {}

  /**
   * Returns SELECTs that have each row of the condition once between them; only one where splitting
   * does not serve: another kind of relation, few blocks, or an index that finds the rows.
   *
   * @param connection in the transaction that reads the rows
   * @param tables oids of those that hold the rows
   */
  static List<String> split(
      Connection connection,
      SourceTable table,
      Collection<Long> tables,
      String condition,
      boolean withIds)
      throws SQLException {
    String whole = table.select(condition, withIds);
    if (!hasBlocks(table.relation().kind())) {
      return List.of(whole);
    }
    long blocks = blocks(connection, tables);
    long range = Math.max(LEAST_BLOCKS, (blocks + MOST_RANGES - 1) / MOST_RANGES);
    if (blocks < 2 * range) {
      return List.of(whole);
    }
    List<String> ranges = new ArrayList<>();
    for (long from = 0; from < blocks; from += range) {
      ranges.add(table.select(range(condition, from, blocks, range), withIds));
    }
    // An index may find the rows for less; another kind of storage, a foreign partition or an older
    // server would read all of the table for each range.
    double cost = ranges.size() * QueryPlan.of(connection, ranges.get(0)).cost();
    return cost <= MOST_COST * QueryPlan.of(connection, whole).cost() ? ranges : List.of(whole);
  }

  private static boolean hasBlocks(Relation.Kind kind) {
    return switch (kind) {
      case TABLE, PARTITIONED_TABLE, MATERIALIZED_VIEW -> true;
      case VIEW, FOREIGN_TABLE -> false;
    };
  }

  /** Returns the number of blocks of the largest table. */
  private static long blocks(Connection connection, Collection<Long> tables) throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement(
            """
            SELECT coalesce(max(pg_relation_size(oid)), 0) / current_setting('block_size')::int8
            FROM unnest(?::oid[]) AS oid""")) {
      query.setArray(1, connection.createArrayOf("int8", tables.toArray()));
      try (ResultSet row = query.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  /** The last range is open: nothing depends on how many blocks were counted. */
  private static String range(String condition, long from, long blocks, long range) {
    String least = "(%s) AND ctid >= '(%d,0)'".formatted(condition, from);
    return from + range >= blocks ? least : least + " AND ctid < '(%d,0)'".formatted(from + range);
  }
}
