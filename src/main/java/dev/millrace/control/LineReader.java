package dev.millrace.control;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A look at a file of lines as long as it was when the look began. A missing file is an empty one.
 *
 * <p>Not made of channels, which an interrupt would close without the lock. Not thread-safe.
 */
final class LineReader implements AutoCloseable {
  private static final int BLOCK = 8 << 10;

  private final Path path;
  private final Path key;
  private final RandomAccessFile file;
  private final long size;

  private LineReader(Path path, Path key, RandomAccessFile file, long size) {
    this.path = path;
    this.key = key;
    this.file = file;
    this.size = size;
  }

  /**
   * Opens the file. It waits for an append of this process, so it shows no line that may yet be
   * taken back.
   */
  static LineReader open(Path path) {
    Path key = LineFile.key(path);
    LineFile.LOCKS.lock(key);
    try {
      RandomAccessFile file = new RandomAccessFile(path.toFile(), "r");
      return new LineReader(path, key, file, file.length());
    } catch (FileNotFoundException exception) {
      if (Files.notExists(path)) {
        return new LineReader(path, key, null, 0);
      }
      throw LineFile.failure("read", path, exception);
    } catch (IOException exception) {
      throw LineFile.failure("read", path, exception);
    } finally {
      LineFile.LOCKS.unlock(key);
    }
  }

  /** Returns how long the file was, in bytes. */
  long size() {
    return size;
  }

  /** Returns where its last whole line ended. */
  long lastBorder() {
    try {
      return size == 0 ? 0 : lastBorder(file, size);
    } catch (IOException exception) {
      throw LineFile.failure("read", path, exception);
    }
  }

  /** Returns whether a line begins at an offset, or could. */
  boolean isBorder(long offset) {
    if (offset <= 0 || offset > size) {
      return offset == 0;
    }
    byte[] before = new byte[1];
    return read(offset - 1, before, 0, 1) == 1 && before[0] == '\n';
  }

  /**
   * Reads bytes.
   *
   * @return how many; fewer than asked for only at the end
   */
  int read(long position, byte[] target, int start, int most) {
    try {
      int wanted = (int) Math.min(most, size - position);
      int count = 0;
      file.seek(position);
      while (count < wanted) {
        int more = file.read(target, start + count, wanted - count);
        if (more < 0) {
          return count;
        }
        count += more;
      }
      return count;
    } catch (IOException exception) {
      throw LineFile.failure("read", path, exception);
    }
  }

  @Override
  public void close() {
    if (file == null) {
      return;
    }
    LineFile.LOCKS.lock(key);
    try {
      file.close();
    } catch (IOException exception) {
      throw LineFile.failure("closed", path, exception);
    } finally {
      LineFile.LOCKS.unlock(key);
    }
  }

  /** Returns where the last whole line before a position ends. */
  static long lastBorder(RandomAccessFile file, long before) throws IOException {
    byte[] block = new byte[BLOCK];
    long position = before;
    while (position > 0) {
      int length = (int) Math.min(BLOCK, position);
      file.seek(position - length);
      file.readFully(block, 0, length);
      for (int index = length - 1; index >= 0; index--) {
        if (block[index] == '\n') {
          return position - length + index + 1;
        }
      }
      position -= length;
    }
    return 0;
  }
}
