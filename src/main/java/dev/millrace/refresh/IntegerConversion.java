package dev.millrace.refresh;

import dev.millrace.clickhouse.RowBinary;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code smallint}, {@code integer}, {@code bigint} to an integer.
 *
 * @param source 16, 32 or 64 bits, signed
 * @param target any
 */
record IntegerConversion(IntegerRange source, IntegerRange target) implements Conversion {

  @Override
  public String pull(String value, String complaint) {
    return value;
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
    return true;
  }

  @Override
  public ValueEncoder encoder() {
    int wire = source.bytes();
    int bytes = target.bytes();
    long least =
        target.contains(source) ? Long.MIN_VALUE : target.least().max(source.least()).longValue();
    long greatest =
        target.contains(source)
            ? Long.MAX_VALUE
            : target.greatest().min(source.greatest()).longValue();
    String type = target.type();
    return (data, place, length, row) -> {
      long value = read(data, place, length, wire);
      if (value < least || value > greatest) {
        throw new ValueException("is beyond " + type);
      }
      write(row, value, bytes);
    };
  }

  static long read(byte[] data, int place, int length, int wire) {
    ValueEncoder.check("number", length, wire);
    return switch (wire) {
      case Short.BYTES -> (short) ValueEncoder.SHORT_BE.get(data, place);
      case Integer.BYTES -> (int) ValueEncoder.INT_BE.get(data, place);
      default -> (long) ValueEncoder.LONG_BE.get(data, place);
    };
  }

  private static void write(RowBinary row, long value, int bytes) throws IOException {
    switch (bytes) {
      case Byte.BYTES -> row.int8((int) value);
      case Short.BYTES -> row.int16((int) value);
      case Integer.BYTES -> row.int32((int) value);
      default -> {
        row.int64(value);
        for (int more = Long.BYTES; more < bytes; more += Long.BYTES) {
          row.int64(value >> 63);
        }
      }
    }
  }

  @Override
  public String sourceText(String value) {
    return value + "::text";
  }

  @Override
  public String targetText(String value) {
    return "toString(" + value + ")";
  }

  @Override
  public List<RangeCheck> checks() {
    List<RangeCheck> checks = new ArrayList<>();
    if (target.least().compareTo(source.least()) > 0) {
      checks.add(
          RangeCheck.atLeast(
              target.least().toString(),
              "is below %s, the least %s".formatted(target.least(), target.type())));
    }
    if (target.greatest().compareTo(source.greatest()) < 0) {
      checks.add(
          RangeCheck.atMost(
              target.greatest().toString(),
              "is above %s, the greatest %s".formatted(target.greatest(), target.type())));
    }
    return checks;
  }
}
