package dev.millrace.lake;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class PartBufferTest {

  @Property(tries = 200)
  void itGivesBackWhatItTook(
      @ForAll @IntRange(min = 1, max = 50) int memory,
      @ForAll @IntRange(min = 1, max = 500) int capacity,
      @ForAll @IntRange(min = 0, max = 600) int offered,
      @ForAll @IntRange(min = 1, max = 70) int slice)
      throws IOException {
    byte[] content = LakeContract.bytes(offered);
    try (PartBuffer buffer = new PartBuffer(memory)) {
      for (int round = 0; round < 2; round++) {
        buffer.reset(capacity);
        int taken = 0;
        while (taken < offered && !buffer.full()) {
          ByteBuffer bytes = ByteBuffer.wrap(content, taken, Math.min(slice, offered - taken));
          int before = bytes.remaining();
          buffer.fill(bytes);
          taken += before - bytes.remaining();
        }
        assertThat(taken).isEqualTo(Math.min(offered, capacity));
        assertThat(buffer.size()).isEqualTo(taken);
        // A retry reads it from the start again.
        for (int read = 0; read < 2; read++) {
          assertThat(buffer.open().readAllBytes()).isEqualTo(Arrays.copyOf(content, taken));
        }
      }
    }
  }

  @Test
  void aRetryStartsOverWhileAnEarlierStreamIsHalfRead() throws IOException {
    try (PartBuffer buffer = new PartBuffer(10)) {
      buffer.reset(100);
      buffer.fill(ByteBuffer.wrap(LakeContract.bytes(100)));
      assertThat(buffer.open().readNBytes(33)).hasSize(33);

      assertThat(buffer.open().readAllBytes()).isEqualTo(LakeContract.bytes(100));
    }
  }

  @Test
  void tenThousandPartsHoldFiveTebibytesAndNoPartIsTooLarge() {
    long sum = 0;
    for (int part = 1; part <= 10_000; part++) {
      sum += S3Upload.partSize(part);
    }
    assertThat(sum).isGreaterThan(5L << 40);
    assertThat(S3Upload.partSize(1)).isEqualTo(6 << 20);
    assertThat(S3Upload.partSize(1_000)).isEqualTo(6 << 20);
    assertThat(S3Upload.partSize(1_001)).isEqualTo(12 << 20);
    assertThat(S3Upload.partSize(10_000)).isLessThanOrEqualTo(5L << 30);
  }
}
