package dev.millrace.refresh;

import java.math.BigInteger;

/** Pieces of SQL that several conversions share; stateless. */
final class Sql {
  private Sql() {}

  /**
   * Returns a string literal for Postgres; there is no backslash in it, which a session may read.
   */
  static String postgresText(String value) {
    return "'" + value.replace("'", "''").replace('\\', '/') + "'";
  }

  /** Returns a string literal for ClickHouse. */
  static String clickHouseText(String value) {
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }

  /**
   * Returns an expression that is the result where the condition holds, NULL for NULL, and
   * otherwise makes Postgres fail with the complaint and the value: what is no number has no cast
   * to one.
   *
   * @param type the type of the result
   */
  static String guarded(
      String condition, String result, String type, String value, String complaint) {
    return "CASE WHEN %s THEN %s WHEN %s IS NOT NULL THEN (%s || %s::text)::int4%s END"
        .formatted(
            condition,
            result,
            value,
            postgresText(complaint + ": "),
            value,
            type.equals("int4") ? "" : "::" + type);
  }

  /** Returns ten to that power. */
  static BigInteger ten(int power) {
    return BigInteger.TEN.pow(power);
  }
}
