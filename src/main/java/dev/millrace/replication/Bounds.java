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
    String high = column + " <= " + Watermark.literal(window.kind(), window.high(), zone);
    String range =
        window.initialLoad()
            ? high
            : column
                + " > "
                + Watermark.literal(window.kind(), window.low(), zone)
                + " AND "
                + high;
    return includeNullKeys ? "(%s) OR %s IS NULL".formatted(range, column) : range;
  }
}
