package dev.millrace.refresh;

import dev.millrace.clickhouse.RowBinary;
import java.io.IOException;

/** A whole number of up to 256 bits that is built digit by digit. Not thread-safe; used again. */
final class WideInteger {
  private final long[] limbs = new long[4];

  void clear() {
    limbs[0] = 0;
    limbs[1] = 0;
    limbs[2] = 0;
    limbs[3] = 0;
  }

  void set(long value) {
    limbs[0] = value;
    limbs[1] = value >> 63;
    limbs[2] = value >> 63;
    limbs[3] = value >> 63;
  }

  /**
   * Makes it {@code this * factor + summand}, both at least 0 and below 2^31, modulo 2^256.
   *
   * @return what is left over above 2^256
   */
  long multiplyAdd(int factor, int summand) {
    long carry = summand;
    for (int i = 0; i < limbs.length; i++) {
      long limb = limbs[i];
      long high = Math.multiplyHigh(limb, factor) + ((limb >> 63) & factor);
      long low = limb * factor;
      limbs[i] = low + carry;
      carry = high + (Long.compareUnsigned(limbs[i], low) < 0 ? 1 : 0);
    }
    return carry;
  }

  void negate() {
    boolean carry = true;
    for (int i = 0; i < limbs.length; i++) {
      limbs[i] = ~limbs[i] + (carry ? 1 : 0);
      carry = carry && limbs[i] == 0;
    }
  }

  long limb(int index) {
    return limbs[index];
  }

  /** Returns whether the bits from there on are all 0. */
  boolean isZeroFrom(int bit) {
    for (int i = 0; i < limbs.length; i++) {
      int start = i * Long.SIZE;
      if (bit >= start + Long.SIZE) {
        continue;
      }
      long part = bit <= start ? limbs[i] : limbs[i] >>> (bit - start);
      if (part != 0) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether it is zero in all bits below that one. */
  boolean isZeroBelow(int bit) {
    for (int i = 0; i < limbs.length; i++) {
      int start = i * Long.SIZE;
      if (bit <= start) {
        break;
      }
      long part = bit >= start + Long.SIZE ? limbs[i] : limbs[i] & ((1L << (bit - start)) - 1);
      if (part != 0) {
        return false;
      }
    }
    return true;
  }

  /** Writes its lowest bytes. */
  void write(RowBinary row, int bytes) throws IOException {
    switch (bytes) {
      case Byte.BYTES -> row.int8((int) limbs[0]);
      case Short.BYTES -> row.int16((int) limbs[0]);
      case Integer.BYTES -> row.int32((int) limbs[0]);
      default -> {
        for (int i = 0; i < bytes / Long.BYTES; i++) {
          row.int64(limbs[i]);
        }
      }
    }
  }
}
