package dev.millrace.postgres;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.ColumnType.Wire;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
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

  /** Digits of the greatest 64-bit number. */
  private static final int MONEY_DIGITS = 19;

  private static final String RELATION =
      """
      SELECT c.oid, c.relkind, has_schema_privilege(n.oid, 'USAGE') AS usage,
             current_setting('server_encoding') = 'SQL_ASCII' AS ascii
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ? AND c.relname = ?\
      """;

  /**
   * Domains are followed to what they are made of, an array once to its elements; the innermost
   * type's modifier counts. A true array type is the one that its element type names, which leaves
   * out {@code int2vector} and the like.
   */
  private static final String COLUMNS =
      """
      WITH RECURSIVE layer AS (
        SELECT a.attnum, 0 AS depth, a.atttypid AS type, a.atttypmod AS modifier,
               a.attndims::int4 AS declared, 0 AS dimensions
        FROM pg_attribute a
        WHERE a.attrelid = ? AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT layer.attnum, layer.depth + 1,
               CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.typelem END,
               CASE t.typtype WHEN 'd' THEN t.typtypmod ELSE layer.modifier END,
               CASE t.typtype WHEN 'd' THEN t.typndims ELSE 0 END,
               CASE t.typtype WHEN 'd' THEN layer.dimensions ELSE greatest(1, layer.declared) END
        FROM layer
          JOIN pg_type t ON t.oid = layer.type
          LEFT JOIN pg_type e ON e.oid = t.typelem AND e.typarray = t.oid
        WHERE t.typtype = 'd' OR (layer.dimensions = 0 AND e.oid IS NOT NULL)),
      innermost AS (SELECT DISTINCT ON (attnum) * FROM layer ORDER BY attnum, depth DESC)
      SELECT a.attname, a.attnotnull, format_type(a.atttypid, a.atttypmod) AS declared,
             t.oid::int8 AS type, t.typtype, t.typname, i.modifier, i.dimensions,
             CASE WHEN t.oid = 'money'::regtype THEN scale(0::money::numeric) END AS money_scale,
             (SELECT e.extname
              FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
              WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid
                AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e') AS extension,
             EXISTS (SELECT FROM pg_cast
                     WHERE castsource = t.oid AND casttarget = 'real[]'::regtype) AS reals,
             col_description(a.attrelid, a.attnum) AS comment,
             has_column_privilege(a.attrelid, a.attnum, 'SELECT') AS readable
      FROM pg_attribute a
        JOIN innermost i ON i.attnum = a.attnum
        JOIN pg_type t ON t.oid = i.type
      WHERE a.attrelid = ?
      ORDER BY a.attnum\
      """;

  private static final String NAMESAKES =
      """
      SELECT n.nspname, c.relname
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE lower(c.relname) = lower(?) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND n.nspname NOT LIKE 'pg\\_%'
      ORDER BY 1, 2 LIMIT 3\
      """;

  private static final String INDEX =
      """
      SELECT EXISTS (
        SELECT FROM pg_index i
          JOIN pg_class c ON c.oid = i.indexrelid
          JOIN pg_am m ON m.oid = c.relam AND m.amname = 'btree'
          JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE i.indrelid = ? AND a.attname = ? AND i.indisvalid AND i.indpred IS NULL)\
      """;

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

  /**
   * Only what makes {@code =} of the column's own type and collation unique. A collation that is
   * not deterministic may be another one in the key of the partitions. The index of a table with
   * children in the sense of inheritance knows nothing of their rows; that of a partitioned table
   * holds for all, and is valid only when each partition has its part.
   */
  private static final String UNIQUE =
      """
      SELECT EXISTS (
        SELECT FROM pg_index i
          JOIN pg_class t ON t.oid = i.indrelid
          JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
          JOIN pg_class c ON c.oid = i.indexrelid
          JOIN pg_am m ON m.oid = c.relam AND m.amname = 'btree'
          JOIN pg_opclass o ON o.oid = i.indclass[0] AND o.opcdefault
          LEFT JOIN pg_collation k ON k.oid = a.attcollation
        WHERE i.indrelid = to_regclass(?) AND a.attname = ?
          AND i.indisunique AND i.indisvalid AND i.indisready AND i.indislive
          AND NOT i.indisexclusion AND i.indpred IS NULL AND i.indexprs IS NULL
          AND i.indnkeyatts = 1 AND i.indcollation[0] = a.attcollation
          AND coalesce(k.collisdeterministic, true)
          AND (t.relkind = 'p' OR t.relkind = 'r' AND NOT EXISTS (
            SELECT FROM pg_inherits h WHERE h.inhparent = t.oid)))""";

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
    Reading reading = reading(row);
    int dimensions = row.getInt("dimensions");
    String readAs = reading.readAs();
    if (reading.isList()) {
      // A list of lists has no cast.
      reading = dimensions == 0 ? reading : Reading.AS_TEXT;
      readAs = dimensions == 0 ? readAs : "text[]";
      dimensions = Math.max(1, dimensions);
    } else if (dimensions > 0 && readAs != null) {
      readAs += "[]";
    }
    Column column =
        new Column(
            row.getString("attname"),
            new ColumnType(
                reading.wire(),
                reading.precision(),
                reading.scale(),
                dimensions,
                row.getString("declared")),
            !row.getBoolean("attnotnull"),
            readAs,
            reading.kind(),
            row.getString("comment"),
            ColumnRules.DEFAULT);
    return sqlAscii && uncheckedOnlyAsText(column) ? column.inTextForm() : column;
  }

  /** Text inside other forms would be checked by the server, see SelectQuery. */
  private static boolean uncheckedOnlyAsText(Column column) {
    return switch (column.type().wire()) {
      case TEXT -> column.type().isArray();
      case JSONB -> true;
      case BOOL,
          INT2,
          INT4,
          INT8,
          FLOAT4,
          FLOAT8,
          NUMERIC,
          BYTEA,
          UUID,
          DATE,
          TIME,
          TIMESTAMP,
          TIMESTAMPTZ ->
          false;
    };
  }

  /**
   * How the values of a type are read.
   *
   * @param readAs the SQL type that they are cast to; null for none
   */
  private record Reading(Wire wire, int precision, int scale, String readAs, Column.Kind kind) {
    private static final Reading AS_TEXT = of(Wire.TEXT, "text");

    /** What pgvector sends has no element lengths; the cast to an array has. */
    private static final Reading REALS = of(Wire.FLOAT4, "real[]");

    private static Reading of(Wire wire) {
      return new Reading(wire, 0, 0, null, Column.Kind.PLAIN);
    }

    private static Reading of(Wire wire, String readAs) {
      return new Reading(wire, 0, 0, readAs, Column.Kind.PLAIN);
    }

    private static Reading of(Wire wire, Column.Kind kind) {
      return new Reading(wire, 0, 0, null, kind);
    }

    private boolean isList() {
      return equals(REALS);
    }
  }

  /** Ids of types are those of {@code pg_type.dat}, which no release of Postgres changes. */
  private static Reading reading(ResultSet row) throws SQLException {
    if ("e".equals(row.getString("typtype"))) {
      return Reading.of(Wire.TEXT, Column.Kind.ENUM);
    }
    return switch ((int) row.getLong("type")) {
      case 16 -> Reading.of(Wire.BOOL);
      case 17 -> Reading.of(Wire.BYTEA);
      // name, text, bpchar, varchar; "char" is read as text, since its one byte need not be text
      case 19, 25, 1042, 1043 -> Reading.of(Wire.TEXT);
      case 20 -> Reading.of(Wire.INT8);
      case 21 -> Reading.of(Wire.INT2);
      case 23 -> Reading.of(Wire.INT4);
      // oid: 32 bits without a sign
      case 26 -> Reading.of(Wire.INT8, "int8");
      case 114 -> Reading.of(Wire.TEXT, Column.Kind.JSON);
      case 700 -> Reading.of(Wire.FLOAT4);
      case 701 -> Reading.of(Wire.FLOAT8);
      // money: 64 bits; the database's lc_monetary says how many of its digits are a fraction
      case 790 ->
          new Reading(
              Wire.NUMERIC, MONEY_DIGITS, row.getInt("money_scale"), "numeric", Column.Kind.PLAIN);
      case 1082 -> Reading.of(Wire.DATE);
      case 1083 -> Reading.of(Wire.TIME);
      case 1114 -> Reading.of(Wire.TIMESTAMP);
      case 1184 -> Reading.of(Wire.TIMESTAMPTZ);
      case 1700 -> numeric(row.getInt("modifier"));
      case 2950 -> Reading.of(Wire.UUID);
      case 3802 -> Reading.of(Wire.JSONB, Column.Kind.JSON);
      default -> ofExtension(row);
    };
  }

  private static Reading ofExtension(ResultSet row) throws SQLException {
    String type = row.getString("extension") + "." + row.getString("typname");
    return switch (type) {
      // They are sent as WKB.
      case "postgis.geometry", "postgis.geography" -> Reading.of(Wire.BYTEA);
      case "vector.vector", "vector.halfvec" ->
          row.getBoolean("reals") ? Reading.REALS : Reading.AS_TEXT;
      default -> Reading.AS_TEXT;
    };
  }

  /**
   * Reads numeric's type modifier as {@code numeric.c} packs it: 16 bits of precision, 11 bits of
   * signed scale, plus the header's 4.
   *
   * @return with precision 0 when Parquet's DECIMAL can't hold it: without precision, above 38
   *     digits, or with a scale that is negative or above the precision (Postgres 15)
   */
  private static Reading numeric(int modifier) {
    if (modifier < 4) {
      return Reading.of(Wire.NUMERIC);
    }
    int precision = ((modifier - 4) >> 16) & 0xffff;
    int scale = (((modifier - 4) & 0x7ff) ^ 0x400) - 0x400;
    if (precision > MAX_PRECISION || scale < 0 || scale > precision) {
      return Reading.of(Wire.NUMERIC);
    }
    return new Reading(Wire.NUMERIC, precision, scale, null, Column.Kind.PLAIN);
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

  /**
   * Returns whether an index makes sure that no two rows that this transaction sees have the same
   * value in a column; NULLs may be there more than once. A constraint that is only checked at the
   * end of a transaction will do, since all that is seen was committed.
   *
   * <p>Until the transaction ends nobody can give the name to another table, so a query that
   * follows may rely on the answer.
   */
  public boolean isUnique(Connection connection, TableName table, String column)
      throws SQLException {
    String name = Identifiers.quote(table);
    try (Statement locking = connection.createStatement()) {
      locking.execute("SELECT FROM %s LIMIT 0".formatted(name));
    }
    try (PreparedStatement query = connection.prepareStatement(UNIQUE)) {
      query.setString(1, name);
      query.setString(2, column);
      try (ResultSet row = query.executeQuery()) {
        return row.next() && row.getBoolean(1);
      }
    }
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
