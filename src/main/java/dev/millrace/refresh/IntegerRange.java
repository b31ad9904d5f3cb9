package dev.millrace.refresh;

import java.math.BigInteger;

/**
 * The whole numbers of a type.
 *
 * @param bits 8 to 256
 * @param signed whether half of them are negative
 */
record IntegerRange(int bits, boolean signed) {

  BigInteger least() {
    return signed ? BigInteger.ONE.shiftLeft(bits - 1).negate() : BigInteger.ZERO;
  }

  BigInteger greatest() {
    return BigInteger.ONE.shiftLeft(signed ? bits - 1 : bits).subtract(BigInteger.ONE);
  }

  int bytes() {
    return bits / Byte.SIZE;
  }

  boolean contains(IntegerRange other) {
    return least().compareTo(other.least()) <= 0 && greatest().compareTo(other.greatest()) >= 0;
  }

  /** Returns the name of ClickHouse's type. */
  String type() {
    return (signed ? "Int" : "UInt") + bits;
  }
}
