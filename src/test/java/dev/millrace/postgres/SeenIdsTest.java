package dev.millrace.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class SeenIdsTest {

  @Property
  void holdsTheIdsFromXminOnAcrossAWrapAround(
      @ForAll @LongRange(min = 3, max = 1L << 40) long xmin,
      @ForAll @IntRange(min = 0, max = 5000) int width,
      @ForAll @Size(max = 50) Set<@IntRange(min = -5000, max = 4999) Integer> offsets) {
    Snapshot snapshot = new Snapshot(xmin, xmin + width);
    SeenIds seen = new SeenIds(snapshot);
    Set<Long> wanted = new TreeSet<>();
    for (int offset : offsets) {
      seen.add((int) (xmin + offset));
      if (offset >= 0 && offset < width) {
        wanted.add(xmin + offset);
      }
    }
    SeenIds read = SeenIds.decode(snapshot, seen.encode());

    for (int offset = -5; offset < width + 5; offset++) {
      assertThat(read.contains(xmin + offset)).isEqualTo(wanted.contains(xmin + offset));
    }
    assertThat(read.isEmpty()).isEqualTo(wanted.isEmpty());
  }

  @Property
  void carriesWhatALaterSnapshotStillNeeds(
      @ForAll @LongRange(min = 3, max = 1L << 33) long xmin,
      @ForAll @IntRange(min = 0, max = 300) int later,
      @ForAll @Size(max = 50) Set<@IntRange(min = 0, max = 199) Integer> offsets) {
    SeenIds earlier = new SeenIds(new Snapshot(xmin, xmin + 200));
    offsets.forEach(offset -> earlier.add((int) (xmin + offset)));
    SeenIds seen = new SeenIds(new Snapshot(xmin + later, xmin + later + 400));

    seen.carry(earlier);

    for (int offset = 0; offset < 200; offset++) {
      assertThat(seen.contains(xmin + offset))
          .isEqualTo(offset >= later && offsets.contains(offset));
    }
  }

  @Test
  void givesUpBeyondItsBound() {
    Snapshot snapshot = new Snapshot(100, 100 + 2L * SeenIds.MOST);
    SeenIds full = new SeenIds(snapshot);
    for (int id = 0; id < SeenIds.MOST; id++) {
      full.add(100 + id);
    }
    assertThat(full.tooMany()).isFalse();
    assertThat(full.encode()).hasSizeLessThan(2 << 20);

    full.add(100 + SeenIds.MOST);

    assertThat(full.tooMany()).isTrue();
    SeenIds next = new SeenIds(new Snapshot(150, 200));
    next.carry(full);
    assertThat(next.tooMany()).isTrue();
  }

  @Test
  void writesIdsAsPostgresReadsThem() {
    SeenIds seen = new SeenIds(new Snapshot((1L << 32) - 2, (1L << 32) + 10));
    seen.add(-1);
    seen.add(4);

    assertThat(seen.array()).isEqualTo("{4294967295,4}");
  }
}
