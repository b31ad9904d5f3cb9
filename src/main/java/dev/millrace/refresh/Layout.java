package dev.millrace.refresh;

import dev.millrace.clickhouse.Catalogue;
import dev.millrace.clickhouse.ClickHouse;
import dev.millrace.clickhouse.ClickHouseType;
import dev.millrace.clickhouse.TargetColumn;
import dev.millrace.clickhouse.TargetTable;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Relation;
import dev.millrace.postgres.SourceIdentity;
import dev.millrace.postgres.TableName;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Which columns are copied, and how; read from both catalogues.
 *
 * @param table the source
 * @param target the live table
 * @param columns the copied columns
 * @param audit what is compared
 * @param access how ClickHouse reaches Postgres
 * @param encoding of the Postgres database, such as {@code UTF8}
 * @param takesQuery whether ClickHouse can send Postgres our own SELECT
 * @param source which table of which database the source is, for the state
 */
record Layout(
    TableName table,
    TargetTable target,
    List<ColumnMapping> columns,
    AuditPlan audit,
    PullStatement.Access access,
    String encoding,
    boolean takesQuery,
    String source) {
  private static final int HASH_DIGITS = 16;

  /** The source as its catalogue has it. */
  private record Source(SourceColumns columns, String identity) {}

  /**
   * Reads it.
   *
   * @param takesQuery whether {@code postgresql()} of the server takes a query
   * @throws MillraceException when the tables don't fit: {@code TABLE_MISSING}, {@code
   *     COLUMN_MISSING}, {@code COLUMN_MISMATCH}, {@code TYPE_UNSUPPORTED}
   */
  static Layout read(
      RefreshInput input,
      RefreshSettings.Source connection,
      ClickHouse clickHouse,
      boolean takesQuery) {
    TableName table = new TableName(input.sourceSchema(), input.sourceTable());
    TargetTable target = new TargetTable(input.targetDatabase(), input.targetTable());
    Source source = source(connection, table);
    List<TargetColumn> targetColumns = Catalogue.columns(clickHouse, target);
    List<String> names =
        new ColumnChoice(
                input.columns().isEmpty() ? null : input.columns(),
                input.pkColumn(),
                input.checksumColumn(),
                input.updatedColumn())
            .from(
                source.columns().columns().stream().map(SourceColumn::name).toList(),
                targetColumns);
    Map<String, SourceColumn> sources =
        source.columns().columns().stream()
            .collect(Collectors.toMap(SourceColumn::name, Function.identity()));
    Map<String, String> types =
        targetColumns.stream().collect(Collectors.toMap(TargetColumn::name, TargetColumn::type));
    List<ColumnMapping> columns =
        ColumnMapping.all(
            names.stream().map(sources::get).toList(),
            names.stream().map(types::get).map(ClickHouseType::parse).toList(),
            new LoadConditions(
                input.load(),
                takesQuery,
                Catalogue.serverTimeZone(clickHouse),
                source.columns().encoding()));
    AuditPlan audit =
        new AuditPlan(
            columns,
            named(columns, input.pkColumn()),
            named(columns, input.checksumColumn()),
            sources.get(input.updatedColumn()),
            input.audit() == AuditMode.FULL);
    return new Layout(
        table,
        target,
        columns,
        audit,
        access(connection.seen()),
        source.columns().encoding(),
        takesQuery,
        source.identity());
  }

  private static Source source(RefreshSettings.Source connection, TableName table) {
    dev.millrace.postgres.Catalogue catalogue = new dev.millrace.postgres.Catalogue();
    return connection
        .postgres()
        .read(
            open -> {
              Relation relation = catalogue.relation(open, table);
              SourceIdentity identity = catalogue.identity(open);
              return new Source(
                  SourceColumns.of(open, relation),
                  "%d/%s/%d"
                      .formatted(identity.systemIdentifier(), identity.database(), relation.oid()));
            });
  }

  static PullStatement.Access access(PostgresSeen seen) {
    return seen.namedCollection() == null
        ? new PullStatement.Access.Direct(
            seen.hostAndPort(), seen.database(), seen.user(), seen.password())
        : new PullStatement.Access.Collection(seen.namedCollection());
  }

  private static ColumnMapping named(List<ColumnMapping> columns, String name) {
    Optional<ColumnMapping> found =
        columns.stream().filter(column -> column.name().equals(name)).findFirst();
    return found.orElseThrow();
  }

  /** Returns the audit of the source. */
  SourceAudit sourceAudit() {
    return new SourceAudit(audit, table, encoding);
  }

  /** Returns the names of the copied columns. */
  List<String> names() {
    return columns.stream().map(ColumnMapping::name).toList();
  }

  /** Returns where the key is among the columns. */
  int keyPosition() {
    return columns.indexOf(audit.key());
  }

  /** Returns a hash of the columns, their types, and what is compared. */
  String hash() {
    String text =
        columns.stream()
                .map(
                    column ->
                        "%s %s %s"
                            .formatted(
                                column.name(), column.source().declared(), column.type().text()))
                .collect(Collectors.joining("\n"))
            + "\n%s\n%s\n%s\n%s"
                .formatted(
                    audit.key().name(),
                    audit.checksum().name(),
                    audit.updated().name(),
                    audit.full());
    return ShortHash.of(text, HASH_DIGITS);
  }

  /**
   * Makes sure that the columns are still those of the plan.
   *
   * @throws MillraceException with {@code COLUMN_MISMATCH}
   */
  Layout require(String planned) {
    if (!hash().equals(planned)) {
      throw new MillraceException(
          ErrorCode.COLUMN_MISMATCH,
          "columns of %s or %s changed while the refresh ran; run again".formatted(table, target));
    }
    return this;
  }
}
