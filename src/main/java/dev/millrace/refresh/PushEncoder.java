package dev.millrace.refresh;

import dev.millrace.clickhouse.RowBinary;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.CopyOut;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * Turns a <a href="https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.55.9.4.6">binary
 * COPY</a> into RowBinary, with no object per value.
 *
 * <p>Memory is bounded by some blocks and the largest row. Not thread-safe.
 */
final class PushEncoder implements CopyOut.Rows {
  private static final byte[] SIGNATURE = {
    'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0
  };
  private static final int HEADER = SIGNATURE.length + 2 * Integer.BYTES;
  private static final int CRITICAL_FLAGS = 0xffff0000;
  private static final int TRAILER = -1;

  private static final int WINDOW = 512 << 10;
  private static final int SHOWN_BYTES = 64;

  private final List<ColumnMapping> columns;
  private final int keyColumn;
  private final ValueEncoder[] encoders;
  private final boolean[] nullable;
  private final RowBinary encoded;

  private byte[] window = new byte[WINDOW];
  private int filled;
  private State state = State.HEADER;
  private long rows;

  private enum State {
    HEADER,
    ROWS,
    ENDED
  }

  /**
   * Starts with the first byte of a COPY of the columns' {@link ColumnMapping#pushSelect}.
   *
   * @param columns the fields of a row, in their order
   * @param keyColumn index of the column that names a row in a failure
   * @param out where the rows go; it is not closed
   */
  PushEncoder(List<ColumnMapping> columns, int keyColumn, OutputStream out) {
    this.columns = List.copyOf(columns);
    this.keyColumn = keyColumn;
    this.encoded = new RowBinary(out);
    this.encoders = columns.stream().map(ColumnMapping::encoder).toArray(ValueEncoder[]::new);
    this.nullable = new boolean[columns.size()];
    for (int i = 0; i < nullable.length; i++) {
      nullable[i] = columns.get(i).type().nullable();
    }
  }

  /**
   * Takes the next bytes of the stream, header and trailer included, cut at any position.
   *
   * @throws MillraceException with {@code VALUE_OUT_OF_RANGE} that names column and key, when a
   *     value has no place in the target
   * @throws UncheckedIOException when the rows can't be sent
   */
  @Override
  public void accept(byte[] data, int offset, int length) {
    int from = offset;
    int end = offset + length;
    while (from < end) {
      if (filled == window.length) {
        window = Arrays.copyOf(window, larger(window.length));
      }
      int count = Math.min(end - from, window.length - filled);
      System.arraycopy(data, from, window, filled, count);
      filled += count;
      from += count;
      consume();
    }
  }

  private static int larger(int capacity) {
    if (capacity == Integer.MAX_VALUE - 16) {
      throw new IllegalStateException("a row of more than 2 GiB");
    }
    return (int) Math.min(Integer.MAX_VALUE - 16L, capacity * 2L);
  }

