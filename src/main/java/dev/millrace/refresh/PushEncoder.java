package dev.millrace.refresh;

import dev.millrace.clickhouse.RowBinary;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.BinaryCopy;
import dev.millrace.postgres.CopyOut;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;

/**
 * Turns a <a href="https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.55.9.4.6">binary
 * COPY</a> into RowBinary, with no object per value.
 *
 * <p>Memory is bounded by some blocks and the largest row. Not thread-safe.
 */
final class PushEncoder implements CopyOut.Rows {
  private static final int WINDOW = 512 << 10;
  private static final int SHOWN_BYTES = 64;

  private final BinaryCopy copy;
  private final List<ColumnMapping> columns;
  private final int keyColumn;
  private final ValueEncoder[] encoders;
  private final boolean[] nullable;
  private final RowBinary encoded;

  // The rows at work are in it.
  private byte[] window;
  private long rows;

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
    this.copy = new BinaryCopy(WINDOW, columns.size(), this::take);
    copy.start();
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
    copy.accept(data, offset, length);
  }

  private int take(byte[] data, int from, int end) throws IOException {
    window = data;
    int position = from;
    while (copy.isRow(data, position, end)) {
      int next = rowEnd(data, position, end);
      if (next < 0) {
        break;
      }
      encode(position);
      rows++;
      position = next;
    }
    return position;
  }

  /** Returns the position behind a row, -1 when not all of it is there. */
  private int rowEnd(byte[] data, int start, int end) {
    int position = start + Short.BYTES;
    for (int column = 0; column < encoders.length; column++) {
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
    copy.requireEnded(rows);
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
