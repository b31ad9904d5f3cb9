package dev.millrace.postgres;

import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.ColumnType.Wire;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The SELECT that a COPY reads. */
public final class SelectQuery {
  private SelectQuery() {}

  /**
   * Returns {@code SELECT "a", "b"::text AS "b" FROM "s"."t" WHERE …}.
   *
   * @param relation what is read; rows of its partitions and child tables are included
   * @param columns columns of it, at least one, in the order in which they are to come
   * @param condition SQL, or null for all rows
   * @throws MillraceException with {@code NO_PRIVILEGE} when a column may not be read
   */
  public static String text(Relation relation, List<Column> columns, String condition) {
    return text(relation, relation.name(), columns, condition, false);
  }

  /**
   * Returns the SELECT of a relation, or of one of its partitions, with the transaction that wrote
   * each row.
   *
   * @param relation whose columns are meant
   * @param table the relation, or a partition or child table of it
   * @param withIds whether {@code xmin} comes as one more field behind the columns
   * @throws MillraceException with {@code NO_PRIVILEGE} when a column may not be read
   */
  public static String text(
      Relation relation, TableName table, List<Column> columns, String condition, boolean withIds) {
    if (columns.isEmpty()) {
      throw new IllegalArgumentException("no columns of " + relation.name());
    }
    relation.requireReadable(columns);
    String list =
        columns.stream().map(column -> item(relation, column)).collect(Collectors.joining(", "));
    String select =
        "SELECT " + list + (withIds ? ", xmin" : "") + " FROM " + Identifiers.quote(table);
    return condition == null ? select : select + " WHERE " + condition;
  }

  /**
   * Returns the SELECT of all rows of a relation with some more fields behind the columns.
   *
   * @param expressions SQL, of the relation's rows
   */
  public static String withMore(Relation relation, List<Column> columns, List<String> expressions) {
    relation.requireReadable(columns);
    return Stream.concat(
            columns.stream().map(column -> item(relation, column)), expressions.stream())
        .collect(
            Collectors.joining(", ", "SELECT ", " FROM " + Identifiers.quote(relation.name())));
  }

  private static String item(Relation relation, Column column) {
    String name = Identifiers.quote(column.name());
    if (relation.sqlAscii() && column.type().wire() == Wire.TEXT && !column.type().isArray()) {
      // As bytea, which the server hands out unchecked: where it checks text, it tells no row.
      return "CASE WHEN %s IS NOT NULL THEN convert_to(format('%%s', %s), 'SQL_ASCII') END AS %s"
          .formatted(name, name, name);
    }
    return column.readAs() == null ? name : "%s::%s AS %s".formatted(name, column.readAs(), name);
  }
}