  /** Encodes all rows that are complete, and keeps the rest. */
  private void consume() {
    int position = state == State.HEADER ? header() : 0;
    try {
      while (state == State.ROWS) {
        int next = rowEnd(position);
        if (next < 0) {
          break;
        }
        if (state == State.ROWS) {
          encode(position);
          rows++;
        }
        position = next;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (state == State.ENDED && position < filled) {
      throw new IllegalStateException("bytes after the end of a COPY");
    }
    System.arraycopy(window, position, window, 0, filled - position);
    filled -= position;
  }

  private int header() {
    if (filled < HEADER) {
      return 0;
    }
    if (!Arrays.equals(window, 0, SIGNATURE.length, SIGNATURE, 0, SIGNATURE.length)) {
      throw new IllegalStateException("not the header of a binary COPY");
    }
    int flags = (int) ValueEncoder.INT_BE.get(window, SIGNATURE.length);
    int extension = (int) ValueEncoder.INT_BE.get(window, SIGNATURE.length + Integer.BYTES);
    if ((flags & CRITICAL_FLAGS) != 0 || extension != 0) {
      throw new IllegalStateException("a binary COPY of an unknown kind, flags " + flags);
    }
    state = State.ROWS;
    return HEADER;
  }

  /** Returns the position behind a row or the trailer, -1 when not all of it is there. */
  private int rowEnd(int start) {
    byte[] data = window;
    int end = filled;
    if (end - start < Short.BYTES) {
      return -1;
    }
    int fields = (short) ValueEncoder.SHORT_BE.get(data, start);
    int position = start + Short.BYTES;
    if (fields == TRAILER) {
      state = State.ENDED;
      return position;
    }
    if (fields != encoders.length) {
      throw new IllegalStateException(
          "a row of %d fields instead of %d".formatted(fields, encoders.length));
    }
    for (int column = 0; column < fields; column++) {
      if (end - position < Integer.BYTES) {
        return -1;
      }
      int length = (int) ValueEncoder.INT_BE.get(data, position);
      position += Integer.BYTES;
      if (length > end - position) {
        return -1;
      }
      position += Math.max(0, length);
    }
    return position;
  }

  private void encode(int start) throws IOException {
    byte[] data = window;
    int position = start + Short.BYTES;
    for (int column = 0; column < encoders.length; column++) {
      int length = (int) ValueEncoder.INT_BE.get(data, position);
      position += Integer.BYTES;
      if (length < 0) {
        if (!nullable[column]) {
          throw refused(column, start, "is NULL, and the target's type holds no NULL");
        }
        encoded.absent();
        continue;
      }
      if (nullable[column]) {
        encoded.present();
      }
      try {
        encoders[column].encode(data, position, length, encoded);
      } catch (ValueException e) {
        throw refused(column, start, e.getMessage());
      }
      position += length;
    }
  }

  /** Returns the number of rows so far. */
  long rows() {
    return rows;
  }

  /**
   * Sends what is left.
   *
   * @return the number of rows
   * @throws MillraceException with {@code AUDIT_FAILED} when the COPY has not come to its end
   */
  long finish() {
    if (state != State.ENDED) {
      throw new MillraceException(
          ErrorCode.AUDIT_FAILED,
          "the COPY stopped after %d rows without its trailer, so rows may be missing"
              .formatted(rows));
    }
    try {
      encoded.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return rows;
  }

  private MillraceException refused(int column, int row, String complaint) {
    ColumnMapping mapping = columns.get(column);
    return new MillraceException(
        ErrorCode.VALUE_OUT_OF_RANGE,
        "the value of column \"%s\" (%s to %s) in the row %s %s; correct the row, leave the column out, or give it a wider type in ClickHouse"
            .formatted(
                mapping.name(),
                mapping.source().declared(),
                mapping.type().text(),
                key(row),
                complaint));
  }

  /** Names a row by its key, or by its number where the key is no plain one. */
  private String key(int row) {
    int position = row + Short.BYTES;
    for (int column = 0; column < keyColumn; column++) {
      position += Integer.BYTES + Math.max(0, (int) ValueEncoder.INT_BE.get(window, position));
    }
    int length = (int) ValueEncoder.INT_BE.get(window, position);
    position += Integer.BYTES;
    if (length < 0) {
      return number();
    }
    ColumnMapping mapping = columns.get(keyColumn);
    String shown =
        switch (mapping.source().type().kind()) {
          case INT2 -> Short.toString((short) ValueEncoder.SHORT_BE.get(window, position));
          case INT4 -> Integer.toString((int) ValueEncoder.INT_BE.get(window, position));
          case INT8 -> Long.toString((long) ValueEncoder.LONG_BE.get(window, position));
          case TEXT, PADDED_TEXT, LABEL -> "'" + text(position, length) + "'";
          case UUID ->
              new java.util.UUID(
                      (long) ValueEncoder.LONG_BE.get(window, position),
                      (long) ValueEncoder.LONG_BE.get(window, position + Long.BYTES))
                  .toString();
          case BYTES ->
              "\\x"
                  + HexFormat.of()
                      .formatHex(window, position, position + Math.min(length, SHOWN_BYTES));
          case NUMERIC,
              FLOAT4,
              FLOAT8,
              BOOLEAN,
              DATE,
              TIMESTAMP,
              TIMESTAMP_WITH_ZONE,
              ADDRESS,
              ARRAY,
              STABLE_FORM,
              SESSION_FORM ->
              null;
        };
    return shown == null ? number() : "with \"%s\" = %s".formatted(mapping.name(), shown);
  }

  private String number() {
    return "number %d of the query".formatted(rows + 1);
  }

  private String text(int position, int length) {
    String text = new String(window, position, length, StandardCharsets.UTF_8);
    return text.length() <= SHOWN_BYTES
        ? text
        : text.substring(0, text.offsetByCodePoints(0, SHOWN_BYTES / 2)) + "…";
  }
}
