package dev.millrace.verify;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HashRecordsTest {
  @Test
  void whatIsSpilledComesBackSorted(@TempDir Path folder) throws IOException {
    long[][] expected = new long[10_000][];
    for (int held : List.of(7, 1_000, 1_000_000)) {
      try (HashRecords records = new HashRecords(3, folder, "r", held)) {
        for (int i = 0; i < expected.length; i++) {
          // Few hashes, so that parts are large.
          expected[i] = new long[] {(long) (i * 7919 % 5) << 56 | i * 31 % 97, i % 13 - 6, i};
          records.add(expected[i]);
        }
        assertThat(records.records()).isEqualTo(expected.length);
        List<long[]> read = new ArrayList<>();
        for (int part = 0; part < HashRecords.PARTS; part++) {
          long[] numbers = records.part(part);
          for (int at = 0; at < numbers.length; at += 3) {
            read.add(Arrays.copyOfRange(numbers, at, at + 3));
          }
        }
        List<long[]> sorted = new ArrayList<>(List.of(expected));
        sorted.sort(Arrays::compareUnsigned);
        assertThat(read)
            .as("%d held", held)
            .usingElementComparator(Arrays::compare)
            .containsExactlyElementsOf(sorted);
      }
      try (var left = Files.list(folder)) {
        assertThat(left).isEmpty();
      }
    }
  }

  @Property(tries = 200)
  void recordsAreSortedByAllTheirNumbers(
      @ForAll @Size(max = 200) List<@IntRange(min = -2, max = 2) Integer> values) {
    long[] numbers = values.stream().limit(values.size() / 2 * 2L).mapToLong(i -> i).toArray();
    List<List<Long>> expected = new ArrayList<>();
    for (int i = 0; i < numbers.length; i += 2) {
      expected.add(List.of(numbers[i], numbers[i + 1]));
    }
    expected.sort(
        Comparator.<List<Long>, Long>comparing(record -> record.get(0), Long::compareUnsigned)
            .thenComparing(record -> record.get(1), Long::compareUnsigned));

    HashRecords.sort(numbers, 2);

    List<List<Long>> sorted = new ArrayList<>();
    for (int i = 0; i < numbers.length; i += 2) {
      sorted.add(List.of(numbers[i], numbers[i + 1]));
    }
    assertThat(sorted).isEqualTo(expected);
  }

  @Test
  void manyEqualRecordsAreSortedWithASmallStack() {
    long[] numbers = new long[2_000_000];
    HashRecords.sort(numbers, 2);
    assertThat(numbers).containsOnly(0);
  }
}
