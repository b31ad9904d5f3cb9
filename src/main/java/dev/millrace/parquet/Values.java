package dev.millrace.parquet;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;

/**
 * The values of one row, each as the bytes that its {@link Form} tells; a byte before them says
 * whether they are NULL, a value or a list, so that no two rows look alike that are not.
 *
 * <p>Used again for the next row. Not thread-safe.
 */
public final class Values {
  private static final byte NULL = 0;
  private static final byte VALUE = 1;
  private static final byte LIST = 2;

  private byte[] bytes = new byte[4096];
  private int size;
  private int[] starts = new int[16];
  private int columns;

  /** Forgets the row. */
  public void clear() {
    size = 0;
    columns = 0;
  }

  /** Begins the value of the next column. */
  public void column() {
    if (columns + 1 >= starts.length) {
      starts = Arrays.copyOf(starts, starts.length * 2);
    }
    starts[columns++] = size;
    starts[columns] = size;
  }

  public void putNull() {
    put(NULL);
  }

  /** Begins a list of so many values, which are put next. */
  public void putList(int count) {
    put(LIST);
    putBits(count, Integer.BYTES);
  }

  public void putBoolean(boolean value) {
    putLength(1);
    put((byte) (value ? 1 : 0));
  }

  /** Puts what a form says is 64 bits. */
  public void putLong(long value) {
    putLength(Long.BYTES);
    putBits(value, Long.BYTES);
  }

  public void putFloat(float value) {
    putLength(Integer.BYTES);
    putBits(Float.floatToIntBits(value), Integer.BYTES);
  }

  public void putDouble(double value) {
    putLength(Long.BYTES);
    putBits(Double.doubleToLongBits(value), Long.BYTES);
  }

  public void putBytes(byte[] data, int offset, int length) {
    putLength(length);
    ensure(length);
    System.arraycopy(data, offset, bytes, size, length);
    size += length;
    starts[columns] = size;
  }

  /**
   * Puts a number.
   *
   * @param digits a sign where it is negative, digits, and where need be a point and more digits
   */
  public void putNumber(String digits) {
    int end = digits.length();
    if (digits.indexOf('.') >= 0) {
      while (digits.charAt(end - 1) == '0') {
        end--;
      }
      if (digits.charAt(end - 1) == '.') {
        end--;
      }
    }
    byte[] ascii = digits.substring(0, end).getBytes(StandardCharsets.ISO_8859_1);
    putBytes(ascii, 0, ascii.length);
  }

  /** Returns whether the value of a column is NULL. */
  public boolean isNull(int column) {
    return bytes[starts[column]] == NULL;
  }

  /** Returns the 64 bits that {@link #putLong} has put. */
  public long longAt(int column) {
    long value = 0;
    int from = starts[column] + 1 + Integer.BYTES;
    for (int i = 0; i < Long.BYTES; i++) {
      value = (value << Byte.SIZE) | (bytes[from + i] & 0xff);
    }
    return value;
  }

  /** Returns the text of a number or of text. */
  public String textAt(int column) {
    int from = starts[column] + 1 + Integer.BYTES;
    return new String(bytes, from, starts[column + 1] - from, StandardCharsets.UTF_8);
  }

  /** Returns the bytes of a value that is no list. */
  public byte[] bytesAt(int column) {
    return Arrays.copyOfRange(bytes, starts[column] + 1 + Integer.BYTES, starts[column + 1]);
  }

  /** Adds the value of a column to a digest. */
  public void digest(int column, MessageDigest digest) {
    digest.update(bytes, starts[column], starts[column + 1] - starts[column]);
  }

  private void putLength(int length) {
    put(VALUE);
    putBits(length, Integer.BYTES);
  }

  private void put(byte value) {
    ensure(1);
    bytes[size++] = value;
    starts[columns] = size;
  }

  private void putBits(long value, int count) {
    ensure(count);
    for (int i = count - 1; i >= 0; i--) {
      bytes[size++] = (byte) (value >>> (i * Byte.SIZE));
    }
    starts[columns] = size;
  }

  private void ensure(int more) {
    if (bytes.length - size < more) {
      bytes = Arrays.copyOf(bytes, Math.max(bytes.length * 2, Math.addExact(size, more)));
    }
  }
}
