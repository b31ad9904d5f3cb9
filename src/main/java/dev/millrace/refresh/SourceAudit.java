package dev.millrace.refresh;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Catalogue;
import dev.millrace.postgres.Identifiers;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.TableName;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The figures of the Postgres table, in one scan, with the look for values that the target can't
 * hold. The hash is a query of its own: beside {@code count(DISTINCT)} Postgres would not compute
 * it in parallel. Thread-safe.
 */
final class SourceAudit {
  /** A function takes up to 100 arguments, and each column needs two. */
  private static final int HASHED_AT_ONCE = 40;

  private final Catalogue catalogue = new Catalogue();
  private final AuditPlan plan;
  private final TableName table;
  private final boolean unicode;

  /**
   * Makes an audit.
   *
   * @param plan what is asked
   * @param table the source
   * @param encoding the database's, such as {@code UTF8}
   */
  SourceAudit(AuditPlan plan, TableName table, String encoding) {
    this.plan = plan;
    this.table = table;
    this.unicode = encoding.equals("UTF8");
  }

  /** A check and the column that it looks at. */
  private record Check(ColumnMapping column, RangeCheck range) {}

  private List<Check> checks() {
    return plan.columns().stream()
        .flatMap(column -> column.rangeChecks().stream().map(range -> new Check(column, range)))
        .toList();
  }

  /**
   * Returns the query of all figures but the hash: text, and arrays of NULLs and of offending
   * values.
   *
   * @param unique whether the server makes sure that keys are unique. Then all of them are
   *     different, and Postgres may count in parallel and need not sort them
   */
  String sql(boolean unique) {
    String key = plan.key().sourceSql();
    List<String> items = new ArrayList<>();
    items.add("count(*)::text");
    items.add((unique ? "count(%s)::text" : "count(DISTINCT %s)::text").formatted(key));
    items.add(sum());
    items.add(newest());
    items.add(
        plan.key().source().nullable() ? "(count(*) - count(%s))::text".formatted(key) : "'0'");
    items.add(array(plan.columns().stream().map(SourceAudit::nulls).toList()));
    items.add(
        array(
            checks().stream()
                .map(check -> check.range().sql(check.column().sourceSql()))
                .toList()));
    return "SELECT %s\nFROM %s".formatted(String.join(",\n  ", items), from());
  }

  private String from() {
    return Identifiers.quote(table) + " AS " + ColumnMapping.ALIAS;
  }

  private static String array(List<String> items) {
    return "ARRAY[%s]::text[]".formatted(String.join(", ", items));
  }

  /** Rounds to the target's scale, unless that would hide a difference. */
  private String sum() {
    String sum = "coalesce(sum(%s), 0)::numeric".formatted(plan.checksum().sourceSql());
    int scale = plan.sumScale();
    return "CASE WHEN trunc(%s, %d) = %s THEN round(%s, %d)::text ELSE (%s)::text END"
        .formatted(sum, scale, sum, sum, scale, sum);
  }

  private String newest() {
    return plan.updated() == null
        ? "''"
        : "coalesce(max(%s.%s)::text, '')"
            .formatted(ColumnMapping.ALIAS, Identifiers.quote(plan.updated().name()));
  }

  private static String nulls(ColumnMapping column) {
    return column.source().nullable() ? "count(*) - count(%s)".formatted(column.sourceSql()) : "0";
  }

  /**
   * Returns the query of the hash: the sum over all rows of 64 bits of the MD5 of the row's
   * canonical text. Unlike an exclusive or, a sum sees a row that is there twice.
   */
  String hashSql() {
    List<String> parts = new ArrayList<>();
    for (int i = 0; i < plan.columns().size(); i += HASHED_AT_ONCE) {
      parts.add(
          plan.columns().subList(i, Math.min(plan.columns().size(), i + HASHED_AT_ONCE)).stream()
              .map(column -> column.sourceHash() + ", ';'")
              .collect(Collectors.joining(", ", "concat(", ")")));
    }
    String row = String.join(" || ", parts);
    String bytes = unicode ? row : "convert_to(%s, 'UTF8')".formatted(row);
    return "SELECT coalesce(sum(('x' || md5(%s))::bit(64)::int8), 0)::text\nFROM %s"
        .formatted(bytes, from());
  }

  /**
   * Reads the figures; to be called inside {@code Postgres.read}, whose settings its text depends
   * on, and whose snapshot both queries see.
   *
   * @param waiting called about once a second while Postgres works; may throw to stop it
   * @throws MillraceException with {@code NULL_KEYS}, or with {@code VALUE_OUT_OF_RANGE} that names
   *     columns and values that the target can't hold
   */
  AuditFigures read(Postgres postgres, Connection connection, Runnable waiting)
      throws SQLException {
    boolean unique = catalogue.isUnique(connection, table, plan.key().name());
    List<List<String>> row = CopiedRow.of(postgres, connection, sql(unique), waiting);
    List<String> nulls = row.get(5);
    requireKeys(row.get(4).get(0));
    requireFitting(nulls, row.get(6));
    String hash =
        plan.full() ? CopiedRow.of(postgres, connection, hashSql(), waiting).get(0).get(0) : null;
    return new AuditFigures(
        row.get(0).get(0), row.get(1).get(0), row.get(2).get(0), row.get(3).get(0), nulls, hash);
  }

  private void requireKeys(String nulls) {
    if (nulls.equals("0")) {
      return;
    }
    throw new MillraceException(
        ErrorCode.NULL_KEYS,
        "%s rows of %s have no key: pk_column \"%s\" is NULL; fill it, or name another column"
            .formatted(nulls, table, plan.key().name()));
  }

  private void requireFitting(List<String> nulls, List<String> offending) {
    List<String> complaints = new ArrayList<>();
    for (int i = 0; i < nulls.size(); i++) {
      ColumnMapping column = plan.columns().get(i);
      boolean holdsNulls = column.type().nullable();
      if (!holdsNulls && !nulls.get(i).equals("0")) {
        complaints.add(
            "column \"%s\" (%s) is NULL in %s rows, and %s holds no NULL"
                .formatted(
                    column.name(), column.source().declared(), nulls.get(i), column.type().text()));
      }
    }
    List<Check> checks = checks();
    for (int i = 0; i < offending.size(); i++) {
      if (offending.get(i) != null) {
        Check check = checks.get(i);
        complaints.add(check.column().complaint(check.range(), offending.get(i)));
      }
    }
    if (complaints.isEmpty()) {
      return;
    }
    throw new MillraceException(
        ErrorCode.VALUE_OUT_OF_RANGE,
        "%s can't be copied without changing values: %s; correct the rows, leave the column out, or give it a wider type in ClickHouse"
            .formatted(table, String.join("; ", complaints)));
  }
}
