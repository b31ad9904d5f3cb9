package dev.millrace.replication;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;

/**
 * The range {@code low < key <= high} that is copied as one unit.
 *
 * @param kind what the key is
 * @param low the watermark so far; null before the first load, which has no lower bound
 * @param high the watermark after it; null only where a number key has no rows at all
 */
public record Window(KeyKind kind, String low, String high) {

  /** Returns whether there is nothing that could be read: a number key without rows. */
  public boolean empty() {
    return high == null;
  }

  /** Returns whether no key is above the watermark, so that only late rows can come. */
  public boolean rangeEmpty() {
    return low != null && Watermark.compare(kind, high, low) <= 0;
  }

  /** Returns whether it has no lower bound. */
  public boolean initialLoad() {
    return low == null;
  }

  /** Returns the range as people write it; a first load shows as {@code (, high]}. */
  @Override
  public String toString() {
    return "(%s, %s]".formatted(low == null ? "" : low, high == null ? "" : high);
  }

  /**
   * Returns where a window of a time key ends: the earlier of the run's instant and the source's
   * clock, less the lag, so that neither clock runs ahead of rows that are still to come.
   *
   * @param kind {@code TIMESTAMPTZ} or {@code TIMESTAMP}
   * @param zone the zone of a wall-clock key
   */
  public static String highOfTime(
      KeyKind kind, Instant runInstant, Instant sourceClock, Duration lag, ZoneId zone) {
    Instant earlier = runInstant.isBefore(sourceClock) ? runInstant : sourceClock;
    Instant high = earlier.minus(lag).truncatedTo(ChronoUnit.MICROS);
    return Watermark.of(kind == KeyKind.TIMESTAMP ? Watermark.settled(high, zone) : high);
  }
}
