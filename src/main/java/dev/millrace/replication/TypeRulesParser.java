package dev.millrace.replication;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.ColumnRules;
import dev.millrace.run.InputFields;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads rules of types, of a run or of a column, strictly. Stateless. */
final class TypeRulesParser {
  /** The fields that hold rules. */
  static final List<String> FIELDS = List.of("numeric", "nan", "infinity", "arrays");

  private static final Pattern DECIMAL =
      Pattern.compile("decimal\\( *([0-9]{1,3}) *, *([0-9]{1,3}) *\\)");
  private static final int MOST_DIGITS = 38;

  private TypeRulesParser() {}

  /**
   * Reads the rules among the fields of an object; null for each that it does not have.
   *
   * @throws MillraceException with {@code BAD_INPUT} that names the field and the way out
   */
  static ColumnRules parse(InputFields fields, String prefix) {
    return new ColumnRules(
        numeric(prefix + "numeric", fields.text("numeric", null)),
        nan(prefix + "nan", fields.text("nan", null)),
        infinity(prefix + "infinity", fields.text("infinity", null)),
        arrays(prefix + "arrays", fields.text("arrays", null)));
  }

  /**
   * Reads the object that has rules by column.
   *
   * @param where how messages call it
   * @throws MillraceException with {@code BAD_INPUT} that names the field and the way out
   */
  static Map<String, ColumnRules> byColumn(JsonNode node, String where) {
    if (node == null) {
      return Map.of();
    }
    if (!(node instanceof ObjectNode object)) {
      throw InputFields.wrongType(
          where, "an object such as {\"amount\": {\"numeric\": \"decimal(38,9)\"}}", node);
    }
    if (object.isEmpty()) {
      throw InputFields.refused("%s is empty; leave it out or name a column".formatted(where));
    }
    Map<String, ColumnRules> rules = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> column : object.properties()) {
      rules.put(column.getKey(), ofColumn(column.getValue(), where + "." + column.getKey()));
    }
    return rules;
  }

  private static ColumnRules ofColumn(JsonNode column, String where) {
    if (!(column instanceof ObjectNode object) || object.isEmpty()) {
      throw InputFields.wrongType(where, "an object with numeric, nan, infinity or arrays", column);
    }
    InputFields fields = new InputFields(object, where);
    fields.refuseUnknown(FIELDS);
    return parse(fields, where + ".");
  }

  private static ColumnRules.Numeric numeric(String field, String text) {
    if (text == null) {
      return null;
    }
    Matcher decimal = DECIMAL.matcher(text);
    if (decimal.matches()) {
      int precision = Integer.parseInt(decimal.group(1));
      int scale = Integer.parseInt(decimal.group(2));
      if (precision < 1 || precision > MOST_DIGITS || scale > precision) {
        throw InputFields.refused(
            "%s is %s; it has 1 to %d digits, of which at most all are a fraction"
                .formatted(field, text, MOST_DIGITS));
      }
      return new ColumnRules.Numeric(ColumnRules.NumericForm.DECIMAL, precision, scale);
    }
    return switch (text) {
      case "text" -> new ColumnRules.Numeric(ColumnRules.NumericForm.TEXT, 0, 0);
      case "fail" -> new ColumnRules.Numeric(ColumnRules.NumericForm.FAIL, 0, 0);
      default -> throw unknown(field, text, "text, decimal(p,s) such as decimal(38,9), fail");
    };
  }

  private static ColumnRules.Nan nan(String field, String text) {
    if (text == null) {
      return null;
    }
    return switch (text) {
      case "fail" -> ColumnRules.Nan.FAIL;
      case "null" -> ColumnRules.Nan.NULL;
      default -> throw unknown(field, text, "fail, null");
    };
  }

  private static ColumnRules.Infinity infinity(String field, String text) {
    if (text == null) {
      return null;
    }
    return switch (text) {
      case "fail" -> ColumnRules.Infinity.FAIL;
      case "null" -> ColumnRules.Infinity.NULL;
      case "clamp" -> ColumnRules.Infinity.CLAMP;
      default -> throw unknown(field, text, "fail, null, clamp");
    };
  }

  private static ColumnRules.Arrays arrays(String field, String text) {
    if (text == null) {
      return null;
    }
    return switch (text) {
      case "list" -> ColumnRules.Arrays.LIST;
      case "text" -> ColumnRules.Arrays.TEXT;
      default -> throw unknown(field, text, "list, text");
    };
  }

  private static MillraceException unknown(String field, String text, String known) {
    return InputFields.refused("%s '%s' is none of %s".formatted(field, text, known));
  }
}
