package dev.millrace.refresh;

/** {@code boolean} to {@code Bool}, or to an integer of one byte as 0 and 1. */
record BooleanConversion() implements Conversion {

  @Override
  public String pull(String value, String complaint) {
    return value + "::int4";
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
  public boolean isNative() {
    return true;
  }

  @Override
  public ValueEncoder encoder() {
    return (data, place, length, row) -> {
      ValueEncoder.check("boolean", length, Byte.BYTES);
      row.int8(data[place]);
    };
  }

  @Override
  public String sourceText(String value) {
    return value + "::int4::text";
  }

  @Override
  public String targetText(String value) {
    return "toString(toUInt8(%s))".formatted(value);
  }
}
