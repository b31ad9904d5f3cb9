package dev.millrace.verify;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/**
 * Many records of a few 64-bit numbers each, parted by the first byte of the first number, which is
 * a hash; parts are spilled to files when memory is short.
 *
 * <p>Memory: the bound, and what the largest part needs while it is looked at. Not thread-safe.
 */
final class HashRecords implements AutoCloseable {
  static final int PARTS = 256;

  /** Held in memory before it is spilled, in numbers. */
  static final long MOST_HELD = 4 << 20;

  private final int width;
  private final Path folder;
  private final String name;
  private final long mostHeld;
  private final long[][] parts = new long[PARTS][];
  private final int[] sizes = new int[PARTS];
  private final boolean[] spilled = new boolean[PARTS];
  private long held;
  private long records;

  /**
   * Makes an empty set.
   *
   * @param width numbers in a record
   * @param folder for files
   * @param name what files begin with
   * @param mostHeld numbers that are held in memory
   */
  HashRecords(int width, Path folder, String name, long mostHeld) {
    this.width = width;
    this.folder = folder;
    this.name = name;
    this.mostHeld = mostHeld;
  }

  int width() {
    return width;
  }

  long records() {
    return records;
  }

  /** Adds a record. */
  void add(long[] record) throws IOException {
    if (held + width > mostHeld) {
      spill();
    }
    int part = (int) (record[0] >>> (Long.SIZE - Byte.SIZE));
    int size = sizes[part];
    long[] numbers = parts[part];
    if (numbers == null || numbers.length - size < width) {
      numbers = numbers == null ? new long[16 * width] : Arrays.copyOf(numbers, numbers.length * 2);
      parts[part] = numbers;
    }
    System.arraycopy(record, 0, numbers, size, width);
    sizes[part] = size + width;
    held += width;
    records++;
  }

  private void spill() throws IOException {
    for (int part = 0; part < PARTS; part++) {
      if (sizes[part] == 0) {
        continue;
      }
      ByteBuffer bytes = ByteBuffer.allocate(sizes[part] * Long.BYTES);
      bytes.asLongBuffer().put(parts[part], 0, sizes[part]);
      try (FileChannel file =
          FileChannel.open(file(part), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
        while (bytes.hasRemaining()) {
          file.write(bytes);
        }
      }
      spilled[part] = true;
      parts[part] = null;
      sizes[part] = 0;
    }
    held = 0;
  }

  private Path file(int part) {
    return folder.resolve("%s-%03d.bin".formatted(name, part));
  }

  /**
   * Returns the records of a part one after another, sorted by all their numbers, as unsigned ones
   * from the first to the last.
   */
  long[] part(int part) throws IOException {
    long[] all = read(part);
    sort(all, width);
    return all;
  }

  private long[] read(int part) throws IOException {
    int inMemory = sizes[part];
    if (!spilled[part]) {
      return inMemory == 0 ? new long[0] : Arrays.copyOf(parts[part], inMemory);
    }
    try (FileChannel file = FileChannel.open(file(part), StandardOpenOption.READ)) {
      int inFile = Math.toIntExact(file.size() / Long.BYTES);
      long[] all = new long[Math.addExact(inFile, inMemory)];
      ByteBuffer bytes = ByteBuffer.allocate(1 << 20);
      int filled = 0;
      while (file.read(bytes) >= 0) {
        bytes.flip();
        LongBuffer numbers = bytes.asLongBuffer();
        int count = numbers.remaining();
        numbers.get(all, filled, count);
        filled += count;
        bytes.position(count * Long.BYTES);
        bytes.compact();
      }
      if (inMemory > 0) {
        System.arraycopy(parts[part], 0, all, inFile, inMemory);
      }
      return all;
    }
  }

  /** Sorts records where they lie. */
  static void sort(long[] all, int width) {
    sort(all, width, 0, all.length / width - 1, new long[width]);
  }

  private static void sort(long[] all, int width, int first, int last, long[] pivot) {
    int low = first;
    int high = last;
    while (low < high) {
      System.arraycopy(all, ((low + high) >>> 1) * width, pivot, 0, width);
      int left = low;
      int right = high;
      while (left <= right) {
        while (compare(all, left * width, pivot, 0, width) < 0) {
          left++;
        }
        while (compare(all, right * width, pivot, 0, width) > 0) {
          right--;
        }
        if (left <= right) {
          swap(all, left * width, right * width, width);
          left++;
          right--;
        }
      }
      // The smaller side by a call, the larger one by the loop: the stack stays small.
      if (right - low < high - left) {
        sort(all, width, low, right, pivot);
        low = left;
      } else {
        sort(all, width, left, high, pivot);
        high = right;
      }
    }
  }

  private static void swap(long[] all, int left, int right, int width) {
    for (int i = 0; i < width; i++) {
      long kept = all[left + i];
      all[left + i] = all[right + i];
      all[right + i] = kept;
    }
  }

  /** Compares so many numbers of two records. */
  static int compare(long[] left, int leftAt, long[] right, int rightAt, int count) {
    for (int i = 0; i < count; i++) {
      int order = Long.compareUnsigned(left[leftAt + i], right[rightAt + i]);
      if (order != 0) {
        return order;
      }
    }
    return 0;
  }

  @Override
  public void close() throws IOException {
    for (int part = 0; part < PARTS; part++) {
      parts[part] = null;
      if (spilled[part]) {
        Files.deleteIfExists(file(part));
      }
    }
  }
}
