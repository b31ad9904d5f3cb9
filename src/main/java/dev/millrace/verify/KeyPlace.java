package dev.millrace.verify;

import dev.millrace.parquet.Form;
import dev.millrace.parquet.Values;
import dev.millrace.replication.KeyKind;
import dev.millrace.replication.Manifest;
import dev.millrace.replication.Watermark;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;

/** Where a row's key lies in the window of its object. Immutable. */
final class KeyPlace {
  private static final LocalDateTime EPOCH = LocalDateTime.ofEpochSecond(0, 0, ZoneOffset.UTC);

  /** Where it is. */
  enum Place {
    /** Above the window's low end and up to its high end. */
    IN_RANGE,
    /** At or below the low end, where late rows are looked for. */
    LATE,
    /** Where the window has no rows. */
    OUTSIDE
  }

  private final Manifest manifest;
  private final BigDecimal low;
  private final BigDecimal high;
  private final BigDecimal lateAbove;

  KeyPlace(Manifest manifest) {
    this.manifest = manifest;
    this.low = bound(manifest, manifest.low());
    this.high = bound(manifest, manifest.high());
    this.lateAbove = bound(manifest, manifest.lateAbove());
  }

  /** Returns whether keys of that form can be compared. */
  static boolean comparable(KeyKind kind, Form form) {
    return switch (kind) {
      case TIMESTAMPTZ, TIMESTAMP -> form.equals(new Form(Form.Kind.TIMESTAMP, 0));
      case NUMBER ->
          form.equals(new Form(Form.Kind.NUMBER, 0)) || form.equals(new Form(Form.Kind.TEXT, 0));
    };
  }

  private static BigDecimal bound(Manifest manifest, String watermark) {
    if (watermark == null) {
      return null;
    }
    return switch (manifest.keyKind()) {
      case TIMESTAMPTZ ->
          BigDecimal.valueOf(
              ChronoUnit.MICROS.between(Instant.EPOCH, Watermark.instant(watermark)));
      case TIMESTAMP ->
          BigDecimal.valueOf(
              ChronoUnit.MICROS.between(
                  EPOCH,
                  LocalDateTime.ofInstant(
                      Watermark.instant(watermark), ZoneId.of(manifest.keyTimeZone()))));
      case NUMBER -> new BigDecimal(watermark);
    };
  }

  /** Returns where the key of a row is. */
  Place of(Values row, int column) {
    if (row.isNull(column)) {
      return manifest.nullKeys() ? Place.IN_RANGE : Place.OUTSIDE;
    }
    return switch (manifest.keyKind()) {
      case TIMESTAMPTZ, TIMESTAMP -> of(BigDecimal.valueOf(row.longAt(column)));
      case NUMBER -> number(row.textAt(column));
    };
  }

  private Place number(String text) {
    try {
      return of(new BigDecimal(text));
    } catch (NumberFormatException notANumber) {
      return Place.OUTSIDE;
    }
  }

  private Place of(BigDecimal key) {
    if (key.compareTo(high) > 0) {
      return Place.OUTSIDE;
    }
    if (low == null || key.compareTo(low) > 0) {
      return Place.IN_RANGE;
    }
    boolean lateOnes = lateAbove != null && key.compareTo(lateAbove) > 0;
    return lateOnes || !manifest.wholePartitions().isEmpty() ? Place.LATE : Place.OUTSIDE;
  }
}
