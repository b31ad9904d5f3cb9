package dev.millrace.refresh;

import dev.millrace.clickhouse.ClickHouseIdentifiers;
import dev.millrace.clickhouse.ClickHouseType;
import dev.millrace.clickhouse.TargetTable;
import dev.millrace.postgres.Catalogue;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.PostgresSettings;
import dev.millrace.postgres.TableName;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A table of a real Postgres and the one of a real ClickHouse that it goes to, column by column of
 * the same names. The first column is the key and the checksum.
 */
final class Dimension {
  private final Postgres postgres;
  private final PostgresSettings settings;
  private final Warehouse warehouse;
  private final TableName source;
  private final List<String> types;
  private final boolean takesQuery;
  private final SourceColumns columns;

  /**
   * Looks at a table that exists.
   *
   * @param types the target's type of each of its columns
   */
  Dimension(
      Postgres postgres,
      PostgresSettings settings,
      Warehouse warehouse,
      TableName source,
      List<String> types,
      boolean takesQuery) {
    this.postgres = postgres;
    this.settings = settings;
    this.warehouse = warehouse;
    this.source = source;
    this.types = types;
    this.takesQuery = takesQuery;
    this.columns =
        postgres.read(
            connection ->
                SourceColumns.of(connection, new Catalogue().relation(connection, source)));
  }

  List<String> names() {
    return columns.columns().stream().map(SourceColumn::name).toList();
  }

  List<ColumnMapping> mappings(Load load) {
    return ColumnMapping.all(
        columns.columns(),
        types.stream().map(ClickHouseType::parse).toList(),
        new LoadConditions(load, takesQuery, "UTC", columns.encoding()));
  }

  private AuditPlan plan(Load load) {
    List<ColumnMapping> mappings = mappings(load);
    return new AuditPlan(mappings, mappings.get(0), mappings.get(0), null, true);
  }

  AuditFigures auditSource(Load load) {
    SourceAudit audit = new SourceAudit(plan(load), source, columns.encoding());
    return postgres.read(connection -> audit.read(postgres, connection, () -> {}));
  }

  /** Returns how Postgres does the audit of the source. */
  String sourcePlan(Load load) {
    SourceAudit audit = new SourceAudit(plan(load), source, columns.encoding());
    return postgres.read(
        connection -> {
          boolean unique = new Catalogue().isUnique(connection, source, names().get(0));
          try (Statement statement = connection.createStatement();
              ResultSet line = statement.executeQuery("EXPLAIN " + audit.sql(unique))) {
            List<String> plan = new ArrayList<>();
            while (line.next()) {
              plan.add(line.getString(1));
            }
            return String.join("\n", plan);
          }
        });
  }

  AuditFigures auditTarget(Load load) {
    return new TargetAudit(plan(load)).read(warehouse.client(), target(load), Warehouse.LIMIT);
  }

  /** Returns what differs between the source and what was loaded. */
  List<String> differences(Load load) {
    return Verdict.differences(names(), auditSource(load), auditTarget(load));
  }

  TargetTable target(Load load) {
    return warehouse.table(source.table() + "_" + load.name().toLowerCase(Locale.ROOT));
  }

  /** Audits the source for the first time, as a refresh does. */
  SourceFigures known() {
    SourceAudit audit = new SourceAudit(plan(Load.PUSH), source, columns.encoding());
    return postgres.read(
        connection ->
            SourceFigures.of(
                audit.read(postgres, connection, () -> {}), SourceVersion.of(connection, source)));
  }

  /**
   * Makes the target anew and loads it as a refresh does.
   *
   * @param known what the source's audit found before
   * @return the figures that the load takes for those of its snapshot
   */
  AuditFigures push(SourceFigures known) {
    create(Load.PUSH);
    Layout layout =
        new Layout(
            source,
            target(Load.PUSH),
            mappings(Load.PUSH),
            plan(Load.PUSH),
            access(),
            columns.encoding(),
            true,
            "");
    return new TableLoad(
            warehouse.client(), layout, target(Load.PUSH), Warehouse.id(), Warehouse.LIMIT)
        .push(postgres, known, () -> {});
  }

  /** Makes the target anew and loads it. */
  void load(Load load) {
    create(load);
    switch (load) {
      case PULL -> pull();
      case PUSH -> push();
    }
  }

  private void create(Load load) {
    List<String> list = new ArrayList<>();
    for (int i = 0; i < types.size(); i++) {
      list.add(ClickHouseIdentifiers.quote(names().get(i)) + " " + types.get(i));
    }
    warehouse.execute("DROP TABLE IF EXISTS " + target(load).sql() + " SYNC");
    warehouse.execute(
        "CREATE TABLE %s (%s) ENGINE = MergeTree ORDER BY tuple()"
            .formatted(target(load).sql(), String.join(", ", list)));
  }

  private void pull() {
    PullStatement statement = new PullStatement(mappings(Load.PULL), access(), source, takesQuery);
    warehouse.execute(statement.text(target(Load.PULL)));
  }

  PullStatement.Access access() {
    return new PullStatement.Access.Direct(
        settings.host() + ":" + settings.port(),
        settings.database(),
        settings.user(),
        settings.password());
  }

  private void push() {
    List<ColumnMapping> mappings = mappings(Load.PUSH);
    PushStatement statement = new PushStatement(mappings);
    warehouse.insert(
        statement.into(target(Load.PUSH)),
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

  /** Returns the values of a column as ClickHouse shows them, by the first column. */
  List<String> shown(Load load, String name) {
    return warehouse.column(
        "SELECT ifNull(toString(%s), 'NULL') FROM %s ORDER BY %s"
            .formatted(
                ClickHouseIdentifiers.quote(name),
                target(load).sql(),
                ClickHouseIdentifiers.quote(names().get(0))));
  }
}
