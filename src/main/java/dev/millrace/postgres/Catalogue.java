package dev.millrace.postgres;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.ColumnType.Wire;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What the <a href="https://www.postgresql.org/docs/current/catalogs.html">system catalogues</a>
 * tell about relations, with the rights of the user who asks.
 *
 * <p>Stateless; to be used inside {@link Postgres#read} or {@link Postgres#transact}.
 */
public final class Catalogue {
  /** Digits that Parquet's readers agree to hold. */
  private static final int MAX_PRECISION = 38;

  private static final String RELATION =
      """
      SELECT c.oid, c.relkind, has_schema_privilege(n.oid, 'USAGE') AS usage,
             current_setting('server_encoding') = 'SQL_ASCII' AS ascii
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ? AND c.relname = ?""";

  /** Domains are followed to what they are made of; the innermost type's modifier counts. */
  private static final String COLUMNS =
      """
      WITH RECURSIVE base AS (
        SELECT a.attnum, a.atttypmod AS modifier,
               t.oid, t.typtype, t.typbasetype, t.typtypmod
        FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
        WHERE a.attrelid = ? AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT base.attnum, base.typtypmod,
               t.oid, t.typtype, t.typbasetype, t.typtypmod
        FROM base JOIN pg_type t ON base.typtype = 'd' AND t.oid = base.typbasetype)
      SELECT a.attname, a.attnotnull, format_type(a.atttypid, a.atttypmod) AS declared,
             base.oid::int8 AS type, base.typtype, base.modifier,
             has_column_privilege(a.attrelid, a.attnum, 'SELECT') AS readable
      FROM pg_attribute a JOIN base ON base.attnum = a.attnum AND base.typtype <> 'd'
      WHERE a.attrelid = ?
      ORDER BY a.attnum""";

  private static final String NAMESAKES =
      """
      SELECT n.nspname, c.relname
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE lower(c.relname) = lower(?) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND n.nspname NOT LIKE 'pg\\_%'
      ORDER BY 1, 2 LIMIT 3""";

  private static final String INDEX =
      """
      SELECT EXISTS (
        SELECT FROM pg_index i
          JOIN pg_class c ON c.oid = i.indexrelid
          JOIN pg_am m ON m.oid = c.relam AND m.amname = 'btree'
          JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE i.indrelid = ? AND a.attname = ? AND i.indisvalid AND i.indpred IS NULL)""";

  private static final String PRIMARY_KEY =
      """
      SELECT a.attname
      FROM pg_index i, unnest(i.indkey::int2[]) WITH ORDINALITY AS k (number, place)
        JOIN pg_attribute a ON a.attnum = k.number
      WHERE i.indrelid = ? AND i.indisprimary AND a.attrelid = i.indrelid
        AND k.place <= i.indnkeyatts
      ORDER BY k.place""";

  private static final String PARTITIONS =
      """
      SELECT c.oid::int8, n.nspname, c.relname,
             has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.oid::int8 = ANY (?) ORDER BY 2, 3""";

  private static final String IDENTITY =
      "SELECT system_identifier, current_database() FROM pg_control_system()";

  /** Makes a catalogue. */
  public Catalogue() {}

  /**
   * Describes a relation: tables, partitioned tables, views, materialized views, foreign tables.
   * Generated and identity columns are among its columns, dropped ones are not.
   *
   * @throws MillraceException with {@code TABLE_MISSING} when there is none, or one that can't be
   *     read; with {@code NO_PRIVILEGE} when the user may read no column of it
   */
  public Relation relation(Connection connection, TableName name) throws SQLException {
    try (PreparedStatement query = connection.prepareStatement(RELATION)) {
      query.setString(1, name.schema());
      query.setString(2, name.table());
      try (ResultSet row = query.executeQuery()) {
        if (!row.next()) {
          throw missing(connection, name);
        }
        Relation.Kind kind = kind(name, row.getString("relkind"));
        if (!row.getBoolean("usage")) {
          String schema = Identifiers.quote(name.schema());
          throw new MillraceException(
              ErrorCode.NO_PRIVILEGE,
              "no USAGE privilege on schema %s, so %s can't be read; GRANT USAGE ON SCHEMA %s"
                  .formatted(schema, name, schema));
        }
        return describe(connection, name, row.getLong("oid"), kind, row.getBoolean("ascii"));
      }
    }
  }

  private static Relation describe(
      Connection connection, TableName name, long oid, Relation.Kind kind, boolean sqlAscii)
      throws SQLException {
    List<Column> columns = new ArrayList<>();
    Set<String> unreadable = new HashSet<>();
    try (PreparedStatement query = connection.prepareStatement(COLUMNS)) {
      query.setLong(1, oid);
      query.setLong(2, oid);
      try (ResultSet row = query.executeQuery()) {
        while (row.next()) {
          Column column = column(row, sqlAscii);
          columns.add(column);
          if (!row.getBoolean("readable")) {
            unreadable.add(column.name());
          }
        }
      }
    }
    if (columns.isEmpty()) {
      throw new MillraceException(
          ErrorCode.TABLE_MISSING,
          "%s has no columns, so there is nothing to read".formatted(name));
    }
    if (unreadable.size() == columns.size()) {
      throw new MillraceException(
          ErrorCode.NO_PRIVILEGE,
          "no SELECT privilege on %s; GRANT SELECT ON %s".formatted(name, Identifiers.quote(name)));
    }
    return new Relation(name, oid, kind, columns, unreadable, sqlAscii);
  }

  private static Relation.Kind kind(TableName name, String relkind) {
    return switch (relkind) {
      case "r" -> Relation.Kind.TABLE;
      case "p" -> Relation.Kind.PARTITIONED_TABLE;
      case "v" -> Relation.Kind.VIEW;
      case "m" -> Relation.Kind.MATERIALIZED_VIEW;
      case "f" -> Relation.Kind.FOREIGN_TABLE;
      default ->
          throw new MillraceException(
              ErrorCode.TABLE_MISSING,
              "%s is %s, not a table or a view".formatted(name, otherKind(relkind)));
    };
  }

  private static String otherKind(String relkind) {
    return switch (relkind) {
      case "i", "I" -> "an index";
      case "S" -> "a sequence";
      case "c" -> "a composite type";
      case "t" -> "a TOAST table";
      default -> "of kind '" + relkind + "'";
    };
  }

  private static MillraceException missing(Connection connection, TableName name)
      throws SQLException {
    List<String> namesakes = new ArrayList<>();
    try (PreparedStatement query = connection.prepareStatement(NAMESAKES)) {
      query.setString(1, name.table());
      try (ResultSet row = query.executeQuery()) {
        while (row.next()) {
          namesakes.add(new TableName(row.getString(1), row.getString(2)).toString());
        }
      }
    }
    String hint =
        namesakes.isEmpty() ? "" : "; did you mean " + String.join(" or ", namesakes) + "?";
    return new MillraceException(
        ErrorCode.TABLE_MISSING, "table %s does not exist%s".formatted(name, hint));
  }

  private static Column column(ResultSet row, boolean sqlAscii) throws SQLException {
    String name = row.getString("attname");
    boolean nullable = !row.getBoolean("attnotnull");
    String declared = row.getString("declared");
    if ("e".equals(row.getString("typtype"))) {
      return new Column(
          name, new ColumnType(Wire.TEXT, 0, 0, declared), nullable, false, Column.Kind.ENUM);
    }
    long type = row.getLong("type");
    // jsonb's own form would be checked by the server, see SelectQuery.
    Optional<ColumnType> known =
        sqlAscii && type == TypeId.JSONB
            ? Optional.empty()
            : type(type, row.getInt("modifier"), declared);
    boolean json = type == TypeId.JSON || type == TypeId.JSONB;
    return new Column(
        name,
        known.orElseGet(() -> new ColumnType(Wire.TEXT, 0, 0, declared)),
        nullable,
        known.isEmpty(),
        json ? Column.Kind.JSON : Column.Kind.PLAIN);
  }

  /** Ids that no release of Postgres changes, from {@code pg_type.dat}. */
  private static final class TypeId {
    private static final int JSON = 114;
    private static final int JSONB = 3802;
  }

  private static Optional<ColumnType> type(long type, int modifier, String declared) {
    Wire wire =
        switch ((int) type) {
          case 16 -> Wire.BOOL;
          case 17 -> Wire.BYTEA;
          case 20 -> Wire.INT8;
          case 21 -> Wire.INT2;
          case 23 -> Wire.INT4;
          // name, text, bpchar, varchar; "char" is read as text, since its one byte need not be
          // text
          case 19, 25, 1042, 1043, TypeId.JSON -> Wire.TEXT;
          case 700 -> Wire.FLOAT4;
          case 701 -> Wire.FLOAT8;
          case 1082 -> Wire.DATE;
          case 1083 -> Wire.TIME;
          case 1114 -> Wire.TIMESTAMP;
          case 1184 -> Wire.TIMESTAMPTZ;
          case 1700 -> Wire.NUMERIC;
          case 2950 -> Wire.UUID;
          case TypeId.JSONB -> Wire.JSONB;
          default -> null;
        };
    if (wire == Wire.NUMERIC) {
      return numeric(modifier, declared);
    }
    return Optional.ofNullable(wire).map(known -> new ColumnType(known, 0, 0, declared));
  }

  /**
   * Reads numeric's type modifier as {@code numeric.c} packs it: 16 bits of precision, 11 bits of
   * signed scale, plus the header's 4.
   *
   * @return empty when Parquet's DECIMAL can't hold it: without precision, above 38 digits, or with
   *     a scale that is negative or above the precision (Postgres 15)
   */
  private static Optional<ColumnType> numeric(int modifier, String declared) {
    if (modifier < 4) {
      return Optional.empty();
    }
    int precision = ((modifier - 4) >> 16) & 0xffff;
    int scale = (((modifier - 4) & 0x7ff) ^ 0x400) - 0x400;
    if (precision > MAX_PRECISION || scale < 0 || scale > precision) {
      return Optional.empty();
    }
    return Optional.of(new ColumnType(Wire.NUMERIC, precision, scale, declared));
  }

  /**
   * Returns whether a range of this column can be read through an index: a valid btree on all rows
   * whose first column it is.
   */
  public boolean hasIndexStartingWith(Connection connection, Relation relation, String column)
      throws SQLException {
    try (PreparedStatement query = connection.prepareStatement(INDEX)) {
      query.setLong(1, relation.oid());
      query.setString(2, column);
      try (ResultSet row = query.executeQuery()) {
        return row.next() && row.getBoolean(1);
      }
    }
  }

  /** Returns partitions or child tables by their oids. */
  public List<Partition> partitions(Connection connection, Collection<Long> oids)
      throws SQLException {
    List<Partition> partitions = new ArrayList<>();
    try (PreparedStatement query = connection.prepareStatement(PARTITIONS)) {
      query.setArray(1, connection.createArrayOf("int8", oids.toArray()));
      try (ResultSet row = query.executeQuery()) {
        while (row.next()) {
          partitions.add(
              new Partition(
                  row.getLong(1),
                  new TableName(row.getString(2), row.getString(3)),
                  row.getBoolean(4)));
        }
      }
    }
    return partitions;
  }

  /** Returns the columns of the primary key, in its order; none where there is no such key. */
  public List<String> primaryKey(Connection connection, Relation relation) throws SQLException {
    List<String> names = new ArrayList<>();
    try (PreparedStatement query = connection.prepareStatement(PRIMARY_KEY)) {
      query.setLong(1, relation.oid());
      try (ResultSet row = query.executeQuery()) {
        while (row.next()) {
          names.add(row.getString(1));
        }
      }
    }
    return names;
  }

  /** Returns what tells this database from others. */
  public SourceIdentity identity(Connection connection) throws SQLException {
    try (PreparedStatement query = connection.prepareStatement(IDENTITY);
        ResultSet row = query.executeQuery()) {
      row.next();
      return new SourceIdentity(row.getLong(1), row.getString(2));
    }
  }
}
