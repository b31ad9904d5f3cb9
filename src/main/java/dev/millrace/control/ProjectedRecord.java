package dev.millrace.control;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.Serial;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * A line of a write-ahead log as the text of its columns.
 *
 * <p>What the column of the server takes for a value of JSON is taken here, too: a text is left to
 * the server's own reading of that type, a number is rounded to a whole one or becomes text, as
 * casts of the server do. So a line that a Python writer ships is shipped the same. Immutable.
 *
 * @param line what it was made of
 * @param kind which record
 * @param values one for each column of the kind; null for none
 */
record ProjectedRecord(WalLine line, Kind kind, List<String> values) {

  /** What a column holds. */
  enum Type {
    TEXT("text"),
    INTEGER("integer"),
    BIGINT("bigint"),
    BOOLEAN("boolean"),
    INSTANT("timestamptz"),
    DATE("date"),
    JSON("jsonb");

    private final String sql;

    Type(String sql) {
      this.sql = sql;
    }

    String sql() {
      return sql;
    }
  }

  /** What may be missing. */
  private enum Need {
    /** The key has to be there with a value. */
    VALUE,
    /** The key has to be there. */
    KEY,
    NOTHING
  }

  /** A column; its name is the key of the line as well. */
  record Column(String name, Type type, Need need) {
    private Column(String name, Type type) {
      this(name, type, Need.NOTHING);
    }
  }

  private static final List<Column> RUN_START =
      List.of(
          new Column("run_id", Type.TEXT, Need.VALUE),
          new Column("extractor", Type.TEXT, Need.VALUE),
          new Column("mode", Type.TEXT),
          new Column("host", Type.TEXT),
          new Column("pid", Type.INTEGER),
          new Column("started_at", Type.INSTANT, Need.VALUE),
          new Column("status", Type.TEXT, Need.VALUE),
          new Column("wal_path", Type.TEXT),
          new Column("extra", Type.JSON));

  private static final List<Column> RUN_FINISH =
      List.of(
          new Column("run_id", Type.TEXT, Need.VALUE),
          new Column("extractor", Type.TEXT, Need.VALUE),
          new Column("started_at", Type.INSTANT),
          new Column("finished_at", Type.INSTANT, Need.KEY),
          new Column("status", Type.TEXT, Need.VALUE),
          new Column("stop_reason", Type.TEXT),
          new Column("n_ok", Type.INTEGER),
          new Column("n_err", Type.INTEGER),
          new Column("n_skipped", Type.INTEGER),
          new Column("extra", Type.JSON));

  private static final List<Column> EVENT =
      List.of(
          new Column("extractor", Type.TEXT, Need.VALUE),
          new Column("run_id", Type.TEXT, Need.VALUE),
          new Column("seq", Type.BIGINT, Need.VALUE),
          new Column("ran_at", Type.INSTANT, Need.VALUE),
          new Column("entity", Type.TEXT),
          new Column("unit", Type.TEXT),
          new Column("business_date", Type.DATE),
          new Column("status", Type.TEXT, Need.VALUE),
          new Column("http_status", Type.INTEGER),
          new Column("rows", Type.BIGINT),
          new Column("source_attempts", Type.INTEGER),
          new Column("sink_attempts", Type.INTEGER),
          new Column("pull_ms", Type.INTEGER),
          new Column("load_ms", Type.INTEGER),
          new Column("error_detail", Type.TEXT),
          new Column("extra", Type.JSON));

  private static final List<Column> BUDGET =
      List.of(
          new Column("run_id", Type.TEXT, Need.VALUE),
          new Column("extractor", Type.TEXT, Need.VALUE),
          new Column("budget_name", Type.TEXT, Need.VALUE),
          new Column("limit_val", Type.BIGINT),
          new Column("used", Type.BIGINT),
          new Column("remaining", Type.BIGINT),
          new Column("hit", Type.BOOLEAN),
          new Column("ran_at", Type.INSTANT));

  /** A kind of line. */
  enum Kind {
    RUN_START,
    RUN_FINISH,
    EVENT,
    BUDGET;

    /** Returns the columns that it fills. */
    List<Column> columns() {
      return switch (this) {
        case RUN_START -> ProjectedRecord.RUN_START;
        case RUN_FINISH -> ProjectedRecord.RUN_FINISH;
        case EVENT -> ProjectedRecord.EVENT;
        case BUDGET -> ProjectedRecord.BUDGET;
      };
    }
  }

  private static final Map<String, Kind> KINDS =
      Map.of(
          "run_start", Kind.RUN_START,
          "run_finish", Kind.RUN_FINISH,
          "event", Kind.EVENT,
          "budget", Kind.BUDGET);

  /** The line can't be projected. */
  static final class Unfit extends Exception {
    @Serial private static final long serialVersionUID = 1L;

    private Unfit(String reason) {
      super(reason, null, false, false);
    }
  }

