package dev.millrace.postgres;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A table, or what can be read like one, as the catalogue describes it.
 *
 * @param name its name
 * @param oid its id in {@code pg_class}
 * @param kind what it is
 * @param columns those that are not dropped, in the table's order, before any rule is applied;
 *     never empty
 * @param unreadable names of columns that the user has no SELECT on; never all of them
 * @param sqlAscii whether the database's encoding is SQL_ASCII: its text may be any bytes
 */
public record Relation(
    TableName name,
    long oid,
    Kind kind,
    List<Column> columns,
    Set<String> unreadable,
    boolean sqlAscii) {

  /** The kinds of relations that can be read. */
  public enum Kind {
    TABLE,
    PARTITIONED_TABLE,
    VIEW,
    MATERIALIZED_VIEW,
    FOREIGN_TABLE
  }

  public Relation {
    columns = List.copyOf(columns);
    unreadable = Set.copyOf(unreadable);
  }

  /**
   * Returns the column of that name.
   *
   * @param column as the catalogue has it
   */
  public Optional<Column> column(String column) {
    return columns.stream().filter(candidate -> candidate.name().equals(column)).findFirst();
  }

  /** Returns all columns as they are read and written under some rules. */
  public List<Column> columns(ColumnRules rules) {
    return columns.stream().map(column -> column.under(rules)).toList();
  }

  /**
   * Makes sure that the user may read these columns.
   *
   * @throws MillraceException with {@code NO_PRIVILEGE} that names those it may not
   */
  public void requireReadable(Collection<Column> wanted) {
    List<String> missing =
        wanted.stream()
            .map(Column::name)
            .filter(unreadable::contains)
            .map(Identifiers::quote)
            .distinct()
            .toList();
    if (missing.isEmpty()) {
      return;
    }
    String list = String.join(", ", missing);
    throw new MillraceException(
        ErrorCode.NO_PRIVILEGE,
        "no SELECT privilege on column %s of %s; exclude it, or GRANT SELECT (%s) ON %s"
            .formatted(list, name, list, Identifiers.quote(name)));
  }
}
