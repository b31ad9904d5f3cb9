package dev.millrace.replication;

import dev.millrace.postgres.Identifiers;
import java.time.ZoneId;

/** The SQL of a window. Stateless. */
final class Bounds {
  private Bounds() {}

  /**
   * Returns the condition that a row of the window meets; it is written so that an index on the key
   * serves it.
   *
   * @param key the column's name
   * @param zone the zone of a wall-clock key
   * @param includeNullKeys whether rows without a key belong to it
   */
  static String condition(Window window, String key, ZoneId zone, boolean includeNullKeys) {
    String column = Identifiers.quote(key);
    String range = range(window, window.low(), column, zone);
    return includeNullKeys ? "(%s) OR %s IS NULL".formatted(range, column) : range;
  }

  /**
   * Returns the condition that a row of the window meets, or one of the look-back that was not seen
   * before; one range of the key serves both.
   *
   * @param below the watermark above which late rows are taken
   * @param unseen what a late row meets, in SQL
   */
  static String conditionWithLate(
      Window window, String below, String unseen, String key, ZoneId zone) {
    String column = Identifiers.quote(key);
    return "%s AND (%s > %s OR (%s))"
        .formatted(
            range(window, below, column, zone),
            column,
            Watermark.literal(window.kind(), window.low(), zone),
            unseen);
  }

  /**
   * Returns the condition that no row meets which {@link #conditionWithLate} takes in its window:
   * those at or below the watermark.
   */
  static String conditionBelow(Window window, String key, ZoneId zone) {
    return Identifiers.quote(key) + " <= " + Watermark.literal(window.kind(), window.low(), zone);
  }

  private static String range(Window window, String low, String column, ZoneId zone) {
    String high = column + " <= " + Watermark.literal(window.kind(), window.high(), zone);
    return low == null
        ? high
        : column + " > " + Watermark.literal(window.kind(), low, zone) + " AND " + high;
  }
}
