package dev.millrace.parquet;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Some rows of a COPY where they lie: a byte array, and per column the places of its values in it.
 *
 * <p>Used again and again; not thread-safe.
 */
final class Batch {
  static final VarHandle SHORT_BE =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.BIG_ENDIAN);
  static final VarHandle INT_BE =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  static final VarHandle LONG_BE =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /** The place of a NULL. */
  static final int NULL = -1;

  private static final int PLACES = 64 << 10;
  private static final int MOST_ROWS = 4096;

  private final int columns;
  private final int capacity;
  private final int[] places;

  private byte[] data;
  private int rows;

  Batch(int columns) {
    this.columns = columns;
    this.capacity = Math.max(1, Math.min(MOST_ROWS, PLACES / columns));
    this.places = new int[columns * capacity];
  }

  void start(byte[] source) {
    data = source;
    rows = 0;
  }

  /** Returns the number of fields of a row. */
  int columns() {
    return columns;
  }

  byte[] data() {
    return data;
  }

  int rows() {
    return rows;
  }

  boolean isFull() {
    return rows == capacity;
  }

  /**
   * Notes the fields of one more row.
   *
   * @param from position of the row's first field, behind the number of fields
   * @param end where the data ends
   * @return the position behind the row, or -1 when not all of it is there
   */
  int scan(int from, int end) {
    int position = from;
    int slot = rows;
    for (int column = 0; column < columns; column++) {
      if (end - position < Integer.BYTES) {
        return -1;
      }
      int length = (int) INT_BE.get(data, position);
      position += Integer.BYTES;
      if (length < 0) {
        places[slot] = NULL;
      } else {
        if (length > end - position) {
          return -1;
        }
        places[slot] = position;
        position += length;
      }
      slot += capacity;
    }
    rows++;
    return position;
  }

  /** Returns where the value of a row lies, or {@link #NULL}. */
  int place(int column, int row) {
    return places[column * capacity + row];
  }

  /** Makes the value of a row NULL. */
  void setNull(int column, int row) {
    places[column * capacity + row] = NULL;
  }

  /** Returns the length of the value at a place; the wire has it just before the value. */
  int length(int place) {
    return (int) INT_BE.get(data, place - Integer.BYTES);
  }
}
