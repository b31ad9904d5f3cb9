package dev.millrace.refresh;

/** {@code uuid} to {@code UUID}. */
record UuidConversion() implements Conversion {

  @Override
  public String pull(String value, String complaint) {
    return value;
  }

  @Override
  public String carrier() {
    return "UUID";
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
      ValueEncoder.check("uuid", length, 2 * Long.BYTES);
      row.int64((long) ValueEncoder.LONG_BE.get(data, place));
      row.int64((long) ValueEncoder.LONG_BE.get(data, place + Long.BYTES));
    };
  }

  @Override
  public String sourceText(String value) {
    return value + "::text";
  }

  @Override
  public String targetText(String value) {
    return "toString(" + value + ")";
  }
}