  /** Reads a line. */
  static ProjectedRecord of(WalLine line) throws Unfit {
    ObjectNode fields = line.fields();
    JsonNode word = fields.get("kind");
    Kind kind = word == null || !word.isTextual() ? null : KINDS.get(word.textValue());
    if (kind == null) {
      throw new Unfit("its kind is none of run_start, event, budget and run_finish");
    }
    String[] values = new String[kind.columns().size()];
    for (int i = 0; i < values.length; i++) {
      Column column = kind.columns().get(i);
      values[i] = value(column, fields.get(column.name()));
    }
    if (kind == Kind.RUN_FINISH) {
      // Its start may be unknown; then the run is taken for one of no length.
      values[2] = value(kind, 2, fields.has("started_at") ? values[2] : values[3]);
    }
    return new ProjectedRecord(line, kind, Collections.unmodifiableList(Arrays.asList(values)));
  }

  private static String value(Kind kind, int column, String value) throws Unfit {
    if (value == null) {
      throw new Unfit(kind.columns().get(column).name() + " is null");
    }
    return value;
  }

  /** Returns the run. */
  String runId() {
    return value("run_id");
  }

  /** Returns whose run it is. */
  String extractor() {
    return value("extractor");
  }

  private String value(String column) {
    for (int i = 0; i < values.size(); i++) {
      if (kind.columns().get(i).name().equals(column)) {
        return values.get(i);
      }
    }
    throw new IllegalArgumentException(column);
  }

  private static String value(Column column, JsonNode node) throws Unfit {
    if (node == null && column.need() != Need.NOTHING) {
      throw new Unfit(column.name() + " is missing");
    }
    if (node == null || node.isNull()) {
      if (column.need() == Need.VALUE) {
        throw new Unfit(column.name() + " is null");
      }
      return null;
    }
    if (column.type() == Type.JSON) {
      requireStorable(column, node);
      return node.toString();
    }
    if (node.isTextual()) {
      return storable(column, node.textValue());
    }
    return switch (column.type()) {
      case TEXT -> text(column, node);
      case INTEGER, BIGINT -> whole(column, node);
      case BOOLEAN -> {
        if (!node.isBoolean()) {
          throw new Unfit(column.name() + " is neither true nor false");
        }
        yield node.asText();
      }
      case INSTANT, DATE -> throw new Unfit(column.name() + " is not a text");
      case JSON -> throw new IllegalStateException("read above");
    };
  }

  private static String text(Column column, JsonNode node) throws Unfit {
    if (node.isContainerNode()) {
      throw new Unfit(column.name() + " is a list or an object");
    }
    return node.isBoolean() || node.isIntegralNumber()
        ? node.asText()
        : float8(finite(column, node).decimalValue());
  }

  private static String whole(Column column, JsonNode node) throws Unfit {
    if (!node.isNumber()) {
      throw new Unfit(column.name() + " is not a number");
    }
    if (node.isIntegralNumber()) {
      return node.asText();
    }
    // To the nearest, and to the even one of two, as the server does with a double.
    double rounded = Math.rint(finite(column, node).doubleValue());
    if (Math.abs(rounded) >= 0x1p63) {
      throw new Unfit(column.name() + " is out of range");
    }
    return Long.toString((long) rounded);
  }

  private static JsonNode finite(Column column, JsonNode number) throws Unfit {
    if ((number.isDouble() || number.isFloat()) && !Double.isFinite(number.doubleValue())) {
      throw new Unfit(column.name() + " is not a finite number");
    }
    return number;
  }

  /** Returns a number as the server's type {@code double precision} is told. */
  private static String float8(BigDecimal number) {
    BigDecimal plain = number.stripTrailingZeros();
    int exponent = plain.precision() - plain.scale() - 1;
    if (exponent >= -4 && exponent < 15) {
      return plain.toPlainString();
    }
    String digits = plain.unscaledValue().abs().toString();
    return "%s%s%se%s%02d"
        .formatted(
            plain.signum() < 0 ? "-" : "",
            digits.charAt(0),
            digits.length() == 1 ? "" : "." + digits.substring(1),
            exponent < 0 ? "-" : "+",
            Math.abs(exponent));
  }

  /** JSON's escapes can hold what a database in UTF-8 can't, at any depth. */
  private static void requireStorable(Column column, JsonNode node) throws Unfit {
    if (node.isTextual()) {
      storable(column, node.textValue());
    }
    finite(column, node);
    for (Map.Entry<String, JsonNode> entry : node.properties()) {
      storable(column, entry.getKey());
      requireStorable(column, entry.getValue());
    }
    if (node.isArray()) {
      for (JsonNode element : node) {
        requireStorable(column, element);
      }
    }
  }

  private static String storable(Column column, String text) throws Unfit {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 0) {
        throw new Unfit(column.name() + " has a NUL, which Postgres can't store");
      }
      if (Character.isSurrogate(c)) {
        if (!Character.isHighSurrogate(c)
            || i + 1 == text.length()
            || !Character.isLowSurrogate(text.charAt(i + 1))) {
          throw new Unfit(column.name() + " has half of a surrogate pair, which is no character");
        }
        i++;
      }
    }
    return text;
  }
}
