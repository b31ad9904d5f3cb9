package dev.millrace.refresh;

import dev.millrace.clickhouse.ClickHouseIdentifiers;
import dev.millrace.clickhouse.TargetTable;
import dev.millrace.postgres.Identifiers;
import dev.millrace.postgres.TableName;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The INSERT … SELECT by which ClickHouse reads Postgres itself.
 *
 * <p>Its text holds the password unless access is by a named collection; {@link #toString} doesn't.
 */
final class PullStatement {
  private static final String HIDDEN = "'***'";

  /** NULL stays NULL, whatever the user's profile says. */
  private static final String SETTINGS =
      "SETTINGS external_table_functions_use_nulls = 1, insert_null_as_default = 0";

  private final List<ColumnMapping> columns;
  private final Access access;
  private final TableName source;
  private final boolean takesQuery;

  /** How ClickHouse reaches Postgres. */
  sealed interface Access {

    /**
     * By address and user.
     *
     * @param address host and port as ClickHouse sees them
     * @param database the database
     * @param user the role
     * @param password its password, or null for none; a secret
     */
    record Direct(String address, String database, String user, String password) implements Access {
      public Direct {
        Objects.requireNonNull(address, "address");
        Objects.requireNonNull(database, "database");
        Objects.requireNonNull(user, "user");
      }

      /** Returns the access without the password. */
      @Override
      public String toString() {
        return "%s@%s/%s".formatted(user, address, database);
      }
    }

    /**
     * By a named collection of ClickHouse, which keeps the password out of SQL.
     *
     * @param name its name
     */
    record Collection(String name) implements Access {}
  }

  /**
   * Makes a statement.
   *
   * @param columns what is copied
   * @param access how ClickHouse reaches Postgres
   * @param source the table in Postgres
   * @param takesQuery whether {@code postgresql()} takes our own SELECT, as {@link #probe} finds
   *     out; otherwise it reads the table as it likes
   */
  PullStatement(List<ColumnMapping> columns, Access access, TableName source, boolean takesQuery) {
    this.columns = List.copyOf(columns);
    this.access = access;
    this.source = source;
    this.takesQuery = takesQuery;
  }

  /** Returns a statement that fails when {@code postgresql()} takes no query, or can't connect. */
  static String probe(Access access) {
    return "DESCRIBE TABLE " + function(access, "SELECT 1 AS one", password(access));
  }

  /**
   * Returns the SELECT that ClickHouse sends to Postgres; its columns are {@code c0}, {@code c1}, …
   */
  String select() {
    return "SELECT %s FROM %s AS %s"
        .formatted(
            IntStream.range(0, columns.size())
                .mapToObj(i -> "%s AS c%d".formatted(columns.get(i).pullSelect(), i))
                .collect(Collectors.joining(", ")),
            Identifiers.quote(source),
            ColumnMapping.ALIAS);
  }

  /**
   * Returns the text to execute: a secret, unless access is by a named collection.
   *
   * @param target the table to fill
   */
  String text(TargetTable target) {
    return text(target, password(access));
  }

  /** Returns the text without the password. */
  String shown(TargetTable target) {
    return text(target, HIDDEN);
  }

  private String text(TargetTable target, String password) {
    String names = columns.stream().map(ColumnMapping::targetSql).collect(Collectors.joining(", "));
    String values =
        IntStream.range(0, columns.size())
            .mapToObj(i -> columns.get(i).pullInsert(carried(i)))
            .collect(Collectors.joining(", "));
    return "INSERT INTO %s (%s) SELECT %s FROM %s %s"
        .formatted(
            target.sql(),
            names,
            values,
            takesQuery ? function(access, select(), password) : table(password),
            SETTINGS);
  }

  private String carried(int index) {
    return takesQuery ? "c" + index : columns.get(index).targetSql();
  }

  private static String password(Access access) {
    if (access instanceof Access.Direct direct && direct.password() != null) {
      return Sql.clickHouseText(direct.password());
    }
    return "''";
  }

  private static String function(Access access, String select, String password) {
    String query = Sql.clickHouseText(select);
    if (access instanceof Access.Collection collection) {
      return "postgresql(%s, query = %s)"
          .formatted(ClickHouseIdentifiers.quote(collection.name()), query);
    }
    Access.Direct direct = (Access.Direct) access;
    return "postgresql(%s, %s, query(%s), %s, %s)"
        .formatted(
            Sql.clickHouseText(direct.address()),
            Sql.clickHouseText(direct.database()),
            query,
            Sql.clickHouseText(direct.user()),
            password);
  }

  private String table(String password) {
    String table = Sql.clickHouseText(source.table());
    String schema = Sql.clickHouseText(source.schema());
    if (access instanceof Access.Collection collection) {
      return "postgresql(%s, table = %s, schema = %s)"
          .formatted(ClickHouseIdentifiers.quote(collection.name()), table, schema);
    }
    Access.Direct direct = (Access.Direct) access;
    return "postgresql(%s, %s, %s, %s, %s, %s)"
        .formatted(
            Sql.clickHouseText(direct.address()),
            Sql.clickHouseText(direct.database()),
            table,
            Sql.clickHouseText(direct.user()),
            password,
            schema);
  }

  /** Returns what is read by whom, without a secret. */
  @Override
  public String toString() {
    return "%s through %s".formatted(source, access);
  }
}
