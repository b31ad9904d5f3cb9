package dev.millrace.parquet;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.bytes.ByteBufferAllocator;

/**
 * Where the compressed pages of a row group lie until it is written. The next row group takes the
 * same memory: as garbage, pages would be what most of the collector's work is about. Not
 * thread-safe.
 */
final class PageMemory implements ByteBufferAllocator {
  /** In bytes; with its header it fits into a region of G1, which has 1 MiB or more. */
  static final int BLOCK = (1 << 20) - 64;

  private final List<byte[]> blocks = new ArrayList<>();
  private int block;
  private int used;

  /** Returns memory that is valid until {@link #clear}. */
  @Override
  public ByteBuffer allocate(int size) {
    if (size > BLOCK) {
      // Pages of huge values are few, and not kept.
      return ByteBuffer.allocate(size);
    }
    if (size > BLOCK - used) {
      block++;
      used = 0;
    }
    if (block == blocks.size()) {
      blocks.add(new byte[BLOCK]);
    }
    ByteBuffer memory = ByteBuffer.wrap(blocks.get(block), used, size).slice();
    used += size;
    return memory;
  }

  /** Does nothing: memory is taken back as a whole. */
  @Override
  public void release(ByteBuffer memory) {}

  @Override
  public boolean isDirect() {
    return false;
  }

  /** Takes back all memory. */
  void clear() {
    block = 0;
    used = 0;
  }
}
