package dev.millrace.control;

import com.fasterxml.jackson.core.io.schubfach.DoubleToDecimal;
import com.fasterxml.jackson.core.io.schubfach.FloatToDecimal;
import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;

/**
 * Numbers with a fraction as Python's {@code repr} writes them, so that a log has one spelling
 * whoever wrote it. Stateless.
 */
final class PythonFloat {
  private static final MathContext ONE_DIGIT = new MathContext(1, RoundingMode.HALF_EVEN);

  private PythonFloat() {}

  /**
   * Returns the fewest digits that read back as the same number.
   *
   * @param value neither NaN nor infinite
   */
  static String text(double value) {
    if (value == 0) {
      return 1 / value < 0 ? "-0.0" : "0.0";
    }
    return text(shortest(value));
  }

  /** As for a double, with the fewest digits that read back as the same float. */
  static String text(float value) {
    if (value == 0) {
      return text((double) value);
    }
    return text(new BigDecimal(FloatToDecimal.toString(value)).stripTrailingZeros());
  }

  /**
   * As for a double, and with all digits where a double would lose some.
   *
   * @param value in the range of a double
   */
  static String exact(BigDecimal value) {
    if (value.signum() == 0) {
      return "0.0";
    }
    return text(value.stripTrailingZeros());
  }

  private static BigDecimal shortest(double value) {
    BigDecimal shortest = new BigDecimal(DoubleToDecimal.toString(value)).stripTrailingZeros();
    if (shortest.precision() == 2) {
      // Java wants two digits, 4.9E-324, where Python is content with one, 5e-324.
      BigDecimal shorter = new BigDecimal(value).round(ONE_DIGIT);
      return shorter.doubleValue() == value ? shorter.stripTrailingZeros() : shortest;
    }
    return shortest;
  }

  private static String text(BigDecimal stripped) {
    int exponent = stripped.precision() - stripped.scale() - 1;
    if (exponent >= -4 && exponent < 16) {
      String plain = stripped.toPlainString();
      return plain.indexOf('.') < 0 ? plain + ".0" : plain;
    }
    String digits = stripped.unscaledValue().abs().toString();
    return (stripped.signum() < 0 ? "-" : "")
        + digits.charAt(0)
        + (digits.length() == 1 ? "" : "." + digits.substring(1))
        + (exponent < 0 ? "e-" : "e+")
        + (Math.abs(exponent) < 10 ? "0" : "")
        + Math.abs(exponent);
  }
}
