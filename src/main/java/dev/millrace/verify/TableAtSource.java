package dev.millrace.verify;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Catalogue;
import dev.millrace.postgres.Column;
import dev.millrace.postgres.Relation;
import dev.millrace.postgres.RowFilter;
import dev.millrace.postgres.SourceIdentity;
import dev.millrace.postgres.TableName;
import dev.millrace.replication.CommittedTable;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The table that was copied, as its catalogue has it now.
 *
 * @param relation the table
 * @param primaryKey names of its primary key's columns; empty for none
 * @param filter which of its rows the last window took
 */
record TableAtSource(Relation relation, List<String> primaryKey, RowFilter filter) {

  /**
   * Finds it.
   *
   * @throws MillraceException with {@code SOURCE_CHANGED} when it is not the one that was copied,
   *     {@code TABLE_MISSING}, {@code NO_PRIVILEGE} or, by the filter, {@code COLUMN_MISSING}
   */
  static TableAtSource find(
      Connection connection, TableName table, CommittedTable committed, RowFilter filter)
      throws SQLException {
    Catalogue catalogue = new Catalogue();
    Relation relation = catalogue.relation(connection, table);
    SourceIdentity identity = catalogue.identity(connection);
    if (!committed.cameFrom(
        Long.toUnsignedString(identity.systemIdentifier()), identity.database(), relation.oid())) {
      throw new MillraceException(
          ErrorCode.SOURCE_CHANGED,
          "%s of this source is another table than the one that was copied; name the right connection with --source, or decide with millrace state accept or reset first"
              .formatted(table));
    }
    filter.requireFits(relation);
    return new TableAtSource(relation, catalogue.primaryKey(connection, relation), filter);
  }

  Set<String> columns() {
    return relation.columns().stream().map(Column::name).collect(Collectors.toSet());
  }
}
