package dev.millrace.refresh;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code numeric} to an integer or a decimal.
 *
 * @param source with or without precision
 * @param integer the target; null for a decimal
 * @param decimal the target; null for an integer
 */
record NumericConversion(PostgresType source, IntegerRange integer, DecimalDigits decimal)
    implements Conversion {

  private int scale() {
    return decimal == null ? 0 : decimal.scale();
  }

  private BigInteger least() {
    return decimal == null ? integer.least() : wholeBound().negate();
  }

  private BigInteger greatest() {
    return decimal == null ? integer.greatest() : wholeBound();
  }

  /** Above all values that a decimal can hold, and a whole number. */
  private BigInteger wholeBound() {
    return Sql.ten(decimal.whole());
  }

  private String type() {
    return decimal == null ? integer.type() : decimal.type();
  }

  private boolean scaleFits() {
    return !source.isUnbounded() && source.scale() <= scale();
  }

  private boolean digitsFit() {
    if (source.isUnbounded()) {
      return false;
    }
    BigInteger bound = Sql.ten(wholeDigits());
    return decimal == null
        ? bound.compareTo(integer.greatest()) <= 0 && integer.signed()
        : bound.compareTo(wholeBound()) <= 0;
  }

  private int wholeDigits() {
    return Math.max(0, source.precision() - source.scale());
  }

  /** What has to hold for a value; NaN is above all numbers, infinity above all others. */
  private String fits(String value) {
    List<String> conditions = new ArrayList<>();
    if (digitsFit()) {
      conditions.add(value + " <> 'NaN'");
    } else {
      String above = decimal == null ? ">=" : ">";
      String below = decimal == null ? "<=" : "<";
      conditions.add("%s %s %s".formatted(value, above, least()));
      conditions.add("%s %s %s".formatted(value, below, greatest()));
    }
    if (!scaleFits()) {
      conditions.add("trunc(%s, %d) = %s".formatted(value, scale(), value));
    }
    return String.join(" AND ", conditions);
  }

  @Override
  public String pull(String value, String complaint) {
    // ClickHouse cuts fraction digits off in silence, and checks a decimal's bits, not its digits.
    String text =
        scaleFits() && source.scale() >= 0 && decimal != null
            ? value + "::text"
            : "trunc(%s, %d)::text".formatted(value, scale());
    return Sql.guarded(fits(value), text, "text", value, complaint);
  }

  @Override
  public String carrier() {
    return "String";
  }

  @Override
  public String insert(String carried, String type) {
    return "accurateCast(%s, %s)".formatted(carried, Sql.clickHouseText(type));
  }

  @Override
  public boolean isNative() {
    return decimal != null
        && scaleFits()
        && digitsFit()
        && source.precision() <= 76
        && source.scale() >= 0
        && source.scale() <= source.precision();
  }

  @Override
  public ValueEncoder encoder() {
    if (decimal == null) {
      return integers();
    }
    NumericDecoder decoder = new NumericDecoder(decimal.whole(), decimal.scale(), type());
    return switch (decimal.bytes()) {
      case Integer.BYTES ->
          (data, place, length, row) -> row.int32((int) decoder.decode(data, place, length));
      case Long.BYTES ->
          (data, place, length, row) -> row.int64(decoder.decode(data, place, length));
      default -> {
        int bytes = decimal.bytes();
        yield (data, place, length, row) -> {
          decoder.decodeWide(data, place, length);
          if (decoder.isNegative()) {
            decoder.magnitude().negate();
          }
          decoder.magnitude().write(row, bytes);
        };
      }
    };
  }

  private ValueEncoder integers() {
    int digits = integer.greatest().toString().length();
    NumericDecoder decoder = new NumericDecoder(digits, 0, type());
    int bytes = integer.bytes();
    return (data, place, length, row) -> {
      decoder.decodeWide(data, place, length);
      WideInteger value = decoder.magnitude();
      boolean negative = decoder.isNegative();
      if (decoder.overflows() || !fits(value, negative)) {
        throw new ValueException("is beyond " + type());
      }
      if (negative) {
        value.negate();
      }
      value.write(row, bytes);
    };
  }

  private boolean fits(WideInteger magnitude, boolean negative) {
    if (!integer.signed()) {
      return magnitude.isZeroFrom(integer.bits())
          && !(negative && !magnitude.isZeroBelow(integer.bits()));
    }
    int bits = integer.bits() - 1;
    // The least of a signed type is a power of two.
    return magnitude.isZeroFrom(bits)
        || (negative && magnitude.isZeroFrom(bits + 1) && magnitude.isZeroBelow(bits));
  }

  @Override
  public String sourceText(String value) {
    return "CASE WHEN %s THEN round(%s, %d)::text ELSE %s::text END"
        .formatted(fits(value), value, scale(), value);
  }

  @Override
  public String targetText(String value) {
    return decimal == null ? "toString(" + value + ")" : decimal.targetText(value);
  }

  @Override
  public List<RangeCheck> checks() {
    List<RangeCheck> checks = new ArrayList<>();
    String digits =
        decimal == null
            ? "is beyond %s (%s to %s)".formatted(type(), least(), greatest())
            : "has too many digits for %s".formatted(type());
    if (digitsFit()) {
      checks.add(RangeCheck.atMost("1e" + wholeDigits(), "is not a number"));
    } else if (decimal == null) {
      checks.add(RangeCheck.atLeast(least().toString(), digits));
      checks.add(RangeCheck.atMost(greatest().toString(), digits));
    } else {
      checks.add(reaches("min", "<=", least(), digits));
      checks.add(reaches("max", ">=", greatest(), digits));
    }
    if (!scaleFits()) {
      checks.add(
          RangeCheck.none(
              value -> "trunc(%s, %d) <> %s".formatted(value, scale(), value),
              scale() == 0
                  ? "is no whole number, as %s needs".formatted(type())
                  : "has more than the %d fraction digits of %s".formatted(scale(), type())));
    }
    return checks;
  }

  private static RangeCheck reaches(
      String aggregate, String operator, BigInteger bound, String complaint) {
    return new RangeCheck(
        aggregate,
        value -> value,
        null,
        figure -> "%s %s %s".formatted(figure, operator, bound),
        complaint);
  }
}
