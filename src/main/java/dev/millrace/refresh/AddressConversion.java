package dev.millrace.refresh;

import java.util.List;

/**
 * {@code inet} to {@code IPv4} or {@code IPv6}: single addresses of that family.
 *
 * @param wide whether it is {@code IPv6}
 */
record AddressConversion(boolean wide) implements Conversion {
  /** Family, bits of the netmask, whether it is cidr, and the number of bytes. */
  private static final int HEADER = 4;

  private static final int FAMILY_4 = 2;
  private static final int FAMILY_6 = 3;
  private static final int BYTES_4 = 4;
  private static final int BYTES_6 = 16;

  private String fits(String value) {
    return "family(%s) = %d AND masklen(%s) = %d"
        .formatted(value, wide ? 6 : 4, value, (wide ? BYTES_6 : BYTES_4) * Byte.SIZE);
  }

  @Override
  public String pull(String value, String complaint) {
    return Sql.guarded(fits(value), "host(%s)".formatted(value), "text", value, complaint);
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
  public ValueEncoder encoder() {
    int family = wide ? FAMILY_6 : FAMILY_4;
    int bytes = wide ? BYTES_6 : BYTES_4;
    boolean six = wide;
    return (data, place, length, row) -> {
      if (length < HEADER) {
        throw new IllegalStateException("an inet of " + length + " bytes");
      }
      if (data[place] != family || data[place + 1] != (byte) (bytes * Byte.SIZE)) {
        throw new ValueException(complaint());
      }
      ValueEncoder.check("inet", length, HEADER + bytes);
      if (six) {
        row.octets(data, place + HEADER, bytes);
      } else {
        row.int32((int) ValueEncoder.INT_BE.get(data, place + HEADER));
      }
    };
  }

  private String complaint() {
    return "is no single address of " + (wide ? "IPv6" : "IPv4");
  }

  @Override
  public String sourceText(String value) {
    String text =
        wide
            ? "encode(substring(inet_send(%s) FROM 5), 'hex')".formatted(value)
            : "(%s - '0.0.0.0'::inet)::text".formatted(value);
    return "CASE WHEN %s THEN %s ELSE %s::text END".formatted(fits(value), text, value);
  }

  @Override
  public String targetText(String value) {
    return wide ? "lower(hex(%s))".formatted(value) : "toString(toUInt32(%s))".formatted(value);
  }

  @Override
  public List<RangeCheck> checks() {
    return List.of(RangeCheck.none(value -> "NOT (%s)".formatted(fits(value)), complaint()));
  }
}
