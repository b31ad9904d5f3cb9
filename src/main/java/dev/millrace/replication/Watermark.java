package dev.millrace.replication;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;

/**
 * How far a table has been copied, as text: {@code 2026-09-20 18:15:00.000000Z} for times, decimal
 * text for numbers.
 */
public final class Watermark {
  private static final DateTimeFormatter TEXT =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS'Z'").withZone(ZoneOffset.UTC);
  private static final DateTimeFormatter WALL_CLOCK =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSSSSS");

  private Watermark() {}

  /** Returns an instant as a watermark; what is below a microsecond is cut off. */
  public static String of(Instant instant) {
    return TEXT.format(instant.truncatedTo(ChronoUnit.MICROS));
  }

  /** Returns a number as a watermark. */
  public static String of(BigDecimal number) {
    return number.toPlainString();
  }

  /** Reads the watermark of a key that is a time. */
  public static Instant instant(String watermark) {
    return TEXT.parse(watermark, Instant::from);
  }

  /**
   * Compares two watermarks of one kind.
   *
   * @return negative, zero or positive as {@code left} is before, at or after {@code right}
   */
  public static int compare(KeyKind kind, String left, String right) {
    return switch (kind) {
      case TIMESTAMPTZ, TIMESTAMP -> instant(left).compareTo(instant(right));
      case NUMBER -> new BigDecimal(left).compareTo(new BigDecimal(right));
    };
  }

  /**
   * Returns the watermark as an SQL literal that compares with the key by the key's own index.
   *
   * @param zone the zone of a wall-clock key; not used for others
   */
  public static String literal(KeyKind kind, String watermark, ZoneId zone) {
    return switch (kind) {
      case TIMESTAMPTZ -> "TIMESTAMPTZ '" + watermark.substring(0, watermark.length() - 1) + "+00'";
      case TIMESTAMP ->
          "TIMESTAMP '"
              + WALL_CLOCK.format(LocalDateTime.ofInstant(instant(watermark), zone))
              + "'";
      case NUMBER -> new BigDecimal(watermark).toPlainString();
    };
  }

  /**
   * Returns the latest instant, not after the given one, whose wall clock will never be shown
   * again. While a clock shows an hour twice, a window that ended in it would lose rows of the
   * second pass, so windows wait for its end at its first start.
   */
  public static Instant settled(Instant instant, ZoneId zone) {
    ZoneRules rules = zone.getRules();
    ZoneOffsetTransition ahead = rules.nextTransition(instant);
    if (ahead != null && ahead.isOverlap() && !instant.isBefore(overlapStart(ahead))) {
      return overlapStart(ahead);
    }
    ZoneOffsetTransition behind = rules.previousTransition(instant.plusNanos(1));
    if (behind != null && behind.isOverlap() && instant.isBefore(overlapEnd(behind))) {
      return overlapStart(behind);
    }
    return instant;
  }

  private static Instant overlapStart(ZoneOffsetTransition transition) {
    // One step before it: the hour's first microsecond is shown twice, too.
    return transition.getInstant().plus(transition.getDuration()).minus(1, ChronoUnit.MICROS);
  }

  private static Instant overlapEnd(ZoneOffsetTransition transition) {
    return transition.getInstant().minus(transition.getDuration());
  }
}
