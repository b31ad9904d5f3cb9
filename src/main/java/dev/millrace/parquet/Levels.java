package dev.millrace.parquet;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Repetition or definition levels of a page, in the <a
 * href="https://github.com/apache/parquet-format/blob/master/Encodings.md">RLE/bit-packing
 * hybrid</a>: one run when all are equal, else one bit-packed run. Not thread-safe.
 */
final class Levels {
  private static final int GROUP = 8;

  private final int width;
  private final long[] counts;
  private byte[] levels = new byte[1024];
  private int size;

  /** Makes levels of 0 to {@code most}, at least 1. */
  Levels(int most) {
    this.width = Integer.SIZE - Integer.numberOfLeadingZeros(most);
    this.counts = new long[most + 1];
  }

  void add(int level) {
    if (size == levels.length) {
      levels = Arrays.copyOf(levels, (int) Math.min(Integer.MAX_VALUE - 16L, size * 2L));
    }
    levels[size++] = (byte) level;
    counts[level]++;
  }

  int size() {
    return size;
  }

  /** Returns how often each level comes up. */
  List<Long> histogram() {
    List<Long> histogram = new ArrayList<>();
    for (long count : counts) {
      histogram.add(count);
    }
    return histogram;
  }

  /** Appends the length of the encoded levels, and them. */
  void put(PageBuffer out) {
    int start = out.extend(Integer.BYTES);
    if (counts[levels[0]] == size) {
      out.putVarint((long) size << 1);
      out.putByte(levels[0]);
    } else {
      int groups = (size + GROUP - 1) / GROUP;
      out.putVarint((long) groups << 1 | 1);
      int position = out.extend(groups * width);
      for (int group = 0; group < groups; group++) {
        pack(group * GROUP, out.array(), position + group * width);
      }
    }
    PageBuffer.INT_LE.set(out.array(), start, out.size() - start - Integer.BYTES);
  }

  /** Packs 8 levels, each from its least significant bit on; those after the end are 0. */
  private void pack(int from, byte[] target, int position) {
    long bits = 0;
    for (int i = from; i < Math.min(from + GROUP, size); i++) {
      bits |= (long) levels[i] << ((i - from) * width);
    }
    for (int i = 0; i < width; i++) {
      target[position + i] = (byte) (bits >>> (i * Byte.SIZE));
    }
  }

  void clear() {
    size = 0;
    Arrays.fill(counts, 0);
    if (levels.length > 4 << 20) {
      levels = new byte[1024];
    }
  }
}
