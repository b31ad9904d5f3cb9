package dev.millrace.parquet;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/** A byte array that grows, with the number formats of Parquet. Not thread-safe. */
final class PageBuffer {
  static final VarHandle INT_LE =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  static final VarHandle LONG_LE =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** An array that one huge value made is given back after its page. */
  private static final int KEPT = 4 << 20;

  private byte[] bytes;
  private int size;

  PageBuffer(int capacity) {
    bytes = new byte[capacity];
  }

  byte[] array() {
    return bytes;
  }

  int size() {
    return size;
  }

  void clear() {
    size = 0;
    if (bytes.length > KEPT) {
      bytes = new byte[KEPT / 4];
    }
  }

  /** Makes room for that many bytes and returns the position of the first of them. */
  int extend(int count) {
    int start = size;
    int end = Math.addExact(start, count);
    if (end > bytes.length) {
      int doubled = (int) Math.min(Integer.MAX_VALUE - 16L, bytes.length * 2L);
      bytes = Arrays.copyOf(bytes, Math.max(end, doubled));
    }
    size = end;
    return start;
  }

  void put(byte[] source, int offset, int length) {
    int start = extend(length);
    System.arraycopy(source, offset, bytes, start, length);
  }

  void put(PageBuffer other) {
    put(other.bytes, 0, other.size);
  }

  void putByte(int value) {
    int start = extend(1);
    bytes[start] = (byte) value;
  }

  void putInt(int value) {
    int start = extend(Integer.BYTES);
    INT_LE.set(bytes, start, value);
  }

  void putLong(long value) {
    int start = extend(Long.BYTES);
    LONG_LE.set(bytes, start, value);
  }

  /** Appends an unsigned LEB128 number. */
  void putVarint(long value) {
    long rest = value;
    while ((rest & ~0x7fL) != 0) {
      putByte((int) (rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    putByte((int) rest);
  }

  void putZigzag(long value) {
    putVarint((value << 1) ^ (value >> 63));
  }
}
