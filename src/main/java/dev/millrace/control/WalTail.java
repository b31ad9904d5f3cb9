package dev.millrace.control;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The whole lines of a log from an offset on, as far as it went when they were asked for. A torn
 * line is never given.
 *
 * <p>It holds about a megabyte at a time, or one line. Not thread-safe.
 */
final class WalTail implements AutoCloseable {
  private static final int CHUNK = 1 << 20;

  /**
   * A whole line.
   *
   * @param offset where it begins in the file, in bytes
   * @param bytes its length with the line feed
   * @param content its bytes with the line feed, each as the character of that number; null for a
   *     line above {@link WalFormat#LONGEST_LINE}, which is not kept
   */
  record Line(long offset, int bytes, String content) {}

  private final LineReader reader;
  private byte[] buffer = new byte[CHUNK];
  private int filled;
  private long position;

  private WalTail(LineReader reader, long offset) {
    this.reader = reader;
    this.position = offset;
  }

  /**
   * Begins at an offset.
   *
   * @param offset where a line begins
   * @throws dev.millrace.failure.MillraceException with {@code WAL_UNWRITABLE} when the log can't
   *     be read, here and below
   */
  static WalTail open(Path path, long offset) {
    return new WalTail(LineReader.open(path), offset);
  }

  /** Returns where the lines given so far end. */
  long position() {
    return position;
  }

  /** Returns false when there are no more lines; when true, what is left may yet be a torn one. */
  boolean hasMore() {
    return position + filled < reader.size();
  }

  /** Returns the next lines, in order; none when there are no more. */
  List<Line> next() {
    List<Line> lines = new ArrayList<>();
    while (lines.isEmpty() && hasMore()) {
      if (filled == WalFormat.LONGEST_LINE) {
        skipLongLine().ifPresent(lines::add);
        return lines;
      }
      if (filled == buffer.length) {
        buffer = Arrays.copyOf(buffer, buffer.length * 2);
      }
      int looked = filled;
      int room = Math.min(CHUNK, buffer.length - filled);
      filled += reader.read(position + filled, buffer, filled, room);
      takeLines(looked, lines);
    }
    return lines;
  }

  @Override
  public void close() {
    reader.close();
  }

  private void takeLines(int from, List<Line> lines) {
    int start = 0;
    for (int index = from; index < filled; index++) {
      if (buffer[index] == '\n') {
        int bytes = index + 1 - start;
        String content = new String(buffer, start, bytes, StandardCharsets.ISO_8859_1);
        lines.add(new Line(position + start, bytes, content));
        start = index + 1;
      }
    }
    System.arraycopy(buffer, start, buffer, 0, filled - start);
    filled -= start;
    position += start;
  }

  /** Returns nothing when the long line is a torn one. */
  private Optional<Line> skipLongLine() {
    long begin = position;
    long look = position + filled;
    while (look < reader.size()) {
      int count = reader.read(look, buffer, 0, CHUNK);
      for (int index = 0; index < count; index++) {
        if (buffer[index] == '\n') {
          position = look + index + 1;
          filled = 0;
          int bytes = (int) Math.min(Integer.MAX_VALUE, position - begin);
          return Optional.of(new Line(begin, bytes, null));
        }
      }
      look += Math.max(count, 1);
    }
    return Optional.empty();
  }
}
