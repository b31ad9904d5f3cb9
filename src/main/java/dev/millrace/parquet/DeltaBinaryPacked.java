package dev.millrace.parquet;

/**
 * DELTA_BINARY_PACKED of <a
 * href="https://github.com/apache/parquet-format/blob/master/Encodings.md">Encodings.md</a>: blocks
 * of 128 deltas, each in four miniblocks of 32, which are packed with as many bits as the largest
 * delta above the block's least one needs.
 *
 * <p>Deltas wrap around, in 32 bits for ints: the widths then never exceed the type's. Not
 * thread-safe.
 */
final class DeltaBinaryPacked {
  private static final int BLOCK = 128;
  private static final int MINIBLOCKS = 4;
  private static final int MINIBLOCK = BLOCK / MINIBLOCKS;

  private final long[] deltas = new long[BLOCK];

  void encode(int[] values, int count, PageBuffer out) {
    header(count, count == 0 ? 0 : values[0], out);
    for (int from = 1; from < count; from += BLOCK) {
      int size = Math.min(BLOCK, count - from);
      int least = Integer.MAX_VALUE;
      for (int i = 0; i < size; i++) {
        int delta = values[from + i] - values[from + i - 1];
        deltas[i] = delta;
        least = Math.min(least, delta);
      }
      for (int i = 0; i < size; i++) {
        deltas[i] = ((int) deltas[i] - least) & 0xffffffffL;
      }
      block(least, size, out);
    }
  }

  void encode(long[] values, int count, PageBuffer out) {
    header(count, count == 0 ? 0 : values[0], out);
    for (int from = 1; from < count; from += BLOCK) {
      int size = Math.min(BLOCK, count - from);
      long least = Long.MAX_VALUE;
      for (int i = 0; i < size; i++) {
        long delta = values[from + i] - values[from + i - 1];
        deltas[i] = delta;
        least = Math.min(least, delta);
      }
      for (int i = 0; i < size; i++) {
        deltas[i] -= least;
      }
      block(least, size, out);
    }
  }

  private static void header(int count, long first, PageBuffer out) {
    out.putVarint(BLOCK);
    out.putVarint(MINIBLOCKS);
    out.putVarint(count);
    out.putZigzag(first);
  }

  private void block(long least, int size, PageBuffer out) {
    // The last miniblock is padded; those after it have width 0 and no bytes.
    for (int i = size; i < BLOCK; i++) {
      deltas[i] = 0;
    }
    out.putZigzag(least);
    int widths = out.extend(MINIBLOCKS);
    for (int miniblock = 0; miniblock < MINIBLOCKS; miniblock++) {
      int from = miniblock * MINIBLOCK;
      long bits = 0;
      for (int i = 0; i < MINIBLOCK; i++) {
        bits |= deltas[from + i];
      }
      int width = Long.SIZE - Long.numberOfLeadingZeros(bits);
      out.array()[widths + miniblock] = (byte) width;
      pack(from, width, out);
    }
  }

  /** Packs 32 values, each from its least significant bit on. */
  private void pack(int from, int width, PageBuffer out) {
    if (width == 0) {
      return;
    }
    int position = out.extend(MINIBLOCK * width / 8);
    byte[] bytes = out.array();
    long pending = 0;
    int bits = 0;
    for (int i = from; i < from + MINIBLOCK; i++) {
      long value = deltas[i];
      pending |= value << bits;
      bits += width;
      if (bits >= Long.SIZE) {
        PageBuffer.LONG_LE.set(bytes, position, pending);
        position += Long.BYTES;
        bits -= Long.SIZE;
        pending = bits == 0 ? 0 : value >>> (width - bits);
      }
    }
    // 32 values fill a whole number of 4-byte words.
    if (bits > 0) {
      PageBuffer.INT_LE.set(bytes, position, (int) pending);
    }
  }
}
