package dev.millrace.refresh;

import dev.millrace.postgres.Relation;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The columns of a Postgres table, and what of their server their text depends on.
 *
 * @param columns in the table's order
 * @param encoding the database's encoding, such as {@code UTF8}
 */
record SourceColumns(List<SourceColumn> columns, String encoding) {

  /**
   * Domains are followed to what they are made of, arrays to their elements. {@code oidvector} and
   * {@code int2vector} are of the category of arrays, but aren't written as such.
   */
  private static final String TYPES =
      """
      WITH RECURSIVE base AS (
        SELECT a.attnum, 0 AS depth, a.atttypmod AS modifier,
               t.oid, t.typtype, t.typbasetype, t.typtypmod, t.typelem, t.typcategory
        FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
        WHERE a.attrelid = ? AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT base.attnum, base.depth + CASE base.typtype WHEN 'd' THEN 0 ELSE 1 END,
               CASE base.typtype WHEN 'd' THEN base.typtypmod ELSE base.modifier END,
               t.oid, t.typtype, t.typbasetype, t.typtypmod, t.typelem, t.typcategory
        FROM base JOIN pg_type t ON t.oid = CASE
          WHEN base.typtype = 'd' THEN base.typbasetype
          WHEN base.typcategory = 'A' AND base.typelem <> 0
            AND base.oid NOT IN ('oidvector'::regtype, 'int2vector'::regtype) THEN base.typelem END)
      SELECT a.attname,
             a.attnotnull AND c.relkind <> 'f' AND NOT EXISTS (
               SELECT FROM pg_constraint k
               WHERE k.conrelid = a.attrelid AND k.contype = 'n' AND NOT k.convalidated
                 AND a.attnum = ANY (k.conkey)) AS filled,
             format_type(a.atttypid, a.atttypmod) AS declared,
             base.depth, format_type(base.oid, base.modifier) AS type, base.typtype = 'e' AS label
      FROM pg_attribute a JOIN base ON base.attnum = a.attnum AND base.typtype <> 'd'
        JOIN pg_class c ON c.oid = a.attrelid
      WHERE a.attrelid = ?
      ORDER BY a.attnum, base.depth""";

  private static final String ENCODING = "SELECT current_setting('server_encoding')";

  SourceColumns {
    columns = List.copyOf(columns);
    Objects.requireNonNull(encoding, "encoding");
  }

  /** Reads them from the catalogue; to be called inside {@code Postgres.read}. */
  static SourceColumns of(Connection connection, Relation relation) throws SQLException {
    Map<String, SourceColumn> columns = new LinkedHashMap<>();
    try (PreparedStatement query = connection.prepareStatement(TYPES)) {
      query.setLong(1, relation.oid());
      query.setLong(2, relation.oid());
      try (ResultSet row = query.executeQuery()) {
        while (row.next()) {
          columns.merge(row.getString("attname"), column(row), SourceColumns::withElement);
        }
      }
    }
    try (PreparedStatement query = connection.prepareStatement(ENCODING);
        ResultSet row = query.executeQuery()) {
      row.next();
      return new SourceColumns(new ArrayList<>(columns.values()), row.getString(1));
    }
  }

  private static SourceColumn column(ResultSet row) throws SQLException {
    return new SourceColumn(
        row.getString("attname"),
        row.getString("declared"),
        PostgresType.scalar(row.getString("type"), row.getBoolean("label")),
        !row.getBoolean("filled"));
  }

  /** An element's row comes after its array's; an array of arrays (by a domain) wraps twice. */
  private static SourceColumn withElement(SourceColumn array, SourceColumn element) {
    return new SourceColumn(
        array.name(), array.declared(), nest(array.type(), element.type()), array.nullable());
  }

  private static PostgresType nest(PostgresType outer, PostgresType innermost) {
    return outer.kind() == PostgresType.Kind.ARRAY
        ? PostgresType.arrayOf(nest(outer.element(), innermost))
        : PostgresType.arrayOf(innermost);
  }
}
