package dev.millrace.clickhouse;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Reads what a server has. What the user may not see is missing, or said to be unknown. Stateless.
 */
public final class Catalogue {
  /** The target of a materialized view, after its name and what may stand in between. */
  private static final Pattern FED =
      Pattern.compile(
          "(?s)^CREATE MATERIALIZED VIEW .+? TO (`(?:[^`\\\\]|\\\\.)+`|\\w+)"
              + "\\.(`(?:[^`\\\\]|\\\\.)+`|\\w+)[ (].*");

  private Catalogue() {}

  /**
   * Returns a database's engine.
   *
   * @return such as {@code Atomic}; empty when there is no such database, or it is hidden
   */
  public static Optional<String> databaseEngine(ClickHouse clickhouse, String database) {
    return clickhouse
        .query("SELECT engine FROM system.databases WHERE name = ?", row -> row.text(1), database)
        .stream()
        .findFirst();
  }

  /** Returns what is known of a table; empty when there is none, or it is hidden. */
  public static Optional<TableFacts> table(ClickHouse clickhouse, TargetTable table) {
    return clickhouse
        .query(
            "SELECT uuid, engine, engine_full, sorting_key, primary_key, comment"
                + " FROM system.tables WHERE database = ? AND name = ?",
            row ->
                new TableFacts(
                    row.uuid(1), row.text(2), row.text(3), row.text(4), row.text(5), row.text(6)),
            table.database(),
            table.table())
        .stream()
        .findFirst();
  }

  /** Returns a table's columns in their order; empty when there is no such table. */
  public static List<TargetColumn> columns(ClickHouse clickhouse, TargetTable table) {
    return clickhouse.query(
        "SELECT name, type, default_kind, default_expression, toUInt32(position)"
            + " FROM system.columns WHERE database = ? AND table = ? ORDER BY position",
        row ->
            new TargetColumn(
                row.text(1),
                row.text(2),
                TargetColumn.kind(row.text(3)),
                row.text(4),
                (int) row.number(5)),
        table.database(),
        table.table());
  }

  /** Returns the identities of a database's tables whose whole name matches, by name. */
  public static Map<String, UUID> tablesLike(
      ClickHouse clickhouse, String database, Pattern pattern) {
    return clickhouse
        .query(
            "SELECT name, uuid FROM system.tables WHERE database = ? ORDER BY name",
            row -> Map.entry(row.text(1), row.uuid(2)),
            database)
        .stream()
        .filter(entry -> pattern.matcher(entry.getKey()).matches())
        .collect(
            Collectors.toMap(
                Map.Entry::getKey, Map.Entry::getValue, (one, other) -> other, LinkedHashMap::new));
  }

  /**
   * Returns how many replicas a replicated table has; empty where it is none, or the user may not
   * know.
   */
  public static OptionalInt replicas(ClickHouse clickhouse, TargetTable table) {
    return ifAllowed(
            () ->
                clickhouse.query(
                    "SELECT total_replicas FROM system.replicas WHERE database = ? AND table = ?",
                    row -> row.text(1),
                    table.database(),
                    table.table()))
        .names()
        .stream()
        .mapToInt(Integer::parseInt)
        .findFirst();
  }

  /** Returns the server's time zone, that of times without one of their own. */
  public static String serverTimeZone(ClickHouse clickhouse) {
    return clickhouse.query("SELECT serverTimezone()", row -> row.text(1)).get(0);
  }

  /** Returns the row policies that hide rows of a table from this user. */
  public static Seen policiesOnUser(ClickHouse clickhouse, TargetTable table) {
    return policies(
        clickhouse,
        table,
        "((apply_to_all AND NOT has(apply_to_except, currentUser())"
            + " AND NOT hasAny(apply_to_except, enabledRoles()))"
            + " OR has(apply_to_list, currentUser()) OR hasAny(apply_to_list, enabledRoles()))");
  }

  /** Returns what hangs on a table's name. */
  public static Dependants dependants(ClickHouse clickhouse, TargetTable table) {
    String hidden =
        seesAllTables(clickhouse)
            ? null
            : "only what user %s may see; GRANT SHOW TABLES, SHOW DICTIONARIES ON *.* shows all"
                .formatted(clickhouse.settings().user());
    return new Dependants(
        new Seen(related(clickhouse, table, "dependencies"), hidden),
        new Seen(feedingViews(clickhouse, table), hidden),
        new Seen(related(clickhouse, table, "loading_dependent"), hidden),
        policies(clickhouse, table, "1"),
        grants(clickhouse, table));
  }

  private static boolean seesAllTables(ClickHouse clickhouse) {
    try {
      return clickhouse
          .query("CHECK GRANT SHOW TABLES, SHOW DICTIONARIES ON *.*", row -> row.flag(1))
          .get(0);
    } catch (MillraceException e) {
      if (e.code() == ErrorCode.CLICKHOUSE_UNAVAILABLE) {
        throw e;
      }
      // Servers before 24.8 can't be asked.
      return false;
    }
  }

  /** Reads a pair of array columns of system.tables. */
  private static List<String> related(ClickHouse clickhouse, TargetTable table, String prefix) {
    return clickhouse.query(
        "SELECT concat(pair.1, '.', pair.2) FROM system.tables"
            + " ARRAY JOIN arrayZip(%1$s_database, %1$s_table) AS pair".formatted(prefix)
            + " WHERE database = ? AND name = ? ORDER BY 1",
        row -> row.text(1),
        table.database(),
        table.table());
  }

  private static List<String> feedingViews(ClickHouse clickhouse, TargetTable table) {
    return clickhouse
        .query(
            "SELECT concat(database, '.', name), create_table_query FROM system.tables"
                + " WHERE engine = 'MaterializedView' AND position(create_table_query, ?) > 0"
                + " ORDER BY 1",
            row -> Map.entry(row.text(1), row.text(2)),
            table.table())
        .stream()
        .filter(view -> feeds(view.getValue(), table))
        .map(Map.Entry::getKey)
        .toList();
  }

  static boolean feeds(String createQuery, TargetTable table) {
    Matcher matcher = FED.matcher(createQuery);
    return matcher.matches()
        && name(matcher.group(1)).equals(table.database())
        && name(matcher.group(2)).equals(table.table());
  }

  private static String name(String identifier) {
    return identifier.startsWith("`") ? ClickHouseType.unquoted(identifier) : identifier;
  }

  private static Seen policies(ClickHouse clickhouse, TargetTable table, String condition) {
    return ifAllowed(
        () ->
            clickhouse.query(
                "SELECT name FROM system.row_policies WHERE database IN (?, '', '*')"
                    + " AND table IN (?, '', '*') AND %s ORDER BY name".formatted(condition),
                row -> row.text(1),
                table.database(),
                table.table()));
  }

  private static Seen grants(ClickHouse clickhouse, TargetTable table) {
    return ifAllowed(
        () ->
            clickhouse.query(
                "SELECT DISTINCT coalesce(user_name, role_name) FROM system.grants"
                    + " WHERE database = ? AND table = ? ORDER BY 1",
                row -> row.text(1),
                table.database(),
                table.table()));
  }

  private static Seen ifAllowed(Supplier<List<String>> question) {
    try {
      return Seen.all(question.get());
    } catch (MillraceException e) {
      if (e.code() != ErrorCode.CLICKHOUSE_REFUSED) {
        throw e;
      }
      return new Seen(List.of(), e.getMessage());
    }
  }
}
