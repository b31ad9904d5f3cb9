package dev.millrace.control;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Map;
import java.util.Optional;

/**
 * What no reader of a log can ship: a record with it would stand in the way of all that follow.
 * Stateless.
 */
final class Poison {
  /** A log's readers call themselves for each level; a thousand is the end of Python's. */
  private static final int MOST_LEVELS = 500;

  /** Python reads no whole number with more digits. */
  private static final int MOST_DIGITS = 4_300;

  /** The type numeric has no more digits behind the point. */
  private static final int MOST_DECIMALS = 16_383;

  private static final BigDecimal GREATEST = new BigDecimal(Double.MAX_VALUE);

  private Poison() {}

  /**
   * Looks at a text.
   *
   * @param name of the field, for the answer
   * @param text null is fine
   * @return what is wrong, with the field's name
   */
  static Optional<String> in(String name, String text) {
    return in(text).map(flaw -> shown(name) + " " + flaw);
  }

  /**
   * Looks at a text.
   *
   * @param text null is fine
   * @return what is wrong, such as "has a NUL at character 3"
   */
  static Optional<String> in(String text) {
    if (text == null) {
      return Optional.empty();
    }
    for (int index = 0; index < text.length(); index++) {
      char character = text.charAt(index);
      if (character == 0) {
        return Optional.of("has a NUL at character " + index);
      }
      if (isHalf(text, index)) {
        return Optional.of("has half a surrogate pair at character " + index);
      }
    }
    return Optional.empty();
  }

  /**
   * Looks at a JSON value and all that is in it.
   *
   * @param name of the field, for the answer
   * @param value null is fine
   * @return what is wrong, with the path to it
   */
  static Optional<String> in(String name, JsonNode value) {
    return value == null ? Optional.empty() : in(name, value, 1);
  }

  private static Optional<String> in(String path, JsonNode value, int level) {
    return switch (value.getNodeType()) {
      case NULL, BOOLEAN -> Optional.empty();
      case STRING -> in(path, value.textValue());
      case NUMBER -> inNumber(path, value);
      case OBJECT, ARRAY ->
          level > MOST_LEVELS
              ? Optional.of(
                  "%s is nested deeper than %d levels".formatted(shown(path), MOST_LEVELS))
              : inMembers(path, value, level);
      case BINARY, MISSING, POJO ->
          Optional.of(
              "%s is of the type %s, which is no JSON"
                  .formatted(shown(path), value.getClass().getSimpleName()));
    };
  }

  private static Optional<String> inMembers(String path, JsonNode value, int level) {
    for (int index = 0; value.isArray() && index < value.size(); index++) {
      Optional<String> found = in(path + "[" + index + "]", value.get(index), level + 1);
      if (found.isPresent()) {
        return found;
      }
    }
    for (Map.Entry<String, JsonNode> member : value.properties()) {
      String name = path + "." + member.getKey();
      Optional<String> found =
          in("a key of " + path, member.getKey()).or(() -> in(name, member.getValue(), level + 1));
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  private static Optional<String> inNumber(String path, JsonNode value) {
    if (value.isIntegralNumber()) {
      return digits(value) > MOST_DIGITS
          ? Optional.of(
              "%s is a whole number of more than %d digits".formatted(shown(path), MOST_DIGITS))
          : Optional.empty();
    }
    if (!value.isBigDecimal()) {
      return Double.isFinite(value.doubleValue())
          ? Optional.empty()
          : Optional.of("%s is %s".formatted(shown(path), value.asText()));
    }
    BigDecimal decimal = value.decimalValue();
    if (decimal.scale() > MOST_DECIMALS) {
      return Optional.of(
          "%s has more than %d digits behind the point".formatted(shown(path), MOST_DECIMALS));
    }
    return decimal.abs().compareTo(GREATEST) > 0
        ? Optional.of("%s is beyond the range of a double".formatted(shown(path)))
        : Optional.empty();
  }

  private static int digits(JsonNode whole) {
    if (!whole.isBigInteger()) {
      return 0;
    }
    BigInteger value = whole.bigIntegerValue();
    // Far from the limit the bits tell; counting digits of a great number is slow.
    return value.bitLength() < 3 * MOST_DIGITS ? 0 : new BigDecimal(value).precision();
  }

  private static boolean isHalf(String text, int index) {
    char character = text.charAt(index);
    if (Character.isHighSurrogate(character)) {
      return index + 1 == text.length() || !Character.isLowSurrogate(text.charAt(index + 1));
    }
    return Character.isLowSurrogate(character)
        && (index == 0 || !Character.isHighSurrogate(text.charAt(index - 1)));
  }

  /** Returns a name as it can stand in a message: its own poison is escaped. */
  static String shown(String name) {
    StringBuilder shown = new StringBuilder();
    name.codePoints()
        .limit(200)
        .forEach(
            point -> {
              if (Character.isISOControl(point)
                  || Character.getType(point) == Character.SURROGATE) {
                shown.append("\\u%04x".formatted(point));
              } else {
                shown.appendCodePoint(point);
              }
            });
    return shown.toString();
  }
}
