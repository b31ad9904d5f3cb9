package dev.millrace.parquet;

import dev.millrace.postgres.ColumnType;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The binary form of {@code numeric}, as {@code numeric_send} writes it: 16-bit numbers of digits,
 * weight, sign and display scale, then digits to the base 10000.
 *
 * <p>Decodes to the unscaled value of a DECIMAL. Not thread-safe: it holds the last 128-bit value.
 */
final class NumericWire {
  private static final VarHandle SHORT_BE =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
  private static final int HEADER = 8;
  private static final int POSITIVE = 0x0000;
  private static final int NEGATIVE = 0x4000;
  private static final int NAN = 0xc000;
  private static final int INFINITY = 0xd000;
  private static final int MINUS_INFINITY = 0xf000;
  private static final String WIDER =
      "give the column a wider numeric: decimal(p,s) or numeric: text";
  private static final int[] TENS = {1, 10, 100, 1000, 10_000};

  private final int precision;
  private final int scale;

  private long high;
  private long low;

  NumericWire(ColumnType type) {
    this.precision = type.precision();
    this.scale = type.scale();
  }

  /** Upper half of the last value that {@link #decodeWide} decoded. */
  long high() {
    return high;
  }

  /** Lower half of the last value that {@link #decodeWide} decoded. */
  long low() {
    return low;
  }

  /**
   * Returns the unscaled value; for precisions up to 18.
   *
   * @throws ValueException when it is not finite or has more digits than the type
   */
  long decode(byte[] data, int offset, int length) {
    int digits = check(data, offset, length);
    int weight = (short) SHORT_BE.get(data, offset + 2);
    long value = 0;
    int exponent = 4 * weight + scale;
    int position = offset + HEADER;
    for (int i = 0; i < digits; i++) {
      int digit = (short) SHORT_BE.get(data, position);
      if (exponent >= 0) {
        value = value * TENS[4] + digit;
      } else {
        value = value * TENS[kept(exponent, digit)] + digit / TENS[-exponent];
      }
      position += 2;
      exponent -= 4;
    }
    // The wire leaves out zeros at the end.
    for (int zeros = digits == 0 ? 0 : exponent + 4; zeros > 0; zeros -= 4) {
      value *= TENS[Math.min(zeros, 4)];
    }
    int sign = (short) SHORT_BE.get(data, offset + 4);
    return sign == POSITIVE ? value : -value;
  }

  /**
   * Decodes an unscaled value of up to 38 digits into {@link #high} and {@link #low}.
   *
   * @throws ValueException when it is not finite or has more digits than the type
   */
  void decodeWide(byte[] data, int offset, int length) {
    int digits = check(data, offset, length);
    int weight = (short) SHORT_BE.get(data, offset + 2);
    high = 0;
    low = 0;
    int exponent = 4 * weight + scale;
    int position = offset + HEADER;
    for (int i = 0; i < digits; i++) {
      int digit = (short) SHORT_BE.get(data, position);
      if (exponent >= 0) {
        multiplyAdd(TENS[4], digit);
      } else {
        multiplyAdd(TENS[kept(exponent, digit)], digit / TENS[-exponent]);
      }
      position += 2;
      exponent -= 4;
    }
    for (int zeros = digits == 0 ? 0 : exponent + 4; zeros > 0; zeros -= 4) {
      multiplyAdd(TENS[Math.min(zeros, 4)], 0);
    }
    if ((short) SHORT_BE.get(data, offset + 4) != POSITIVE) {
      low = -low;
      high = low == 0 ? -high : ~high;
    }
  }

  private void multiplyAdd(int factor, int summand) {
    long carry = Math.multiplyHigh(low, factor) + ((low >> 63) & factor);
    long product = low * factor;
    low = product + summand;
    high = high * factor + carry + (Long.compareUnsigned(low, product) < 0 ? 1 : 0);
  }

  /**
   * Returns how many decimal digits of the last base-10000 digit lie before the end of the scale.
   */
  private int kept(int exponent, int digit) {
    if (exponent <= -4 || digit % TENS[-exponent] != 0) {
      throw new ValueException("has more than %d fraction digits".formatted(scale), WIDER);
    }
    return 4 + exponent;
  }

  /** Returns the number of base-10000 digits. */
  private int check(byte[] data, int offset, int length) {
    if (length < HEADER) {
      throw new IllegalStateException("a numeric of " + length + " bytes");
    }
    int digits = (short) SHORT_BE.get(data, offset);
    int sign = (short) SHORT_BE.get(data, offset + 4) & 0xffff;
    switch (sign) {
      case POSITIVE, NEGATIVE -> {}
      case NAN -> throw notFinite("NaN");
      case INFINITY -> throw notFinite("Infinity");
      case MINUS_INFINITY -> throw notFinite("-Infinity");
      default -> throw new IllegalStateException("a numeric with the sign " + sign);
    }
    if (digits < 0 || length != HEADER + 2 * digits) {
      throw new IllegalStateException(
          "a numeric of %d bytes with %d digits".formatted(length, digits));
    }
    if (digits > 0) {
      int weight = (short) SHORT_BE.get(data, offset + 2);
      int first = (short) SHORT_BE.get(data, offset + HEADER);
      if (4 * weight + decimals(first) + scale > precision) {
        throw new ValueException(
            "has more than %d digits before the point".formatted(precision - scale), WIDER);
      }
    }
    return digits;
  }

  private static ValueException notFinite(String value) {
    return new ValueException(
        "is %s, which DECIMAL can't hold".formatted(value), "make it NULL (nan: null)");
  }

  /** Returns whether it is NaN, Infinity or -Infinity. */
  static boolean isSpecial(byte[] data, int offset, int length) {
    return length >= HEADER && ((short) SHORT_BE.get(data, offset + 4) & NAN) == NAN;
  }

  private static int decimals(int digit) {
    if (digit >= 100) {
      return digit >= 1000 ? 4 : 3;
    }
    return digit >= 10 ? 2 : 1;
  }
}
