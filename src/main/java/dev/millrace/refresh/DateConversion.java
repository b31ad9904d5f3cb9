package dev.millrace.refresh;

import java.time.LocalDate;
import java.util.List;

/**
 * {@code date} to {@code Date} or {@code Date32}.
 *
 * @param wide whether it is {@code Date32}
 */
record DateConversion(boolean wide) implements Conversion {
  /** Days from 1970-01-01 to 2000-01-01, from where Postgres counts. */
  private static final int EPOCH = 10_957;

  private static final LocalDate DATE_START = LocalDate.of(1970, 1, 1);
  private static final LocalDate DATE_END = LocalDate.of(2149, 6, 6);
  private static final LocalDate DATE32_START = LocalDate.of(1900, 1, 1);
  private static final LocalDate DATE32_END = LocalDate.of(2299, 12, 31);

  private LocalDate first() {
    return wide ? DATE32_START : DATE_START;
  }

  private LocalDate last() {
    return wide ? DATE32_END : DATE_END;
  }

  private String type() {
    return wide ? "Date32" : "Date";
  }

  private static String literal(LocalDate date) {
    return "'%s'::date".formatted(date);
  }

  private String fits(String value) {
    return "%s BETWEEN %s AND %s".formatted(value, literal(first()), literal(last()));
  }

  private static String days(String value) {
    return "(%s - %s)".formatted(value, literal(DATE_START));
  }

  @Override
  public String pull(String value, String complaint) {
    return Sql.guarded(fits(value), days(value), "int4", value, complaint);
  }

  @Override
  public String carrier() {
    return "Int32";
  }

  @Override
  public String insert(String carried, String type) {
    return "accurateCast(%s, %s)".formatted(carried, Sql.clickHouseText(type));
  }

  @Override
  public ValueEncoder encoder() {
    int first = Math.toIntExact(first().toEpochDay()) - EPOCH;
    int last = Math.toIntExact(last().toEpochDay()) - EPOCH;
    boolean four = wide;
    String type = type();
    return (data, place, length, row) -> {
      ValueEncoder.check("date", length, Integer.BYTES);
      int days = (int) ValueEncoder.INT_BE.get(data, place);
      if (days < first || days > last) {
        throw new ValueException("is beyond " + type);
      }
      if (four) {
        row.int32(days + EPOCH);
      } else {
        row.int16(days + EPOCH);
      }
    };
  }

  @Override
  public String sourceText(String value) {
    return "CASE WHEN %s THEN %s::text ELSE %s::text END"
        .formatted(fits(value), days(value), value);
  }

  @Override
  public String targetText(String value) {
    return "toString(toInt32(%s))".formatted(value);
  }

  @Override
  public List<RangeCheck> checks() {
    return List.of(
        RangeCheck.atLeast(
            literal(first()), "is before %s, the first %s".formatted(first(), type())),
        RangeCheck.atMost(literal(last()), "is after %s, the last %s".formatted(last(), type())));
  }
}
