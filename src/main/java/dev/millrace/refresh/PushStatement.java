package dev.millrace.refresh;

import dev.millrace.clickhouse.TargetTable;
import dev.millrace.postgres.Identifiers;
import dev.millrace.postgres.TableName;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The two halves of a push: what is read from Postgres, and what ClickHouse does with the rows.
 *
 * @param columns the columns, in the order of the rows' fields
 */
record PushStatement(List<ColumnMapping> columns) {

  PushStatement {
    columns = List.copyOf(columns);
  }

  /** Returns the SELECT whose binary COPY {@link PushEncoder} takes. */
  String select(TableName source) {
    return "SELECT %s FROM %s AS %s"
        .formatted(
            columns.stream().map(ColumnMapping::pushSelect).collect(Collectors.joining(", ")),
            Identifiers.quote(source),
            ColumnMapping.ALIAS);
  }

  /** Returns where the rows go: what {@code ClickHouse.insert} puts behind INSERT INTO. */
  String into(TargetTable target) {
    return "%s (%s)"
        .formatted(
            target.sql(),
            columns.stream().map(ColumnMapping::targetSql).collect(Collectors.joining(", ")));
  }
}
