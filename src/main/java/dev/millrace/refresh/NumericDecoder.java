package dev.millrace.refresh;

/**
 * The binary form of {@code numeric}, as {@code numeric_send} writes it: 16-bit numbers of digits,
 * weight, sign and display scale, then digits to the base 10000.
 *
 * <p>Not thread-safe: it holds the last value.
 */
final class NumericDecoder {
  private static final int HEADER = 8;
  private static final int POSITIVE = 0x0000;
  private static final int NEGATIVE = 0x4000;
  private static final int NAN = 0xc000;
  private static final int INFINITY = 0xd000;
  private static final int MINUS_INFINITY = 0xf000;
  private static final int[] TENS = {1, 10, 100, 1000, 10_000};

  private final int whole;
  private final int scale;
  private final String type;
  private final WideInteger magnitude = new WideInteger();
  private boolean negative;
  private boolean overflow;

  /**
   * Makes a decoder.
   *
   * @param whole most digits before the point; with the scale at most 78
   * @param scale most digits after it
   * @param type the target, for messages
   */
  NumericDecoder(int whole, int scale, String type) {
    this.whole = whole;
    this.scale = scale;
    this.type = type;
  }

  /** The last value without sign, times ten to the power of the scale. */
  WideInteger magnitude() {
    return magnitude;
  }

  boolean isNegative() {
    return negative;
  }

  /** Returns whether the last value of {@link #decodeWide} has more than 256 bits. */
  boolean overflows() {
    return overflow;
  }

  /**
   * Returns the unscaled value; for up to 18 digits in all.
   *
   * @throws ValueException when it is not finite or has more digits
   */
  long decode(byte[] data, int place, int length) {
    int digits = check(data, place, length);
    int exponent = 4 * (short) ValueEncoder.SHORT_BE.get(data, place + 2) + scale;
    long value = 0;
    int position = place + HEADER;
    for (int i = 0; i < digits; i++) {
      int digit = (short) ValueEncoder.SHORT_BE.get(data, position);
      if (exponent >= 0) {
        value = value * TENS[4] + digit;
      } else {
        value = value * TENS[kept(exponent, digit)] + digit / TENS[-exponent];
      }
      position += Short.BYTES;
      exponent -= 4;
    }
    // The wire leaves out zeros at the end.
    for (int zeros = digits == 0 ? 0 : exponent + 4; zeros > 0; zeros -= 4) {
      value *= TENS[Math.min(zeros, 4)];
    }
    return negative ? -value : value;
  }

  /**
   * Decodes into {@link #magnitude} and {@link #isNegative}.
   *
   * @throws ValueException when it is not finite or has more digits
   */
  void decodeWide(byte[] data, int place, int length) {
    int digits = check(data, place, length);
    int exponent = 4 * (short) ValueEncoder.SHORT_BE.get(data, place + 2) + scale;
    magnitude.clear();
    overflow = false;
    int position = place + HEADER;
    for (int i = 0; i < digits; i++) {
      int digit = (short) ValueEncoder.SHORT_BE.get(data, position);
      if (exponent >= 0) {
        multiplyAdd(TENS[4], digit);
      } else {
        multiplyAdd(TENS[kept(exponent, digit)], digit / TENS[-exponent]);
      }
      position += Short.BYTES;
      exponent -= 4;
    }
    for (int zeros = digits == 0 ? 0 : exponent + 4; zeros > 0; zeros -= 4) {
      multiplyAdd(TENS[Math.min(zeros, 4)], 0);
    }
  }

  private void multiplyAdd(int factor, int summand) {
    overflow |= magnitude.multiplyAdd(factor, summand) != 0;
  }

  /** Returns how many decimal digits of a base-10000 digit lie before the end of the scale. */
  private int kept(int exponent, int digit) {
    if (exponent <= -4 || digit % TENS[-exponent] != 0) {
      throw new ValueException(
          scale == 0
              ? "is no whole number, as %s needs".formatted(type)
              : "has more than the %d fraction digits of %s".formatted(scale, type));
    }
    return 4 + exponent;
  }

  /** Returns the number of base-10000 digits. */
  private int check(byte[] data, int place, int length) {
    if (length < HEADER) {
      throw new IllegalStateException("a numeric of " + length + " bytes");
    }
    int digits = (short) ValueEncoder.SHORT_BE.get(data, place);
    int sign = (short) ValueEncoder.SHORT_BE.get(data, place + 4) & 0xffff;
    switch (sign) {
      case POSITIVE -> negative = false;
      case NEGATIVE -> negative = true;
      case NAN -> throw new ValueException("is NaN, which %s can't hold".formatted(type));
      case INFINITY, MINUS_INFINITY ->
          throw new ValueException("is infinite, which %s can't hold".formatted(type));
      default -> throw new IllegalStateException("a numeric with the sign " + sign);
    }
    if (digits < 0 || length != HEADER + Short.BYTES * digits) {
      throw new IllegalStateException(
          "a numeric of %d bytes with %d digits".formatted(length, digits));
    }
    if (digits > 0) {
      int weight = (short) ValueEncoder.SHORT_BE.get(data, place + 2);
      int first = (short) ValueEncoder.SHORT_BE.get(data, place + HEADER);
      if (4 * weight + decimals(first) > whole) {
        throw new ValueException("has too many digits for " + type);
      }
    }
    return digits;
  }

  private static int decimals(int digit) {
    if (digit >= 100) {
      return digit >= 1000 ? 4 : 3;
    }
    return digit >= 10 ? 2 : 1;
  }
}
