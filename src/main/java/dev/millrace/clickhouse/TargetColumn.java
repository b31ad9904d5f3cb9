package dev.millrace.clickhouse;

/**
 * A column as the catalogue has it.
 *
 * @param name its name
 * @param type its type's text; {@link ClickHouseType#parse} reads it
 * @param kind where its values come from
 * @param defaultExpression the expression of a kind other than {@code ORDINARY}; else empty
 * @param position from 1
 */
public record TargetColumn(
    String name, String type, Kind kind, String defaultExpression, int position) {

  /**
   * Where a column's values come from; see <a
   * href="https://clickhouse.com/docs/sql-reference/statements/create/table#default_values">default
   * values</a>.
   */
  public enum Kind {
    /** An INSERT; without a value it is the type's own default. */
    ORDINARY,
    /** An INSERT, or an expression. */
    DEFAULT,
    /** Always an expression, stored. */
    MATERIALIZED,
    /** Always an expression, when it is read. */
    ALIAS,
    /** An INSERT, for other columns' expressions only; not stored. */
    EPHEMERAL
  }

  static Kind kind(String text) {
    return text.isEmpty() ? Kind.ORDINARY : Kind.valueOf(text);
  }
}
