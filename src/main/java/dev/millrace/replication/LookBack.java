package dev.millrace.replication;

import java.math.BigDecimal;
import java.time.Duration;

/**
 * How far below the watermark late rows are looked for.
 *
 * @param kind what the key is
 * @param time for keys that are times; not negative
 * @param keys for keys that are numbers; not negative
 */
record LookBack(KeyKind kind, Duration time, long keys) {

  /** Returns the watermark above which late rows are taken. */
  String below(String watermark) {
    return switch (kind) {
      case TIMESTAMPTZ, TIMESTAMP -> Watermark.of(Watermark.instant(watermark).minus(time));
      case NUMBER -> Watermark.of(new BigDecimal(watermark).subtract(BigDecimal.valueOf(keys)));
    };
  }

  /** Returns it as people write it; the state keeps it, since another one needs another reading. */
  @Override
  public String toString() {
    return switch (kind) {
      case TIMESTAMPTZ, TIMESTAMP -> time.toString();
      case NUMBER -> keys + " keys";
    };
  }
}
