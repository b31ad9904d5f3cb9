package dev.millrace.refresh;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Text and labels to {@code Enum8} or {@code Enum16}.
 *
 * @param source the kind of the values
 * @param names the names that the target has
 * @param values the number of each name
 * @param bytes 1 or 2
 * @param unicode whether the database's encoding is UTF8
 */
record EnumConversion(
    PostgresType.Kind source, List<String> names, List<Integer> values, int bytes, boolean unicode)
    implements Conversion {

  private String text(String value) {
    return TextConversion.text(source, value);
  }

  @Override
  public String pull(String value, String complaint) {
    return text(value);
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
    return source == PostgresType.Kind.TEXT || source == PostgresType.Kind.LABEL;
  }

  @Override
  public ValueEncoder encoder() {
    byte[][] texts =
        names.stream().map(name -> name.getBytes(StandardCharsets.UTF_8)).toArray(byte[][]::new);
    int[] numbers = values.stream().mapToInt(Integer::intValue).toArray();
    boolean small = bytes == Byte.BYTES;
    return (data, place, length, row) -> {
      int index = find(texts, data, place, length);
      if (index < 0) {
        throw new ValueException("is none of the names of the Enum");
      }
      if (small) {
        row.int8(numbers[index]);
      } else {
        row.int16(numbers[index]);
      }
    };
  }

  private static int find(byte[][] texts, byte[] data, int place, int length) {
    for (int i = 0; i < texts.length; i++) {
      if (Arrays.equals(texts[i], 0, texts[i].length, data, place, place + length)) {
        return i;
      }
    }
    return -1;
  }

  @Override
  public String sourceText(String value) {
    String text = text(value);
    return "%s || ':' || %s".formatted(TextConversion.byteLength(text, unicode), text);
  }

  @Override
  public String targetText(String value) {
    return TextConversion.prefixed("toString(" + value + ")");
  }

  @Override
  public List<RangeCheck> checks() {
    String list =
        names.stream()
            .map(name -> "'" + name.replace("'", "''") + "'")
            .collect(Collectors.joining(", "));
    return List.of(
        new RangeCheck(
            "max",
            this::text,
            value -> "%s NOT IN (%s)".formatted(text(value), list),
            figure -> figure + " IS NOT NULL",
            "is none of the names of the Enum"));
  }
}
