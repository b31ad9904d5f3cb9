package dev.millrace.postgres;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The stream of <a href="https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.55.9.4.6">
 * binary COPYs</a>, one after the other: takes their bytes as they come, checks header and trailer,
 * and shows the rows between them.
 *
 * <p>Memory is bounded by the window and the largest row. Not thread-safe.
 */
public final class BinaryCopy {
  private static final byte[] SIGNATURE = {
    'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0
  };
  private static final int HEADER = SIGNATURE.length + 2 * Integer.BYTES;
  private static final int CRITICAL_FLAGS = 0xffff0000;
  private static final int TRAILER = -1;

  private final int fields;
  private final Rows rows;
  private byte[] window;
  private int filled;
  private State state = State.BEFORE;

  private enum State {
    BEFORE,
    HEADER,
    ROWS,
    ENDED
  }

  /** Works on rows. */
  @FunctionalInterface
  public interface Rows {
    /**
     * Takes some of the rows that are complete; it is asked again until it takes none.
     *
     * @param data where the rows lie, only valid during the call
     * @param from position of the first row
     * @param end where the data ends, with any part of a row
     * @return the position behind the rows that were taken
     */
    int take(byte[] data, int from, int end) throws IOException;
  }

  /**
   * Makes the reader; {@link #start} comes next.
   *
   * @param window bytes to work on at once
   * @param fields of each row
   * @param rows is shown them
   */
  public BinaryCopy(int window, int fields, Rows rows) {
    this.window = new byte[window];
    this.fields = fields;
    this.rows = rows;
  }

  /** Expects the header of a COPY; one before it has come to its end. */
  public void start() {
    state = State.HEADER;
  }

  /** Returns whether a COPY was ever started. */
  public boolean started() {
    return state != State.BEFORE;
  }

  /**
   * Takes the next bytes, header and trailer included, cut at any position.
   *
   * @throws IllegalStateException when they are no binary COPY of so many fields
   * @throws UncheckedIOException of whoever is shown the rows
   */
  public void accept(byte[] data, int offset, int length) {
    int from = offset;
    int end = offset + length;
    try {
      while (from < end) {
        if (filled == window.length) {
          // One row is larger than the window.
          window = Arrays.copyOf(window, larger(window.length));
        }
        int count = Math.min(end - from, window.length - filled);
        System.arraycopy(data, from, window, filled, count);
        filled += count;
        from += count;
        consume();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int larger(int capacity) {
    if (capacity == Integer.MAX_VALUE - 16) {
      throw new IllegalStateException("a row of more than 2 GiB");
    }
    return (int) Math.min(Integer.MAX_VALUE - 16L, capacity * 2L);
  }

  /** Shows all rows that are complete, and keeps the rest. */
  private void consume() throws IOException {
    int position = state == State.HEADER ? header() : 0;
    int last = -1;
    while (state == State.ROWS && position != last) {
      last = position;
      position = rows.take(window, position, filled);
      if (filled - position >= Short.BYTES && fieldsAt(window, position) == TRAILER) {
        state = State.ENDED;
        position += Short.BYTES;
      }
    }
    if (state != State.HEADER && state != State.ROWS && position < filled) {
      throw new IllegalStateException("bytes before or after a COPY");
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
    ByteBuffer rest = ByteBuffer.wrap(window, SIGNATURE.length, 2 * Integer.BYTES);
    int flags = rest.getInt();
    int extension = rest.getInt();
    if ((flags & CRITICAL_FLAGS) != 0 || extension != 0) {
      throw new IllegalStateException("a binary COPY of an unknown kind, flags " + flags);
    }
    state = State.ROWS;
    return HEADER;
  }

  /**
   * Returns whether a row begins at a position: not where the trailer does, or where nothing has
   * come yet. Its first field is two bytes further.
   */
  public boolean isRow(byte[] data, int position, int end) {
    if (end - position < Short.BYTES) {
      return false;
    }
    int count = fieldsAt(data, position);
    if (count == fields) {
      return true;
    }
    if (count == TRAILER) {
      return false;
    }
    throw new IllegalStateException("a row of %d fields instead of %d".formatted(count, fields));
  }

  private static int fieldsAt(byte[] data, int position) {
    return (short) ((data[position] << Byte.SIZE) | (data[position + 1] & 0xff));
  }

  /**
   * Requires the trailer, without which rows may be missing.
   *
   * @param count of rows so far, for the message
   * @throws MillraceException with {@code AUDIT_FAILED}
   */
  public void requireEnded(long count) {
    if (state != State.ENDED) {
      throw new MillraceException(
          ErrorCode.AUDIT_FAILED,
          "the COPY stopped after %d rows without its trailer, so rows may be missing"
              .formatted(count));
    }
  }
}
