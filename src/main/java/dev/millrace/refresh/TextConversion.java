package dev.millrace.refresh;

import java.util.List;

/**
 * Text, and what has only its text form in ClickHouse, to {@code String} or {@code FixedString}.
 *
 * @param source the kind of the values
 * @param bytes of a {@code FixedString}, which is filled up with zero bytes; 0 for {@code String}
 * @param unicode whether the database's encoding is UTF8
 */
record TextConversion(PostgresType.Kind source, int bytes, boolean unicode) implements Conversion {

  /** Returns Postgres SQL for the text that Postgres itself shows. */
  static String text(PostgresType.Kind kind, String value) {
    return switch (kind) {
      // Casts to text leave blanks out, or add the netmask.
      case PADDED_TEXT -> "textin(bpcharout(%s))".formatted(value);
      case ADDRESS -> "textin(inet_out(%s))".formatted(value);
      default -> value + "::text";
    };
  }

  static String byteLength(String text, boolean unicode) {
    return unicode
        ? "octet_length(%s)".formatted(text)
        : "octet_length(convert_to(%s, 'UTF8'))".formatted(text);
  }

  private String text(String value) {
    return text(source, value);
  }

  private String fits(String value) {
    return "%s <= %d".formatted(byteLength(text(value), unicode), bytes);
  }

  @Override
  public String pull(String value, String complaint) {
    return bytes == 0
        ? text(value)
        : Sql.guarded(fits(value), text(value), "text", value, complaint);
  }

  @Override
  public String carrier() {
    return "String";
  }

  @Override
  public boolean isFreeText() {
    return true;
  }

  @Override
  public String insert(String carried, String type) {
    return "accurateCast(%s, %s)".formatted(carried, Sql.clickHouseText(type));
  }

  @Override
  public boolean isNative() {
    return isOnTheWire();
  }

  private boolean isOnTheWire() {
    return switch (source) {
      case TEXT, PADDED_TEXT, LABEL -> true;
      default -> false;
    };
  }

  @Override
  public String push(String value) {
    return isOnTheWire() ? value : text(value);
  }

  @Override
  public String pushArray(String array) {
    return isOnTheWire() ? array : array + "::text[]";
  }

  @Override
  public ValueEncoder encoder() {
    return bytes == 0 ? strings() : fixedStrings(bytes);
  }

  static ValueEncoder strings() {
    return (data, place, length, row) -> {
      row.length(length);
      row.octets(data, place, length);
    };
  }

  private static ValueEncoder fixedStrings(int bytes) {
    return (data, place, length, row) -> {
      if (length > bytes) {
        throw new ValueException("has more than the %d bytes of FixedString".formatted(bytes));
      }
      row.octets(data, place, length);
      for (int i = length; i < bytes; i++) {
        row.int8(0);
      }
    };
  }

  @Override
  public String sourceText(String value) {
    String text = text(value);
    return "%s || ':' || %s".formatted(byteLength(text, unicode), text);
  }

  @Override
  public String targetText(String value) {
    return prefixed(bytes == 0 ? "toString(" + value + ")" : "toStringCutToZero(" + value + ")");
  }

  static String prefixed(String text) {
    return "concat(toString(length(%s)), ':', %s)".formatted(text, text);
  }

  @Override
  public List<RangeCheck> checks() {
    if (bytes == 0) {
      return List.of();
    }
    return List.of(
        RangeCheck.none(
            value -> "NOT " + fits(value),
            "has more than the %d bytes of FixedString(%d)".formatted(bytes, bytes)));
  }
}
