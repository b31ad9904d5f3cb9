package dev.millrace.verify;

import dev.millrace.postgres.CopyOut;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Cuts a COPY in Postgres' <a
 * href="https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-FILE-FORMATS">text
 * format</a> into rows and fields.
 *
 * <p>Holds one row. Not thread-safe.
 */
final class TextRows implements CopyOut.Rows {
  private final Sink sink;
  private byte[] bytes = new byte[4096];
  private int size;
  private int[] ends = new int[16];
  private boolean[] nulls = new boolean[16];
  private int fields;
  private boolean escaped;
  private boolean startsWithEscapedN;

  /** Gets rows. */
  @FunctionalInterface
  interface Sink {
    /** Takes a row; its fields are valid during the call. */
    void accept(TextRows row) throws IOException;
  }

  TextRows(Sink sink) {
    this.sink = sink;
  }

  int fields() {
    return fields;
  }

  boolean isNull(int field) {
    return nulls[field];
  }

  /** Returns the bytes that all fields lie in. */
  byte[] bytes() {
    return bytes;
  }

  int start(int field) {
    return field == 0 ? 0 : ends[field - 1];
  }

  int length(int field) {
    return ends[field] - start(field);
  }

  /** Returns a field as text; null for NULL. */
  String text(int field) {
    return nulls[field]
        ? null
        : new String(bytes, start(field), length(field), StandardCharsets.UTF_8);
  }

  @Override
  public void accept(byte[] data, int offset, int length) {
    for (int i = offset; i < offset + length; i++) {
      byte next = data[i];
      if (escaped) {
        escaped = false;
        if (next == 'N' && size == start(fields)) {
          startsWithEscapedN = true;
        }
        put(unescaped(next));
        continue;
      }
      switch (next) {
        case '\\' -> escaped = true;
        case '\t' -> endField();
        case '\n' -> endRow();
        default -> put(next);
      }
    }
  }

  /** All else stands for itself. */
  private static byte unescaped(byte letter) {
    return switch (letter) {
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'v' -> 0x0b;
      default -> letter;
    };
  }

  private void put(byte value) {
    if (size == bytes.length) {
      bytes = Arrays.copyOf(bytes, (int) Math.min(Integer.MAX_VALUE - 16L, size * 2L));
    }
    bytes[size++] = value;
  }

  private void endField() {
    if (fields == ends.length) {
      ends = Arrays.copyOf(ends, fields * 2);
      nulls = Arrays.copyOf(nulls, fields * 2);
    }
    // An N that was escaped stands for NULL; as a letter it comes without a backslash.
    nulls[fields] = startsWithEscapedN && size - start(fields) == 1;
    ends[fields++] = size;
    startsWithEscapedN = false;
  }

  private void endRow() {
    endField();
    try {
      sink.accept(this);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    size = 0;
    fields = 0;
  }
}
