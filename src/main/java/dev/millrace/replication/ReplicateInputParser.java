package dev.millrace.replication;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.control.Pipeline;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.NearestName;
import dev.millrace.postgres.TableName;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.ZoneId;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/**
 * Reads the input of a run strictly: what is misspelt, of another type, given twice or out of range
 * is refused with a message that names it.
 */
public final class ReplicateInputParser {
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY)
          .build();

  private static final List<String> FIELDS =
      List.of(
          "demo_mode",
          "tables",
          "update_key",
          "spike_factor",
          "notify_slack",
          "pipeline",
          "source",
          "lake",
          "lag",
          "parallel",
          "key_time_zone",
          "null_keys");
  private static final List<String> TABLE_FIELDS =
      List.of("table", "update_key", "columns", "exclude");
  private static final List<String> NEEDED_OUTSIDE_DEMO = List.of("pipeline", "source", "lake");

  private static final List<String> DEFAULT_TABLES = List.of("public.customers", "public.payments");
  private static final String DEFAULT_UPDATE_KEY = "updated_at";
  private static final int DEFAULT_SPIKE_FACTOR = 5;
  private static final String DEFAULT_LAG = "PT1M";
  private static final int DEFAULT_PARALLEL = 3;
  private static final int MOST_PARALLEL = 64;

  private final ObjectNode fields;

  private ReplicateInputParser(ObjectNode fields) {
    this.fields = fields;
  }

  /**
   * Reads a JSON object.
   *
   * @param json UTF-8 text
   * @throws MillraceException with {@code BAD_INPUT} when it is not an object
   */
  public static ObjectNode object(byte[] json) {
    try (JsonParser parser = JSON.createParser(json)) {
      JsonNode node = JSON.readTree(parser);
      if (node instanceof ObjectNode object) {
        if (parser.nextToken() != null) {
          throw refused("the input has text behind its end");
        }
        return object;
      }
      throw refused(
          "the input is not a JSON object; give one, such as {\"demo_mode\": true}, see workflows/");
    } catch (JsonProcessingException exception) {
      throw refused("the input is not valid JSON: " + exception.getOriginalMessage());
    } catch (IOException exception) {
      throw new MillraceException(ErrorCode.INTERNAL, "can't read the input", exception);
    }
  }

  /**
   * Reads the input of a run.
   *
   * @throws MillraceException with {@code BAD_INPUT}, naming the field and the way out
   */
  public static ReplicateInput parse(ObjectNode fields) {
    refuseUnknown(fields, FIELDS, "the input");
    return new ReplicateInputParser(fields).parse();
  }

  private ReplicateInput parse() {
    boolean demo = demo();
    String updateKey = text(fields, "update_key", DEFAULT_UPDATE_KEY);
    int spikeFactor = number("spike_factor", DEFAULT_SPIKE_FACTOR);
    if (spikeFactor < 2) {
      throw refused(
          "spike_factor is %d; it must be at least 2, or every batch would be a spike"
              .formatted(spikeFactor));
    }
    int parallel = number("parallel", DEFAULT_PARALLEL);
    if (parallel < 1 || parallel > MOST_PARALLEL) {
      throw refused("parallel is %d; it must be 1 to %d".formatted(parallel, MOST_PARALLEL));
    }
    List<TableRequest> tables = tables(updateKey);
    return new ReplicateInput(
        demo,
        new Pipeline(text(fields, "pipeline", "demo")),
        demo ? null : text(fields, "source", null),
        demo ? null : text(fields, "lake", null),
        demo ? demoTables(updateKey) : tables,
        spikeFactor,
        flag("notify_slack", false),
        lag(),
        parallel,
        keyTimeZone(),
        nullKeys());
  }

  private boolean demo() {
    if (!fields.has("demo_mode")) {
      for (String field : List.of("pipeline", "source", "lake", "tables")) {
        if (fields.has(field)) {
          throw refused(
              "%s is given without demo_mode; say demo_mode: false to copy real tables, or demo_mode: true"
                  .formatted(field));
        }
      }
    }
    boolean demo = flag("demo_mode", true);
    if (!demo) {
      for (String field : NEEDED_OUTSIDE_DEMO) {
        if (!fields.has(field)) {
          throw refused("%s is missing; it is required when demo_mode is false".formatted(field));
        }
      }
    }
    return demo;
  }

  private static List<TableRequest> demoTables(String updateKey) {
    return ReplicateInput.DEMO_TABLES.stream()
        .map(name -> new TableRequest(name, updateKey, List.of(), List.of()))
        .toList();
  }

  private List<TableRequest> tables(String updateKey) {
    List<TableRequest> tables = new ArrayList<>();
    JsonNode node = fields.get("tables");
    if (node == null) {
      for (String name : DEFAULT_TABLES) {
        tables.add(new TableRequest(TableName.parse(name), updateKey, List.of(), List.of()));
      }
      return tables;
    }
    if (!node.isArray()) {
      throw wrongType("tables", "a list", node);
    }
    Set<TableName> seen = new HashSet<>();
    int position = 0;
    for (JsonNode item : node) {
      TableRequest table = table(item, "tables[%d]".formatted(position++), updateKey);
      if (!seen.add(table.name())) {
        throw refused("tables names %s twice".formatted(table.name()));
      }
      tables.add(table);
    }
    if (tables.isEmpty()) {
      throw refused("tables is empty; name at least one schema.table");
    }
    return tables;
  }

  private static TableRequest table(JsonNode item, String where, String updateKey) {
    if (item.isTextual()) {
      return new TableRequest(tableName(item.textValue()), updateKey, List.of(), List.of());
    }
    if (!(item instanceof ObjectNode object)) {
      throw wrongType(where, "a schema.table or an object with the field table", item);
    }
    refuseUnknown(object, TABLE_FIELDS, where);
    String name = text(object, "table", null);
    if (name == null) {
      throw refused("%s has no field table".formatted(where));
    }
    return new TableRequest(
        tableName(name),
        text(object, "update_key", updateKey),
        names(object, "columns", where),
        names(object, "exclude", where));
  }

  private static TableName tableName(String text) {
    if (text.contains("*") && !text.contains("\"")) {
      throw refused("'%s' has a wildcard; name each table".formatted(text));
    }
    return TableName.parse(text);
  }

  private static List<String> names(ObjectNode object, String field, String where) {
    JsonNode node = object.get(field);
    if (node == null) {
      return List.of();
    }
    if (!node.isArray()) {
      throw wrongType(where + "." + field, "a list of column names", node);
    }
    List<String> names = new ArrayList<>();
    for (JsonNode name : node) {
      if (!name.isTextual() || name.textValue().isEmpty()) {
        throw wrongType(where + "." + field, "a list of column names", name);
      }
      if (names.contains(name.textValue())) {
        throw refused("%s.%s names '%s' twice".formatted(where, field, name.textValue()));
      }
      names.add(name.textValue());
    }
    if (names.isEmpty()) {
      throw refused("%s.%s is empty; leave it out or name a column".formatted(where, field));
    }
    return names;
  }

  private Duration lag() {
    String text = text(fields, "lag", DEFAULT_LAG);
    try {
      Duration lag = Duration.parse(text);
      if (lag.isNegative()) {
        throw refused("lag is %s; it must not be negative".formatted(text));
      }
      return lag;
    } catch (DateTimeParseException exception) {
      throw refused("lag '%s' is not an ISO-8601 duration such as PT1M".formatted(text));
    }
  }

  private ZoneId keyTimeZone() {
    String text = text(fields, "key_time_zone", "UTC");
    try {
      return ZoneId.of(text);
    } catch (DateTimeException exception) {
      throw refused(
          "key_time_zone '%s' is not a time zone; write it as UTC or Europe/Vilnius"
              .formatted(text));
    }
  }

  private NullKeys nullKeys() {
    String text = text(fields, "null_keys", "refuse");
    return switch (text) {
      case "refuse" -> NullKeys.REFUSE;
      case "exclude" -> NullKeys.EXCLUDE;
      case "include_once" -> NullKeys.INCLUDE_ONCE;
      default ->
          throw refused("null_keys '%s' is none of refuse, exclude, include_once".formatted(text));
    };
  }

  private boolean flag(String field, boolean otherwise) {
    JsonNode node = fields.get(field);
    if (node == null) {
      return otherwise;
    }
    if (!node.isBoolean()) {
      throw wrongType(field, "true or false", node);
    }
    return node.booleanValue();
  }

  private int number(String field, int otherwise) {
    JsonNode node = fields.get(field);
    if (node == null) {
      return otherwise;
    }
    if (!node.isIntegralNumber() || !node.canConvertToInt()) {
      throw wrongType(field, "a whole number", node);
    }
    return node.intValue();
  }

  private static String text(ObjectNode object, String field, String otherwise) {
    JsonNode node = object.get(field);
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

  private static void refuseUnknown(ObjectNode object, List<String> known, String where) {
    for (Iterator<String> names = object.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!known.contains(name)) {
        throw refused(
            "%s has no field '%s'; did you mean %s?"
                .formatted(where, name, NearestName.of(name, known)));
      }
    }
  }

  private static MillraceException wrongType(String field, String wanted, JsonNode got) {
    String shown = got.toString();
    return refused(
        "%s must be %s, not %s"
            .formatted(field, wanted, shown.length() > 60 ? shown.substring(0, 60) + "…" : shown));
  }

  private static MillraceException refused(String message) {
    return new MillraceException(ErrorCode.BAD_INPUT, message);
  }
}
