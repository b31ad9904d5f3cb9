package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WindowTest {
  private static final Instant RUN = Instant.parse("2026-09-20T18:16:00.123456789Z");

  @Test
  void aWindowEndsAtTheRunsInstantLessTheLag() {
    assertThat(
            Window.highOfTime(
                KeyKind.TIMESTAMPTZ,
                RUN,
                RUN.plusSeconds(1),
                Duration.ofMinutes(1),
                ZoneOffset.UTC))
        .isEqualTo("2026-09-20 18:15:00.123456Z");
  }

  @Test
  void aSourceWhoseClockIsBehindEndsTheWindowEarlier() {
    assertThat(
            Window.highOfTime(
                KeyKind.TIMESTAMPTZ, RUN, RUN.minusSeconds(90), Duration.ZERO, ZoneOffset.UTC))
        .isEqualTo("2026-09-20 18:14:30.123456Z");
  }

  @ParameterizedTest
  @CsvSource({
    "TIMESTAMPTZ, , 2026-09-20 18:15:00.000000Z, false, false, true",
    "TIMESTAMPTZ, 2026-09-20 18:15:00.000000Z, 2026-09-20 18:15:00.000000Z, false, true, false",
    "TIMESTAMPTZ, 2026-09-20 18:15:00.000001Z, 2026-09-20 18:15:00.000000Z, false, true, false",
    "TIMESTAMPTZ, 2026-09-20 18:15:00.000000Z, 2026-09-20 18:15:00.000001Z, false, false, false",
    "NUMBER, , 7, false, false, true",
    "NUMBER, , , true, , true",
    "NUMBER, 9, 10, false, false, false",
    "NUMBER, 10, 9, false, true, false",
    "NUMBER, 10, 10.0, false, true, false",
    "NUMBER, 9007199254740992, 9007199254740993, false, false, false",
  })
  void aWindowWithoutKeysAboveItsWatermarkCanOnlyHaveLateRows(
      KeyKind kind,
      String low,
      String high,
      boolean empty,
      Boolean rangeEmpty,
      boolean initialLoad) {
    Window window = new Window(kind, low, high);

    assertThat(window.empty()).isEqualTo(empty);
    if (!empty) {
      assertThat(window.rangeEmpty()).isEqualTo(rangeEmpty);
    }
    assertThat(window.initialLoad()).isEqualTo(initialLoad);
  }

  @Test
  void aFirstLoadShowsNoLowerBound() {
    assertThat(new Window(KeyKind.NUMBER, null, "7")).hasToString("(, 7]");
    assertThat(new Window(KeyKind.NUMBER, "3", "7")).hasToString("(3, 7]");
  }

  @Test
  void aConditionComparesTheQuotedKeyWithLiteralsOfItsOwnKind() {
    Window numbers = new Window(KeyKind.NUMBER, "-3", "7.50");
    Window times =
        new Window(
            KeyKind.TIMESTAMPTZ, "2026-09-20 18:15:00.000000Z", "2026-09-20 19:15:00.000001Z");
    Window clocks =
        new Window(KeyKind.TIMESTAMP, "2026-09-20 18:15:00.000000Z", "2026-09-20 19:15:00.000000Z");

    assertThat(Bounds.condition(numbers, "a\"b", ZoneOffset.UTC, false))
        .isEqualTo("\"a\"\"b\" > -3 AND \"a\"\"b\" <= 7.50");
    assertThat(Bounds.condition(times, "t", ZoneOffset.UTC, false))
        .isEqualTo(
            "\"t\" > TIMESTAMPTZ '2026-09-20 18:15:00.000000+00'"
                + " AND \"t\" <= TIMESTAMPTZ '2026-09-20 19:15:00.000001+00'");
    assertThat(Bounds.condition(clocks, "t", ZoneId.of("Europe/Vilnius"), false))
        .isEqualTo(
            "\"t\" > TIMESTAMP '2026-09-20 21:15:00.000000'"
                + " AND \"t\" <= TIMESTAMP '2026-09-20 22:15:00.000000'");
    assertThat(Bounds.condition(new Window(KeyKind.NUMBER, null, "7"), "n", ZoneOffset.UTC, true))
        .isEqualTo("(\"n\" <= 7) OR \"n\" IS NULL");
  }

  @Test
  void anHourThatIsShownTwiceIsWaitedFor() {
    // Vilnius goes from 04:00 back to 03:00 at 01:00 UTC; 03:00 is first shown at 00:00 UTC.
    ZoneId vilnius = ZoneId.of("Europe/Vilnius");

    assertThat(Watermark.settled(Instant.parse("2026-10-24T23:59:59Z"), vilnius))
        .isEqualTo("2026-10-24T23:59:59Z");
    assertThat(Watermark.settled(Instant.parse("2026-10-25T00:30:00Z"), vilnius))
        .isEqualTo("2026-10-24T23:59:59.999999Z");
    assertThat(Watermark.settled(Instant.parse("2026-10-25T01:59:59Z"), vilnius))
        .isEqualTo("2026-10-24T23:59:59.999999Z");
    assertThat(Watermark.settled(Instant.parse("2026-10-25T02:00:00Z"), vilnius))
        .isEqualTo("2026-10-25T02:00:00Z");
  }

  @Property
  void noWallClockAfterASettledInstantIsShownAgainLater(
      @ForAll @LongRange(min = 0, max = 86_400L * 365) long second,
      @ForAll @LongRange(min = 0, max = 7_200) long later) {
    ZoneId vilnius = ZoneId.of("Europe/Vilnius");
    Instant now = Instant.parse("2026-01-01T00:00:00Z").plusSeconds(second);
    Instant settled = Watermark.settled(now, vilnius);

    LocalDateTime watermark = LocalDateTime.ofInstant(settled, vilnius);
    LocalDateTime written = LocalDateTime.ofInstant(now.plusSeconds(later + 1), vilnius);

    assertThat(settled).isBeforeOrEqualTo(now);
    assertThat(written).isAfter(watermark);
  }

  @Property
  void aWatermarkSurvivesItsText(
      @ForAll @LongRange(min = -62_000_000_000L, max = 250_000_000_000L) long second,
      @ForAll @LongRange(min = 0, max = 999_999) long micros) {
    Instant instant = Instant.ofEpochSecond(second, micros * 1_000);

    assertThat(Watermark.instant(Watermark.of(instant))).isEqualTo(instant);
  }

  @Property
  void numbersAreComparedAsNumbers(@ForAll long left, @ForAll long right) {
    assertThat(
            Watermark.compare(
                KeyKind.NUMBER,
                Watermark.of(BigDecimal.valueOf(left)),
                Watermark.of(BigDecimal.valueOf(right))))
        .isEqualTo(Long.compare(left, right));
  }
}
