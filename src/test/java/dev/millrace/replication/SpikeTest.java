package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpikeTest {
  @ParameterizedTest
  @CsvSource({
    "500, 100, 5, false, false",
    "501, 100, 5, false, true",
    "20, 100, 5, false, false",
    "19, 100, 5, false, true",
    "0, 100, 5, false, false",
    "501, 100, 5, true, false",
    "1000, 9, 5, false, false",
    "51, 10, 5, false, true",
    "1000, 0, 5, false, false",
    "9223372036854775807, 10, 2147483647, false, true",
    "10, 9223372036854775807, 2, false, true",
    "9223372036854775807, 9223372036854775807, 2147483647, false, false",
  })
  void aSpikeIsMoreThanFactorTimesLargerOrSmaller(
      long rows, long baseline, int factor, boolean initialLoad, boolean spike) {
    assertThat(Spike.is(rows, baseline, factor, initialLoad)).isEqualTo(spike);
  }

  @Property
  void whatGrewTooMuchWouldHaveShrunkTooMuchTheOtherWayRound(
      @ForAll @LongRange(min = 10, max = 1_000_000) long rows,
      @ForAll @LongRange(min = 10, max = 1_000_000) long baseline,
      @ForAll @IntRange(min = 2, max = 100) int factor) {
    assertThat(Spike.is(rows, baseline, factor, false))
        .isEqualTo(Spike.is(baseline, rows, factor, false));
  }
}
