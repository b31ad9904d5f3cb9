package dev.millrace.replication;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.control.Pipeline;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.ColumnRules;
import dev.millrace.postgres.TableName;
import dev.millrace.run.InputFields;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads the input of a run strictly: what is misspelt, of another type, given twice or out of range
 * is refused with a message that names it.
 */
public final class ReplicateInputParser {
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
          "look_back",
          "look_back_keys",
          "window_rows",
          "connections",
          "long_transaction",
          "parallel",
          "key_time_zone",
          "null_keys",
          "numeric",
          "nan",
          "infinity",
          "arrays");
  private static final List<String> TABLE_FIELDS =
      List.of("table", "update_key", "columns", "exclude", "types");
  private static final List<String> NEEDED_OUTSIDE_DEMO = List.of("pipeline", "source", "lake");

  private static final List<String> DEFAULT_TABLES = List.of("public.customers", "public.payments");
  private static final String DEFAULT_UPDATE_KEY = "updated_at";
  private static final int DEFAULT_SPIKE_FACTOR = 5;
  private static final String DEFAULT_LAG = "PT1M";
  private static final String DEFAULT_LOOK_BACK = "PT24H";
  private static final int DEFAULT_LOOK_BACK_KEYS = 1_000_000;
  private static final int DEFAULT_WINDOW_ROWS = 10_000_000;
  private static final String DEFAULT_LONG_TRANSACTION = "PT1H";
  private static final int DEFAULT_CONNECTIONS = 2;
  private static final int MOST_CONNECTIONS = 16;
  private static final int DEFAULT_PARALLEL = 3;
  private static final int MOST_PARALLEL = 64;

  private static final String EXAMPLE = "{\"demo_mode\": true}, see workflows/";

  private final InputFields fields;
  private final ColumnRules rules;

  private ReplicateInputParser(InputFields fields) {
    this.fields = fields;
    this.rules = TypeRulesParser.parse(fields, "").orElse(ColumnRules.DEFAULT);
  }

  /**
   * Reads a JSON object.
   *
   * @param json UTF-8 text
   * @throws MillraceException with {@code BAD_INPUT} when it is not an object
   */
  public static ObjectNode object(byte[] json) {
    return InputFields.parse(json, "the input", EXAMPLE).fields();
  }

  /**
   * Reads the input of a run.
   *
   * @throws MillraceException with {@code BAD_INPUT}, naming the field and the way out
   */
  public static ReplicateInput parse(ObjectNode object) {
    InputFields fields = new InputFields(object, "the input");
    fields.refuseUnknown(FIELDS);
    return new ReplicateInputParser(fields).parse();
  }

  private ReplicateInput parse() {
    boolean demo = demo();
    String updateKey = fields.text("update_key", DEFAULT_UPDATE_KEY);
    int spikeFactor = fields.number("spike_factor", DEFAULT_SPIKE_FACTOR);
    if (spikeFactor < 2) {
      throw InputFields.refused(
          "spike_factor is %d; it must be at least 2, or every batch would be a spike"
              .formatted(spikeFactor));
    }
    List<TableRequest> tables = tables(updateKey);
    return new ReplicateInput(
        demo,
        new Pipeline(fields.text("pipeline", "demo")),
        demo ? null : fields.text("source", null),
        demo ? null : fields.text("lake", null),
        demo ? demoTables(updateKey) : tables,
        spikeFactor,
        fields.flag("notify_slack", false),
        fields.duration("lag", DEFAULT_LAG),
        fields.duration("look_back", DEFAULT_LOOK_BACK),
        atLeast("look_back_keys", DEFAULT_LOOK_BACK_KEYS, 0),
        atLeast("window_rows", DEFAULT_WINDOW_ROWS, 1),
        within("connections", DEFAULT_CONNECTIONS, MOST_CONNECTIONS),
        fields.duration("long_transaction", DEFAULT_LONG_TRANSACTION),
        within("parallel", DEFAULT_PARALLEL, MOST_PARALLEL),
        keyTimeZone(),
        nullKeys());
  }

  private int atLeast(String field, int standard, int least) {
    int number = fields.number(field, standard);
    if (number < least) {
      throw InputFields.refused("%s is %d; it must be at least %d".formatted(field, number, least));
    }
    return number;
  }

  private int within(String field, int standard, int most) {
    int number = fields.number(field, standard);
    if (number < 1 || number > most) {
      throw InputFields.refused("%s is %d; it must be 1 to %d".formatted(field, number, most));
    }
    return number;
  }

  private boolean demo() {
    if (!fields.has("demo_mode")) {
      for (String field : List.of("pipeline", "source", "lake", "tables")) {
        if (fields.has(field)) {
          throw InputFields.refused(
              "%s is given without demo_mode; say demo_mode: false to copy real tables, or demo_mode: true"
                  .formatted(field));
        }
      }
    }
    boolean demo = fields.flag("demo_mode", true);
    if (!demo) {
      for (String field : NEEDED_OUTSIDE_DEMO) {
        if (!fields.has(field)) {
          throw InputFields.refused(
              "%s is missing; it is required when demo_mode is false".formatted(field));
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
        tables.add(plain(TableName.parse(name), updateKey));
      }
      return tables;
    }
    if (!node.isArray()) {
      throw InputFields.wrongType("tables", "a list", node);
    }
    Set<TableName> seen = new HashSet<>();
    int position = 0;
    for (JsonNode item : node) {
      TableRequest table = table(item, "tables[%d]".formatted(position++), updateKey);
      if (!seen.add(table.name())) {
        throw InputFields.refused("tables names %s twice".formatted(table.name()));
      }
      tables.add(table);
    }
    if (tables.isEmpty()) {
      throw InputFields.refused("tables is empty; name at least one schema.table");
    }
    return tables;
  }

  private TableRequest plain(TableName name, String updateKey) {
    return new TableRequest(name, updateKey, List.of(), List.of(), rules, Map.of());
  }

  private TableRequest table(JsonNode item, String where, String updateKey) {
    if (item.isTextual()) {
      return plain(tableName(item.textValue()), updateKey);
    }
    if (!(item instanceof ObjectNode object)) {
      throw InputFields.wrongType(where, "a schema.table or an object with the field table", item);
    }
    InputFields table = new InputFields(object, where);
    table.refuseUnknown(TABLE_FIELDS);
    String name = table.text("table", null);
    if (name == null) {
      throw InputFields.refused("%s has no field table".formatted(where));
    }
    return new TableRequest(
        tableName(name),
        table.text("update_key", updateKey),
        names(object, "columns", where),
        names(object, "exclude", where),
        rules,
        TypeRulesParser.byColumn(object.get("types"), where + ".types"));
  }

  private static TableName tableName(String text) {
    if (text.contains("*") && !text.contains("\"")) {
      throw InputFields.refused("'%s' has a wildcard; name each table".formatted(text));
    }
    return TableName.parse(text);
  }

  private static List<String> names(ObjectNode object, String field, String where) {
    JsonNode node = object.get(field);
    if (node == null) {
      return List.of();
    }
    if (!node.isArray()) {
      throw InputFields.wrongType(where + "." + field, "a list of column names", node);
    }
    List<String> names = new ArrayList<>();
    for (JsonNode name : node) {
      if (!name.isTextual() || name.textValue().isEmpty()) {
        throw InputFields.wrongType(where + "." + field, "a list of column names", name);
      }
      if (names.contains(name.textValue())) {
        throw InputFields.refused(
            "%s.%s names '%s' twice".formatted(where, field, name.textValue()));
      }
      names.add(name.textValue());
    }
    if (names.isEmpty()) {
      throw InputFields.refused(
          "%s.%s is empty; leave it out or name a column".formatted(where, field));
    }
    return names;
  }

  private ZoneId keyTimeZone() {
    String text = fields.text("key_time_zone", "UTC");
    try {
      return ZoneId.of(text);
    } catch (DateTimeException exception) {
      throw InputFields.refused(
          "key_time_zone '%s' is not a time zone; write it as UTC or Europe/Vilnius"
              .formatted(text));
    }
  }

  private NullKeys nullKeys() {
    return InputFields.choice("null_keys", fields.text("null_keys", "refuse"), NullKeys.values());
  }
}
