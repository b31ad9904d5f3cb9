package dev.millrace.lake;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.io.SequenceInputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The bytes of one part: in memory, and those of a part that is larger than that in a file without
 * a name, so that the heap stays as it is however large the object gets.
 *
 * <p>Filled by one thread, then read by another; reused for later parts. Not thread-safe.
 */
final class PartBuffer implements AutoCloseable {
  private final byte[] memory;
  private int inMemory;
  private long capacity;
  private long inFile;
  // Not a FileChannel: an interrupt, such as the SDK's own at a timeout, would close it for good.
  private RandomAccessFile file;

  PartBuffer(int memorySize) {
    memory = new byte[memorySize];
    capacity = memorySize;
  }

  /** Empties it for a part of at most this many bytes. */
  void reset(long capacity) {
    this.capacity = capacity;
    inMemory = 0;
    inFile = 0;
  }

  long size() {
    return inFile + inMemory;
  }

  boolean full() {
    return size() == capacity;
  }

  /** Takes as many bytes as it can hold. */
  void fill(ByteBuffer bytes) {
    while (bytes.hasRemaining() && !full()) {
      if (inMemory == memory.length) {
        spill();
      }
      int count =
          (int) Math.min(Math.min(bytes.remaining(), memory.length - inMemory), capacity - size());
      bytes.get(memory, inMemory, count);
      inMemory += count;
    }
  }

  /** Returns a new stream over all bytes; earlier streams must not be read any more. */
  InputStream open() {
    InputStream rest = new ByteArrayInputStream(memory, 0, inMemory);
    return inFile == 0 ? rest : new SequenceInputStream(new FileStream(), rest);
  }

  private void spill() {
    try {
      if (file == null) {
        Path path = Files.createTempFile("millrace-", ".part");
        file = new RandomAccessFile(path.toFile(), "rw");
        // Without a name it goes with the process, killed or not.
        Files.delete(path);
      }
      file.seek(inFile);
      file.write(memory, 0, inMemory);
      inFile += inMemory;
      inMemory = 0;
    } catch (IOException e) {
      throw new MillraceException(
          ErrorCode.INTERNAL,
          "A part of %d bytes does not fit into the temporary folder %s: %s. Make room, or set java.io.tmpdir."
              .formatted(capacity, System.getProperty("java.io.tmpdir"), e.getMessage()),
          e);
    }
  }

  @Override
  public void close() {
    if (file == null) {
      return;
    }
    try {
      file.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      file = null;
    }
  }

  private final class FileStream extends InputStream {
    private long position;

    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      if (position == inFile) {
        return length == 0 ? 0 : -1;
      }
      file.seek(position);
      int count = file.read(target, offset, (int) Math.min(length, inFile - position));
      if (count > 0) {
        position += count;
      }
      return count;
    }
  }
}
