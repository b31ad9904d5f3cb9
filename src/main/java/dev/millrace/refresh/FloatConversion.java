package dev.millrace.refresh;

/**
 * {@code real}, {@code double precision}, and the integers that fit, to a float, bit for bit.
 *
 * @param source the kind of the values
 * @param bits 32 or 64
 */
record FloatConversion(PostgresType.Kind source, int bits) implements Conversion {

  @Override
  public String pull(String value, String complaint) {
    // How a float is written depends on extra_float_digits.
    return sourceText(value);
  }

  @Override
  public String carrier() {
    return "String";
  }

  @Override
  public String insert(String carried, String type) {
    return "accurateCast(reinterpretAsFloat%d(reverse(unhex(%s))), %s)"
        .formatted(bits, carried, Sql.clickHouseText(type));
  }

  @Override
  public String push(String value) {
    return source == PostgresType.Kind.FLOAT4 || source == PostgresType.Kind.FLOAT8
        ? value
        : "%s::float%d".formatted(value, bits / Byte.SIZE);
  }

  @Override
  public String pushArray(String array) {
    return source == PostgresType.Kind.FLOAT4 || source == PostgresType.Kind.FLOAT8
        ? array
        : "%s::float%d[]".formatted(array, bits / Byte.SIZE);
  }

  @Override
  public ValueEncoder encoder() {
    if (bits == Float.SIZE) {
      return (data, place, length, row) -> {
        ValueEncoder.check("real", length, Float.BYTES);
        row.int32((int) ValueEncoder.INT_BE.get(data, place));
      };
    }
    if (source == PostgresType.Kind.FLOAT4) {
      return (data, place, length, row) -> {
        ValueEncoder.check("real", length, Float.BYTES);
        double value = Float.intBitsToFloat((int) ValueEncoder.INT_BE.get(data, place));
        row.int64(Double.doubleToRawLongBits(value));
      };
    }
    return (data, place, length, row) -> {
      ValueEncoder.check("double precision", length, Double.BYTES);
      row.int64((long) ValueEncoder.LONG_BE.get(data, place));
    };
  }

  @Override
  public String sourceText(String value) {
    int bytes = bits / Byte.SIZE;
    return "encode(float%dsend(%s::float%d), 'hex')".formatted(bytes, value, bytes);
  }

  @Override
  public String targetText(String value) {
    return "lower(hex(reverse(reinterpretAsFixedString(%s))))".formatted(value);
  }
}
