package dev.millrace.clickhouse;

import java.io.IOException;
import java.io.OutputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/**
 * Writes values in <a
 * href="https://clickhouse.com/docs/interfaces/formats/RowBinary">RowBinary</a>.
 *
 * <p>A value of a Nullable column is preceded by {@link #present} or is {@link #absent}; an array
 * is its {@link #length} and its elements. The whole buffer goes out when it is full and with
 * {@link #flush}. For one thread.
 */
public final class RowBinary {
  private static final int SIZE = 256 * 1024;

  /** The most octets that one call writes without looking for room again. */
  private static final int MOST = 32;

  private final OutputStream out;
  private final byte[] buffer = new byte[SIZE];
  private final ByteBuffer numbers = ByteBuffer.wrap(buffer).order(ByteOrder.LITTLE_ENDIAN);
  private int used;

  /** Makes a writer onto a stream that stays the caller's. */
  public RowBinary(OutputStream out) {
    this.out = out;
  }

  /** Says that the value of a Nullable column follows. */
  public void present() throws IOException {
    int8(0);
  }

  /** Writes the NULL of a Nullable column. */
  public void absent() throws IOException {
    int8(1);
  }

  /** Writes Int8, UInt8, Bool (0 or 1) or Enum8: the lowest 8 bits. */
  public void int8(int value) throws IOException {
    room();
    buffer[used++] = (byte) value;
  }

  /** Writes Int16, UInt16, Enum16 or Date (days since 1970): the lowest 16 bits. */
  public void int16(int value) throws IOException {
    room();
    numbers.putShort(used, (short) value);
    used += 2;
  }

  /**
   * Writes Int32, UInt32, Decimal32, IPv4, DateTime (seconds since 1970) or Date32 (days since
   * 1970).
   */
  public void int32(int value) throws IOException {
    room();
    numbers.putInt(used, value);
    used += 4;
  }

  /** Writes Int64, UInt64, Decimal64 or DateTime64 (ticks since 1970). */
  public void int64(long value) throws IOException {
    room();
    numbers.putLong(used, value);
    used += 8;
  }

  /**
   * Writes an integer, or a decimal's unscaled value, of any width in two's complement.
   *
   * @param octets the width of the type: 1, 2, 4, 8, 16 or 32
   * @throws ArithmeticException when the value has more bits, with or without a sign
   */
  public void integer(BigInteger value, int octets) throws IOException {
    byte[] bigEndian = value.toByteArray();
    int bits = octets * Byte.SIZE;
    if (value.signum() < 0 ? value.bitLength() >= bits : value.bitLength() > bits) {
      throw new ArithmeticException(value + " does not fit into " + bits + " bits");
    }
    room();
    byte sign = (byte) (value.signum() < 0 ? -1 : 0);
    for (int octet = 0; octet < octets; octet++) {
      int from = bigEndian.length - 1 - octet;
      buffer[used++] = from >= 0 ? bigEndian[from] : sign;
    }
  }

  /** Writes a Float32. */
  public void float32(float value) throws IOException {
    int32(Float.floatToRawIntBits(value));
  }

  /** Writes a Float64. */
  public void float64(double value) throws IOException {
    int64(Double.doubleToRawLongBits(value));
  }

  /** Writes a UUID: two halves, each with its lowest octet first. */
  public void uuid(UUID value) throws IOException {
    int64(value.getMostSignificantBits());
    int64(value.getLeastSignificantBits());
  }

  /** Writes a String in UTF-8. */
  public void string(String value) throws IOException {
    string(value.getBytes(StandardCharsets.UTF_8));
  }

  /** Writes a String of any octets. */
  public void string(byte[] value) throws IOException {
    string(value, 0, value.length);
  }

  /** Writes a String of some of an array's octets. */
  public void string(byte[] value, int offset, int count) throws IOException {
    length(count);
    octets(value, offset, count);
  }

  /**
   * Writes a FixedString, filled up with zeros as the server does.
   *
   * @param width the type's length in octets
   * @throws IllegalArgumentException when the value is longer
   */
  public void fixedString(byte[] value, int width) throws IOException {
    if (value.length > width) {
      throw new IllegalArgumentException(
          "%d octets for a FixedString(%d)".formatted(value.length, width));
    }
    octets(Arrays.copyOf(value, width), 0, width);
  }

  /** Writes octets as they are, such as an IPv6 address. */
  public void octets(byte[] value, int offset, int count) throws IOException {
    if (count > SIZE - used) {
      flushBuffer();
    }
    if (count > SIZE) {
      out.write(value, offset, count);
      return;
    }
    System.arraycopy(value, offset, buffer, used, count);
    used += count;
  }

  /** Writes the number of octets or elements that follow, as an unsigned LEB128. */
  public void length(int count) throws IOException {
    room();
    int rest = count;
    while ((rest & ~0x7f) != 0) {
      buffer[used++] = (byte) ((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    buffer[used++] = (byte) rest;
  }

  /** Sends what is in the buffer. */
  public void flush() throws IOException {
    flushBuffer();
    out.flush();
  }

  private void room() throws IOException {
    if (SIZE - used < MOST) {
      flushBuffer();
    }
  }

  private void flushBuffer() throws IOException {
    out.write(buffer, 0, used);
    used = 0;
  }
}
