package dev.millrace.refresh;

import java.math.BigInteger;
import java.util.List;

/**
 * {@code smallint}, {@code integer}, {@code bigint} to a decimal.
 *
 * @param source 16, 32 or 64 bits, signed
 * @param target any
 */
record IntegerToDecimal(IntegerRange source, DecimalDigits target) implements Conversion {

  @Override
  public String pull(String value, String complaint) {
    if (holdsAll()) {
      return value;
    }
    // ClickHouse checks a decimal's bits, not its digits.
    return Sql.guarded(
        "%s BETWEEN -%s AND %s".formatted(value, bound(), bound()),
        value,
        "int" + source.bytes(),
        value,
        complaint);
  }

  private boolean holdsAll() {
    return bound().compareTo(source.greatest()) > 0;
  }

  private BigInteger bound() {
    return Sql.ten(target.whole()).subtract(BigInteger.ONE);
  }

  @Override
  public String carrier() {
    return source.type();
  }

  @Override
  public String insert(String carried, String type) {
    return "accurateCast(%s, %s)".formatted(carried, Sql.clickHouseText(type));
  }

  @Override
  public boolean isNative() {
    return holdsAll();
  }

  @Override
  public ValueEncoder encoder() {
    int wire = source.bytes();
    int bytes = target.bytes();
    int scale = target.scale();
    boolean checked = !holdsAll();
    long bound = checked ? bound().longValueExact() : Long.MAX_VALUE;
    String type = target.type();
    WideInteger wide = new WideInteger();
    return (data, place, length, row) -> {
      long value = IntegerConversion.read(data, place, length, wire);
      if (checked && (value > bound || value < -bound)) {
        throw new ValueException("has too many digits for " + type);
      }
      wide.set(value);
      if (value < 0) {
        wide.negate();
      }
      for (int i = 0; i < scale; i++) {
        wide.multiplyAdd(10, 0);
      }
      if (value < 0) {
        wide.negate();
      }
      wide.write(row, bytes);
    };
  }

  @Override
  public String sourceText(String value) {
    return "round(%s::numeric, %d)::text".formatted(value, target.scale());
  }

  @Override
  public String targetText(String value) {
    return target.targetText(value);
  }

  @Override
  public List<RangeCheck> checks() {
    if (holdsAll()) {
      return List.of();
    }
    String complaint = "has too many digits for " + target.type();
    return List.of(
        RangeCheck.atLeast("-" + bound(), complaint),
        RangeCheck.atMost(bound().toString(), complaint));
  }
}
