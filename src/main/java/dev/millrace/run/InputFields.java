package dev.millrace.run;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.NearestName;
import java.io.IOException;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads a JSON object that a person wrote, strictly: what is misspelt, of another type or given
 * twice is refused with a message that names it.
 *
 * @param fields the object
 * @param where how messages call it, such as {@code the input}
 */
public record InputFields(ObjectNode fields, String where) {
  private static final int MOST_SHOWN = 60;
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
          .build();

  /**
   * Reads a JSON object.
   *
   * @param json UTF-8 text
   * @param where how messages call it
   * @param example such an object
   * @throws MillraceException with {@code BAD_INPUT} when it is not an object
   */
  public static InputFields parse(byte[] json, String where, String example) {
    try (JsonParser parser = JSON.createParser(json)) {
      JsonNode node = JSON.readTree(parser);
      if (node instanceof ObjectNode object) {
        if (parser.nextToken() != null) {
          throw refused("%s has text behind its end".formatted(where));
        }
        return new InputFields(object, where);
      }
      throw refused("%s is not a JSON object; give one, such as %s".formatted(where, example));
    } catch (JsonProcessingException exception) {
      throw refused("%s is not valid JSON: %s".formatted(where, exception.getOriginalMessage()));
    } catch (IOException exception) {
      throw new MillraceException(ErrorCode.INTERNAL, "can't read " + where, exception);
    }
  }

  /**
   * Refuses fields that nobody knows.
   *
   * @throws MillraceException with {@code BAD_INPUT} and the nearest name
   */
  public void refuseUnknown(List<String> known) {
    for (Iterator<String> names = fields.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!known.contains(name)) {
        throw refused(
            "%s has no field '%s'; did you mean %s?"
                .formatted(where, name, NearestName.of(name, known)));
      }
    }
  }

  /** Returns whether the field is there, be it null. */
  public boolean has(String field) {
    return fields.has(field);
  }

  /** Returns the field; null when it is not there. */
  public JsonNode get(String field) {
    return fields.get(field);
  }

  /**
   * Returns true or false.
   *
   * @throws MillraceException with {@code BAD_INPUT} when it is neither
   */
  public boolean flag(String field, boolean otherwise) {
    JsonNode node = fields.get(field);
    if (node == null) {
      return otherwise;
    }
    if (!node.isBoolean()) {
      throw wrongType(field, "true or false", node);
    }
    return node.booleanValue();
  }

  /**
   * Returns a whole number.
   *
   * @throws MillraceException with {@code BAD_INPUT} when it is none
   */
  public int number(String field, int otherwise) {
    JsonNode node = fields.get(field);
    if (node == null) {
      return otherwise;
    }
    if (!node.isIntegralNumber() || !node.canConvertToInt()) {
      throw wrongType(field, "a whole number", node);
    }
    return node.intValue();
  }

  /**
   * Returns a text.
   *
   * @param otherwise what it is when the field is not there; null is allowed
   * @throws MillraceException with {@code BAD_INPUT} when it is none, or empty
   */
  public String text(String field, String otherwise) {
    JsonNode node = fields.get(field);
    if (node == null) {
      return otherwise;
    }
    if (!node.isTextual()) {
      throw wrongType(field, "a text", node);
    }
    if (node.textValue().isEmpty()) {
      throw refused("%s is empty".formatted(field));
    }
    return node.textValue();
  }

  /**
   * Returns a time span.
   *
   * @param otherwise an ISO-8601 duration
   * @throws MillraceException with {@code BAD_INPUT} when it is none, or negative
   */
  public Duration duration(String field, String otherwise) {
    String text = text(field, otherwise);
    try {
      Duration duration = Duration.parse(text);
      if (duration.isNegative()) {
        throw refused("%s is %s; it must not be negative".formatted(field, text));
      }
      return duration;
    } catch (DateTimeParseException exception) {
      throw refused(
          "%s '%s' is not an ISO-8601 duration such as %s".formatted(field, text, otherwise));
    }
  }

  /**
   * Returns one of some values, each called by its name in lower case.
   *
   * @param field how messages call it
   * @param text what was given
   * @throws MillraceException with {@code BAD_INPUT} when it is none of them
   */
  public static <T extends Enum<T>> T choice(String field, String text, T[] values) {
    for (T value : values) {
      if (name(value).equals(text)) {
        return value;
      }
    }
    throw refused(
        "%s '%s' is none of %s"
            .formatted(
                field,
                text,
                Stream.of(values).map(InputFields::name).collect(Collectors.joining(", "))));
  }

  private static String name(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  /** Returns the refusal of a value that is of another type. */
  public static MillraceException wrongType(String field, String wanted, JsonNode got) {
    String shown = got.toString();
    return refused(
        "%s must be %s, not %s"
            .formatted(
                field,
                wanted,
                shown.length() > MOST_SHOWN ? shown.substring(0, MOST_SHOWN) + "…" : shown));
  }

  /** Returns a refusal. */
  public static MillraceException refused(String message) {
    return new MillraceException(ErrorCode.BAD_INPUT, message);
  }
}
