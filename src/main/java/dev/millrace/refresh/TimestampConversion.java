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
 */
record TimestampConversion(boolean zoned, int sourceDigits, int targetDigits)
    implements Conversion {
  /** Microseconds from 1970-01-01 to 2000-01-01, from where Postgres counts. */
  private static final long EPOCH = 946_684_800_000_000L;

  private static final int MICROSECONDS = 6;
  private static final int NANOSECONDS = 9;
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

  /**
   * Returns the microseconds since 2000-01-01 UTC as 16 hex digits, as they are on the wire. This
   * costs Postgres less than any other form, and depends on no setting.
   */
  private String wire(String value) {
    return "encode(%s_send(%s), 'hex')".formatted(zoned ? "timestamptz" : "timestamp", value);
  }

  /** Returns whether a value is a multiple of the target's unit. */
  private String isWhole(String value) {
    return "('x' || %s)::bit(64)::int8 %% %d = 0".formatted(wire(value), unit());
  }

  private String inRange(String value) {
    return "%s >= %s AND %s < %s".formatted(value, literal(start()), value, literal(end()));
  }

  private String fits(String value) {
    return fractionFits() ? inRange(value) : inRange(value) + " AND " + isWhole(value);
  }

  @Override
  public String pull(String value, String complaint) {
    return Sql.guarded(fits(value), wire(value), "text", value, complaint);
  }

  @Override
  public String carrier() {
    return "String";
  }

  @Override
  public String insert(String carried, String type) {
    String micros = "reinterpretAsInt64(reverse(unhex(%s))) + %d".formatted(carried, EPOCH);
    String time =
        isSeconds()
            ? "intDiv(%s, 1000000)".formatted(micros)
            : "fromUnixTimestamp64Micro(%s, 'UTC')".formatted(micros);
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
    return "CASE WHEN %s THEN %s ELSE %s::text END".formatted(inRange(value), wire(value), value);
  }

  @Override
  public String targetText(String value) {
    if (isSeconds()) {
      return wireOf("toInt64(toUInt32(%s)) * 1000000".formatted(value));
    }
    String ticks = "reinterpretAsInt64(%s)".formatted(value);
    long more = unitsPerMicrosecond();
    if (more == 1) {
      return wireOf(unit() == 1 ? ticks : "%s * %d".formatted(ticks, unit()));
    }
    return "concat(%s, if(%s %% %d = 0, '', ' and more'))"
        .formatted(wireOf("intDiv(%s, %d)".formatted(ticks, more)), ticks, more);
  }

  private static String wireOf(String micros) {
    return "lower(hex(reverse(reinterpretAsFixedString(toInt64(%s - %d)))))"
        .formatted(micros, EPOCH);
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
              value -> "%s AND NOT %s".formatted(inRange(value), isWhole(value)), tooFine()));
    }
    return checks;
  }
}
