package dev.millrace.refresh;

import dev.millrace.clickhouse.ClickHouseType;
import dev.millrace.clickhouse.TargetTable;
import dev.millrace.postgres.Catalogue;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.Relation;
import dev.millrace.postgres.TableName;
import dev.millrace.testing.TestPostgres;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A table of a real Postgres and the one of a real ClickHouse that it goes to; the first column is
 * the key and the checksum.
 */
final class Dimension {
  static final String DATABASE = "refresh_test";

  private final String database;
  private final Postgres postgres;
  private final TableName source;
  private final List<String> names;
  private final List<String> types;
  private final boolean takesQuery;
  private final SourceColumns columns;

  Dimension(
      String database,
      Postgres postgres,
      String table,
      List<String> names,
      List<String> types,
      boolean takesQuery) {
    this.database = database;
    this.postgres = postgres;
    this.source = new TableName("public", table);
    this.names = names;
    this.types = types;
    this.takesQuery = takesQuery;
    this.columns =
        postgres.read(
            connection -> {
              Relation relation = new Catalogue().relation(connection, source);
              return SourceColumns.of(connection, relation);
            });
  }

  static void createDatabase() {
    Warehouse.execute("DROP DATABASE IF EXISTS " + DATABASE + " SYNC");
    Warehouse.execute("CREATE DATABASE " + DATABASE + " ENGINE = Atomic");
  }

  TableName source() {
    return source;
  }

  List<ColumnMapping> mappings(Load load) {
    List<SourceColumn> chosen =
        names.stream()
            .map(
                name ->
                    columns.columns().stream()
                        .filter(column -> column.name().equals(name))
                        .findFirst()
                        .orElseThrow())
            .toList();
    return ColumnMapping.all(
        chosen,
        types.stream().map(ClickHouseType::parse).toList(),
        new LoadConditions(
            load, takesQuery, "UTC", columns.serverVersion(), columns.encoding()));
  }

  AuditPlan plan(List<ColumnMapping> mappings, boolean full) {
    return new AuditPlan(mappings, mappings.get(0), mappings.get(0), null, full);
  }

  AuditFigures auditSource(Load load) {
    AuditPlan plan = plan(mappings(load), true);
    return postgres.read(connection -> new SourceAudit(plan, source, columns.encoding()).read(postgres, connection, () -> {}));
  }

  AuditFigures auditTarget(Load load) {
    TargetAudit audit = new TargetAudit(plan(mappings(load), true));
    return audit.figures(Warehouse.rows(audit.sql(target(load))).get(0));
  }

  TargetTable target(Load load) {
    return new TargetTable(DATABASE, source.table() + "_" + load.name().toLowerCase(java.util.Locale.ROOT));
  }

  /** Makes the target anew and loads it. */
  void load(Load load) {
    TargetTable target = target(load);
    List<String> list = new ArrayList<>();
    for (int i = 0; i < names.size(); i++) {
      list.add(dev.millrace.clickhouse.ClickHouseIdentifiers.quote(names.get(i)) + " " + types.get(i));
    }
    Warehouse.execute("DROP TABLE IF EXISTS " + target.sql() + " SYNC");
    Warehouse.execute(
        "CREATE TABLE %s (%s) ENGINE = MergeTree ORDER BY tuple() SETTINGS allow_suspicious_indices = 1"
            .formatted(target.sql(), String.join(", ", list)));
    switch (load) {
      case PULL -> pull(target);
      case PUSH -> push(target);
    }
  }

  private void pull(TargetTable target) {
    Warehouse.execute(
        new PullStatement(mappings(Load.PULL), access(), source, takesQuery).text(target));
  }

  PullStatement.Access access() {
    return new PullStatement.Access.Direct(
        "127.0.0.1:" + TestPostgres.server().getPort(), database, "postgres", null);
  }

  private void push(TargetTable target) {
    List<ColumnMapping> mappings = mappings(Load.PUSH);
    PushStatement statement = new PushStatement(mappings);
    Warehouse.insert(
        statement.insert(target),
        out ->
            postgres.read(
                connection -> {
                  PushEncoder encoder = new PushEncoder(mappings, 0, out);
                  long copied = postgres.copy(connection, statement.select(source), encoder);
                  long encoded = encoder.finish();
                  if (copied != encoded) {
                    throw new IllegalStateException(copied + " rows, " + encoded + " encoded");
                  }
                  return encoded;
                }));
  }

  /** Returns the values of a column as ClickHouse shows them, by key. */
  List<String> shown(Load load, String name) {
    String column = dev.millrace.clickhouse.ClickHouseIdentifiers.quote(name);
    return Warehouse.rows(
            "SELECT hex(ifNull(toString(%s), 'NULL')) FROM %s ORDER BY %s SETTINGS session_timezone = 'UTC'"
                .formatted(
                    column,
                    target(load).sql(),
                    dev.millrace.clickhouse.ClickHouseIdentifiers.quote(names.get(0))))
        .stream()
        .map(row -> new String(java.util.HexFormat.of().parseHex(row.get(0)), java.nio.charset.StandardCharsets.UTF_8))
        .collect(Collectors.toList());
  }
}
