package dev.millrace.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class PageMemoryTest {
  @Property(tries = 50)
  void whatIsHandedOutIsNobodyElses(@ForAll long seed) {
    Random random = new Random(seed);
    PageMemory memory = new PageMemory();
    for (int rowGroup = 0; rowGroup < 3; rowGroup++) {
      List<ByteBuffer> pages = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        int size = random.nextInt(10) == 0 ? PageMemory.BLOCK + 1 : 1 + random.nextInt(200_000);
        ByteBuffer page = memory.allocate(size);
        assertThat(page.remaining()).isEqualTo(size);
        page.put(filled(size, i));
        pages.add(page.flip());
      }
      for (int i = 0; i < pages.size(); i++) {
        byte[] bytes = new byte[pages.get(i).remaining()];
        pages.get(i).get(bytes);
        assertThat(Arrays.equals(bytes, filled(bytes.length, i))).isTrue();
      }
      memory.clear();
    }
  }

  private static byte[] filled(int size, int value) {
    byte[] bytes = new byte[size];
    Arrays.fill(bytes, (byte) value);
    return bytes;
  }

  @Test
  void theNextRowGroupTakesTheSameMemory() {
    PageMemory memory = new PageMemory();
    byte[] first = memory.allocate(PageMemory.BLOCK).array();
    byte[] second = memory.allocate(1).array();
    memory.clear();
    assertThat(memory.allocate(1).array()).isSameAs(first);
    assertThat(memory.allocate(PageMemory.BLOCK).array()).isSameAs(second);
  }

  @Test
  void aBlockIsUsedToItsLastByte() {
    PageMemory memory = new PageMemory();
    byte[] block = memory.allocate(PageMemory.BLOCK - 1).array();
    assertThat(memory.allocate(1).array()).isSameAs(block);
    assertThat(memory.allocate(0).remaining()).isZero();
  }
}
