package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.parquet.ReplacedValues;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ReplacedCountsTest {
  @Test
  void countsOfManyColumnsComeAsTheGreatestAndTheRest() {
    List<ReplacedValues> many =
        IntStream.rangeClosed(1, 1600)
            .mapToObj(i -> new ReplacedValues("c" + i, "nan: null", i))
            .toList();

    List<ReplacedValues> few = ReplacedCounts.few(many);

    assertThat(few).hasSize(ReplacedCounts.MOST_COLUMNS + 1);
    assertThat(few.get(0)).isEqualTo(new ReplacedValues("c1600", "nan: null", 1600));
    assertThat(few.get(20).column()).isEqualTo("(1580 other columns)");
    assertThat(few.stream().mapToLong(ReplacedValues::values).sum()).isEqualTo(1600L * 1601 / 2);
    assertThat(ReplacedCounts.few(many.subList(0, 3))).isEqualTo(many.subList(0, 3));
  }

  @Test
  void countsOfTheSameColumnAndRuleAreAddedUp() {
    ReplacedValues first = new ReplacedValues("a", "nan: null", 1);
    ReplacedValues other = new ReplacedValues("a", "infinity: null", 5);
    ReplacedValues second = new ReplacedValues("a", "nan: null", 2);

    assertThat(ReplacedCounts.read(ReplacedCounts.write(List.of(first, other, second))))
        .containsExactly(new ReplacedValues("a", "nan: null", 3), other);
  }
}
