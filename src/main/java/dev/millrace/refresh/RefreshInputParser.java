package dev.millrace.refresh;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.clickhouse.ShadowNames;
import dev.millrace.control.Pipeline;
import dev.millrace.failure.MillraceException;
import dev.millrace.run.InputFields;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/** Reads the input of a refresh strictly; names are plain identifiers, since they go into SQL. */
public final class RefreshInputParser {
  private static final String EXAMPLE =
      "{\"source\": \"appdb\", \"clickhouse\": \"clickhouse\"}, see workflows/";
  private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
  private static final int LONGEST_PIPELINE = 63;
  private static final int CUT_PIPELINE = 54;
  private static final int HASH_DIGITS = 8;

  /** Leaves room for the suffixes of tables beside the live one in a file's name. */
  private static final int LONGEST_TABLE = 150;

  private static final List<String> FIELDS =
      List.of(
          "pipeline",
          "source",
          "source_schema",
          "source_table",
          "clickhouse",
          "target_database",
          "target_table",
          "columns",
          "pk_column",
          "checksum_column",
          "updated_column",
          "max_shrink_pct",
          "always_require_approval",
          "allow_empty_source",
          "approval_timeout",
          "load",
          "audit",
          "force",
          "cluster",
          "reload_dictionaries");

  private final InputFields fields;

  private RefreshInputParser(InputFields fields) {
    this.fields = fields;
  }

  /**
   * Reads the input of a refresh.
   *
   * @param json UTF-8 text
   * @throws MillraceException with {@code BAD_INPUT}, naming the field and the way out
   */
  public static RefreshInput parse(byte[] json) {
    InputFields fields = InputFields.parse(json, "the input", EXAMPLE);
    fields.refuseUnknown(FIELDS);
    return new RefreshInputParser(fields).parse();
  }

  private RefreshInput parse() {
    String database = identifier("target_database", "analytics");
    String table = targetTable();
    int shrink = fields.number("max_shrink_pct", 20);
    if (shrink < 0 || shrink > 100) {
      throw InputFields.refused(
          "max_shrink_pct is %d; it must be 0 to 100 per cent".formatted(shrink));
    }
    return new RefreshInput(
        new Pipeline(fields.text("pipeline", pipelineOf(database, table))).name(),
        required("source"),
        identifier("source_schema", "public"),
        identifier("source_table", "products"),
        required("clickhouse"),
        database,
        table,
        columns(),
        identifier("pk_column", "id"),
        identifier("checksum_column", "price_cents"),
        identifier("updated_column", "updated_at"),
        shrink,
        fields.flag("always_require_approval", false),
        fields.flag("allow_empty_source", false),
        approvalTimeout(),
        load(),
        audit(),
        fields.flag("force", false),
        fields.has("cluster") ? identifier("cluster", "") : null,
        dictionaries());
  }

  private String required(String field) {
    String text = fields.text(field, null);
    if (text == null) {
      throw InputFields.refused(
          "%s is missing; name a connection of the worker's configuration".formatted(field));
    }
    return text;
  }

  private String identifier(String field, String otherwise) {
    return plain(field, fields.text(field, otherwise));
  }

  private static String plain(String field, String text) {
    if (!IDENTIFIER.matcher(text).matches()) {
      throw InputFields.refused(
          "%s '%s' is not a plain name: use letters a-z, digits and _, and no digit first"
              .formatted(field, text));
    }
    return text;
  }

  private String targetTable() {
    String table = identifier("target_table", "products");
    if (ShadowNames.RESERVED.matcher(table).matches()) {
      throw InputFields.refused(
          "target_table '%s' is a name that refreshes give to their own tables; name the live one"
              .formatted(table));
    }
    if (table.length() > LONGEST_TABLE) {
      throw InputFields.refused(
          "target_table has %d characters; with more than %d there is no room for the names of the tables beside it"
              .formatted(table.length(), LONGEST_TABLE));
    }
    return table;
  }

  private List<String> columns() {
    String text = fields.text("columns", null);
    if (text == null) {
      return List.of();
    }
    List<String> columns = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      String column = plain("a name in columns", part.strip());
      if (columns.contains(column)) {
        throw InputFields.refused("columns names %s twice".formatted(column));
      }
      columns.add(column);
    }
    for (String field : List.of("pk_column", "checksum_column")) {
      String column = fields.text(field, field.equals("pk_column") ? "id" : "price_cents");
      if (!columns.contains(column)) {
        throw InputFields.refused(
            "%s is %s, which is not in columns; add it there, since both sides are compared by it"
                .formatted(field, column));
      }
    }
    return columns;
  }

  private Duration approvalTimeout() {
    Duration timeout = fields.duration("approval_timeout", "PT12H");
    if (timeout.isZero()) {
      throw InputFields.refused("approval_timeout is zero, so nobody could approve; raise it");
    }
    return timeout;
  }

  private Load load() {
    String text = fields.text("load", "pull");
    return switch (text) {
      case "pull" -> Load.PULL;
      case "push" -> Load.PUSH;
      default -> throw InputFields.refused("load '%s' is neither pull nor push".formatted(text));
    };
  }

  private AuditMode audit() {
    String text = fields.text("audit", "standard");
    return switch (text) {
      case "standard" -> AuditMode.STANDARD;
      case "full" -> AuditMode.FULL;
      default ->
          throw InputFields.refused("audit '%s' is neither standard nor full".formatted(text));
    };
  }

  private List<String> dictionaries() {
    JsonNode node = fields.get("reload_dictionaries");
    if (node == null) {
      return List.of();
    }
    if (!node.isArray()) {
      throw InputFields.wrongType("reload_dictionaries", "a list of database.name", node);
    }
    List<String> dictionaries = new ArrayList<>();
    for (JsonNode item : node) {
      String[] parts = item.isTextual() ? item.textValue().split("\\.", -1) : new String[0];
      if (parts.length != 2) {
        throw InputFields.wrongType("reload_dictionaries", "a list of database.name", item);
      }
      plain("a database in reload_dictionaries", parts[0]);
      plain("a dictionary in reload_dictionaries", parts[1]);
      dictionaries.add(item.textValue());
    }
    return dictionaries;
  }

  /** Returns the pipeline of a target: its name, or what is left of it and a hash of the rest. */
  static String pipelineOf(String database, String table) {
    String name = database + "-" + table;
    String lower = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_-]", "_");
    String begun = lower.startsWith("_") ? "x" + lower.substring(1) : lower;
    if (begun.equals(name) && name.length() <= LONGEST_PIPELINE) {
      return name;
    }
    return begun.substring(0, Math.min(begun.length(), CUT_PIPELINE))
        + "-"
        + ShortHash.of(name, HASH_DIGITS);
  }
}
