package dev.millrace.refresh;

import dev.millrace.clickhouse.ClickHouse;
import dev.millrace.clickhouse.ClickHouseType;
import dev.millrace.clickhouse.Row;
import dev.millrace.clickhouse.TargetTable;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;

/** The figures of a ClickHouse table, equal to those of {@link SourceAudit} for equal rows. */
final class TargetAudit {
  private final AuditPlan plan;

  /**
   * Makes an audit.
   *
   * @param plan what is asked
   */
  TargetAudit(AuditPlan plan) {
    this.plan = plan;
  }

  /** Returns the query: one row of rows, distinct keys, sum, NULL counts with commas, and hash. */
  String sql(TargetTable table) {
    return "SELECT toString(count()),\n  toString(uniqExact(%s)),\n  %s,\n  %s,\n  %s\nFROM %s"
        .formatted(
            plan.key().targetSql(), sum(), nulls(), plan.full() ? hash() : "''", table.sql());
  }

  private String sum() {
    String column = plan.checksum().targetSql();
    int scale = plan.sumScale();
    return plan.checksum().type().kind() == ClickHouseType.Kind.DECIMAL
        ? "toDecimalString(coalesce(sum(toDecimal256(%s, %d)), toDecimal256(0, %d)), %d)"
            .formatted(column, scale, scale, scale)
        : "toString(coalesce(sum(toInt256(%s)), toInt256(0)))".formatted(column);
  }

  private String nulls() {
    return plan.columns().stream()
        .map(TargetAudit::nulls)
        .collect(Collectors.joining(", ", "arrayStringConcat([", "], ',')"));
  }

  private static String nulls(ColumnMapping column) {
    return column.type().nullable()
        ? "toString(countIf(isNull(%s)))".formatted(column.targetSql())
        : "'0'";
  }

  private String hash() {
    String row =
        plan.columns().stream()
            .map(column -> column.targetHash() + ", ';'")
            .collect(Collectors.joining(", "));
    return "toString(sum(toInt256(reinterpretAsInt64(reverse(substring(MD5(concat(%s)), 1, 8))))))"
        .formatted(row);
  }

  /**
   * Reads the figures.
   *
   * @param limit how long it may take
   * @throws dev.millrace.failure.MillraceException as {@link ClickHouse#query}
   */
  AuditFigures read(ClickHouse clickHouse, TargetTable table, Duration limit) {
    return clickHouse.query(limit, sql(table), this::figures).get(0);
  }

  private AuditFigures figures(Row row) {
    return new AuditFigures(
        row.text(1),
        row.text(2),
        row.text(3),
        "",
        Arrays.asList(row.text(4).split(",")),
        plan.full() ? row.text(5) : null);
  }
}
