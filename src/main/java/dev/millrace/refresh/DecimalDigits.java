package dev.millrace.refresh;

import java.math.BigInteger;

/**
 * ClickHouse's {@code Decimal(P, S)}.
 *
 * @param precision 1 to 76
 * @param scale 0 to the precision
 */
record DecimalDigits(int precision, int scale) {
  /** Digits before the point. */
  int whole() {
    return precision - scale;
  }

  /** Returns the greatest unscaled value. */
  BigInteger greatest() {
    return Sql.ten(precision).subtract(BigInteger.ONE);
  }

  /** Returns the number of bytes that an unscaled value is stored in. */
  int bytes() {
    if (precision <= 9) {
      return Integer.BYTES;
    }
    if (precision <= 18) {
      return Long.BYTES;
    }
    return precision <= 38 ? 2 * Long.BYTES : 4 * Long.BYTES;
  }

  String type() {
    return "Decimal(%d, %d)".formatted(precision, scale);
  }

  /** Returns ClickHouse SQL for the text with all digits of the scale. */
  String targetText(String value) {
    return "toDecimalString(%s, %d)".formatted(value, scale);
  }
}
