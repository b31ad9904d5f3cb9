package dev.millrace.refresh;

import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code timestamp} and {@code timestamptz} to {@code DateTime} or {@code DateTime64}, the instant
 * as it is; a {@code timestamp} is read as UTC.
 *
 * @param zoned whether the source is {@code timestamptz}
 * @param sourceDigits fraction digits of the source, 0 to 6
 * @param targetDigits fraction digits of the {@code DateTime64}, 0 to 9; -1 for {@code DateTime}
 * @param serverVersion of Postgres
 */
record TimestampConversion(boolean zoned, int sourceDigits, int targetDigits, int serverVersion)
    implements Conversion {
  /** Microseconds from 1970-01-01 to 2000-01-01, from where Postgres counts. */
  private static final long EPOCH = 946_684_800_000_000L;

  private static final int MICROSECONDS = 6;
  private static final int NANOSECONDS = 9;
  private static final int EXACT_EPOCH = 140_000;
  private static final long MILLION = 1_000_000;

  private static final LocalDateTime START = LocalDateTime.of(1900, 1, 1, 0, 0);
  private static final LocalDateTime END = LocalDateTime.of(2300, 1, 1, 0, 0);
  private static final LocalDateTime SECONDS_START = LocalDateTime.of(1970, 1, 1, 0, 0);

  /** After the last second that 32 bits hold. */
  private static final LocalDateTime SECONDS_END = LocalDateTime.of(2106, 2, 7, 6, 28, 16);

  /** After the last second whose nanoseconds 64 bits hold. */
  private static final LocalDateTime NANOSECONDS_END = LocalDateTime.of(2262, 4, 11, 23, 47, 16);

  private boolean isSeconds() {
    return targetDigits < 0;
  }

  private LocalDateTime start() {
    return isSeconds() ? SECONDS_START : START;
  }

  private LocalDateTime end() {
    if (isSeconds()) {
      return SECONDS_END;
    }
    return targetDigits == NANOSECONDS ? NANOSECONDS_END : END;
  }

  private String type() {
    return isSeconds() ? "DateTime" : "DateTime64(%d)".formatted(targetDigits);
  }

  /** Microseconds in the target's unit: what a value has to be a multiple of. */
  private long unit() {
    long unit = 1;
    for (int digits = Math.max(0, targetDigits); digits < MICROSECONDS; digits++) {
      unit *= 10;
    }
    return unit;
  }

  private long unitsPerMicrosecond() {
    long units = 1;
    for (int digits = MICROSECONDS; digits < targetDigits; digits++) {
      units *= 10;
    }
    return units;
  }

  private boolean fractionFits() {
    return sourceDigits <= Math.max(0, targetDigits);
  }

  private String literal(LocalDateTime time) {
    String text = time.toString().replace('T', ' ');
    String seconds = time.getSecond() == 0 ? text + ":00" : text;
    return zoned ? "'%s+00'::timestamptz".formatted(seconds) : "'%s'::timestamp".formatted(seconds);
  }

  private String micros(String value) {
    if (serverVersion >= EXACT_EPOCH) {
      return "(extract(epoch FROM %s) * 1000000)::int8".formatted(value);
    }
    // Before version 14 extract() gives a double.
    return "(('x' || encode(%s_send(%s), 'hex'))::bit(64)::int8 + %d)"
        .formatted(zoned ? "timestamptz" : "timestamp", value, EPOCH);
  }

  private String inRange(String value) {
    return "%s >= %s AND %s < %s".formatted(value, literal(start()), value, literal(end()));
  }

  private String fits(String value) {
    return fractionFits()
        ? inRange(value)
        : "%s AND %s %% %d = 0".formatted(inRange(value), micros(value), unit());
  }

  @Override
  public String pull(String value, String complaint) {
    return Sql.guarded(fits(value), micros(value), "int8", value, complaint);
  }

  @Override
  public String carrier() {
    return "Int64";
  }

  @Override
  public String insert(String carried, String type) {
    String time =
        isSeconds()
            ? "intDiv(%s, 1000000)".formatted(carried)
            : "fromUnixTimestamp64Micro(%s, 'UTC')".formatted(carried);
    return "accurateCast(%s, %s)".formatted(time, Sql.clickHouseText(type));
  }

  @Override
  public ValueEncoder encoder() {
    long start = micros(start()) - EPOCH;
    long end = micros(end()) - EPOCH;
    long unit = unit();
    long more = unitsPerMicrosecond();
    boolean seconds = isSeconds();
    String type = type();
    return (data, place, length, row) -> {
      ValueEncoder.check("timestamp", length, Long.BYTES);
      long wire = (long) ValueEncoder.LONG_BE.get(data, place);
      if (wire < start || wire >= end) {
        throw new ValueException("is beyond " + type);
      }
      long micros = wire + EPOCH;
      if (unit != 1 && micros % unit != 0) {
        throw new ValueException(tooFine());
      }
      if (seconds) {
        row.int32((int) (micros / unit));
      } else {
        row.int64(unit == 1 ? micros * more : micros / unit);
      }
    };
  }

  private static long micros(LocalDateTime time) {
    return time.toEpochSecond(ZoneOffset.UTC) * MILLION;
  }

  private String tooFine() {
    return "has a fraction finer than " + type();
  }

  @Override
  public String sourceText(String value) {
    String micros =
        targetDigits > MICROSECONDS
            ? "(%s * %d)".formatted(micros(value), unitsPerMicrosecond())
            : micros(value);
    return "CASE WHEN %s THEN %s::text ELSE %s::text END".formatted(inRange(value), micros, value);
  }

  @Override
  public String targetText(String value) {
    if (isSeconds()) {
      return "toString(toInt64(toUInt32(%s)) * 1000000)".formatted(value);
    }
    String ticks = "reinterpretAsInt64(%s)".formatted(value);
    return unit() == 1
        ? "toString(%s)".formatted(ticks)
        : "toString(%s * %d)".formatted(ticks, unit());
  }

  @Override
  public List<RangeCheck> checks() {
    List<RangeCheck> checks = new ArrayList<>();
    checks.add(
        RangeCheck.atLeast(
            literal(start()),
            "is before %s UTC, the first %s".formatted(start().toLocalDate(), type())));
    checks.add(
        new RangeCheck(
            "max",
            value -> value,
            null,
            greatest -> "%s >= %s".formatted(greatest, literal(end())),
            "is not before %s UTC, where %s ends"
                .formatted(end().toString().replace('T', ' '), type())));
    if (!fractionFits()) {
      checks.add(
          RangeCheck.none(
              value -> "%s AND %s %% %d <> 0".formatted(inRange(value), micros(value), unit()),
              tooFine()));
    }
    return checks;
  }
}
