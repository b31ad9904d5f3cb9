package dev.millrace.refresh;

import java.util.List;

/**
 * Takes Postgres' binary strings to {@code String} or {@code FixedString}, the bytes as they are.
 *
 * @param bytes of a {@code FixedString}, which have to be exactly as many: it would fill up with
 *     zero bytes that can't be told from real ones; 0 for {@code String}
 */
record BytesConversion(int bytes) implements Conversion {

  private String fits(String value) {
    return "octet_length(%s) = %d".formatted(value, bytes);
  }

  @Override
  public String pull(String value, String complaint) {
    String hex = sourceText(value);
    return bytes == 0 ? hex : Sql.guarded(fits(value), hex, "text", value, complaint);
  }

  @Override
  public String carrier() {
    return "String";
  }

  @Override
  public String insert(String carried, String type) {
    return "accurateCast(unhex(%s), %s)".formatted(carried, Sql.clickHouseText(type));
  }

  @Override
  public ValueEncoder encoder() {
    if (bytes == 0) {
      return TextConversion.strings();
    }
    return (data, place, length, row) -> {
      if (length != bytes) {
        throw new ValueException(complaint());
      }
      row.octets(data, place, length);
    };
  }

  private String complaint() {
    return "has not exactly the %d bytes of FixedString(%d)".formatted(bytes, bytes);
  }

  @Override
  public String sourceText(String value) {
    return "encode(%s, 'hex')".formatted(value);
  }

  @Override
  public String targetText(String value) {
    return "lower(hex(%s))".formatted(value);
  }

  @Override
  public List<RangeCheck> checks() {
    if (bytes == 0) {
      return List.of();
    }
    return List.of(
        new RangeCheck(
            "max",
            value -> "encode(substring(%s FROM 1 FOR 32), 'hex')".formatted(value),
            value -> "NOT " + fits(value),
            figure -> figure + " IS NOT NULL",
            complaint()));
  }
}
