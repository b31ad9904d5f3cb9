package dev.millrace.replication;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.NearestName;
import dev.millrace.postgres.Catalogue;
import dev.millrace.postgres.Column;
import dev.millrace.postgres.Relation;
import dev.millrace.postgres.RowFilter;
import dev.millrace.postgres.SelectQuery;
import dev.millrace.postgres.SourceIdentity;
import dev.millrace.postgres.TableName;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The rows that a task reads, as the catalogue shows them now.
 *
 * @param name the table
 * @param columns what is copied, in the table's order, as the rules decide it
 * @param key the update key as the catalogue has it; it need not be among the columns
 * @param keyKind how its windows are cut
 * @param keyIndexed whether an index serves the key
 * @param systemIdentifier of the cluster
 * @param database the database
 * @param oid the table's oid
 * @param relation what the catalogue tells of it; null in demo mode
 * @param filter which rows are read; all in demo mode
 * @param rows gives the SELECT of columns under a condition, of the filter's rows
 */
record SourceTable(
    TableName name,
    List<Column> columns,
    Column key,
    KeyKind keyKind,
    boolean keyIndexed,
    String systemIdentifier,
    String database,
    long oid,
    Relation relation,
    RowFilter filter,
    Rows rows) {

  /** Gives the SELECT of columns under a condition; null for all rows of the filter. */
  @FunctionalInterface
  interface Rows {
    String select(List<Column> columns, String condition, boolean withIds);
  }

  SourceTable {
    columns = List.copyOf(columns);
  }

  /**
   * Returns the SELECT of the columns that are copied.
   *
   * @param withIds whether the transaction that wrote the row comes behind them
   */
  String select(String condition, boolean withIds) {
    return rows.select(columns, condition, withIds);
  }

  /** Returns where the key is among the columns; -1 when it is not. */
  int keyPosition() {
    return columns.stream().map(Column::name).toList().indexOf(key.name());
  }

  /** Returns the table of a task, whose rows are made up in demo mode; else as {@link #find}. */
  static SourceTable of(Connection connection, TableTask task, RowFilter filter)
      throws SQLException {
    return task.demo() ? DemoTable.of(task.table()) : find(connection, task.table(), filter);
  }

  /**
   * Finds the table.
   *
   * @param filter which of its rows are meant
   * @throws MillraceException with {@code TABLE_MISSING}, {@code NO_PRIVILEGE}, {@code
   *     COLUMN_MISSING}, {@code KEY_MISSING}, {@code KEY_TYPE_UNSUPPORTED}, {@code
   *     TYPE_UNSUPPORTED}, {@code BAD_INPUT}, or {@code BAD_CONFIGURATION} for the filter
   */
  static SourceTable find(Connection connection, TableRequest request, RowFilter filter)
      throws SQLException {
    Catalogue catalogue = new Catalogue();
    Relation relation = catalogue.relation(connection, request.name());
    filter.requireFits(relation);
    SourceIdentity identity = catalogue.identity(connection);
    Column key = key(relation, request);
    return new SourceTable(
        relation.name(),
        columns(relation, request),
        key,
        keyKind(request, key),
        catalogue.hasIndexStartingWith(connection, relation, key.name()),
        Long.toUnsignedString(identity.systemIdentifier()),
        identity.database(),
        relation.oid(),
        relation,
        filter,
        (columns, condition, withIds) ->
            SelectQuery.text(relation, relation.name(), columns, filter.and(condition), withIds));
  }

  private static Column key(Relation relation, TableRequest request) {
    String wanted = request.updateKey();
    Optional<Column> key = relation.column(wanted);
    if (key.isPresent()) {
      relation.requireReadable(List.of(key.get()));
      return key.get();
    }
    String hint =
        wanted.contains("(") || wanted.contains("|")
            ? "an expression is no key, make a view that has it as a column"
            : "did you mean %s?".formatted(NearestName.of(wanted, names(relation)));
    throw new MillraceException(
        ErrorCode.KEY_MISSING,
        "%s has no column '%s' for its update_key; %s".formatted(relation.name(), wanted, hint));
  }

  private static KeyKind keyKind(TableRequest request, Column key) {
    return KeyKind.of(key)
        .orElseThrow(
            () ->
                new MillraceException(
                    ErrorCode.KEY_TYPE_UNSUPPORTED,
                    "%s: the update key %s has the type %s; take a timestamptz, timestamp, integer or numeric column%s"
                        .formatted(
                            request.name(),
                            key.name(),
                            key.type().declared(),
                            key.type().declared().equals("date")
                                ? ", a date would lose rows that are written later on its day"
                                : "")));
  }

  private static List<Column> columns(Relation relation, TableRequest request) {
    refuseMissing(relation, request.columns());
    refuseMissing(relation, request.exclude());
    List<Column> columns = new ArrayList<>(relation.columns());
    if (!request.columns().isEmpty()) {
      columns.removeIf(column -> !request.columns().contains(column.name()));
    }
    columns.removeIf(column -> request.exclude().contains(column.name()));
    if (columns.isEmpty()) {
      throw new MillraceException(
          ErrorCode.COLUMN_MISSING,
          "%s: columns and exclude leave no column to copy".formatted(relation.name()));
    }
    relation.requireReadable(columns);
    return TypeChoice.decide(request, columns);
  }

  private static void refuseMissing(Relation relation, List<String> wanted) {
    for (String name : wanted) {
      if (relation.column(name).isEmpty()) {
        throw new MillraceException(
            ErrorCode.COLUMN_MISSING,
            "%s has no column '%s'; did you mean %s?"
                .formatted(relation.name(), name, NearestName.of(name, names(relation))));
      }
    }
  }

  private static List<String> names(Relation relation) {
    return relation.columns().stream().map(Column::name).toList();
  }
}
