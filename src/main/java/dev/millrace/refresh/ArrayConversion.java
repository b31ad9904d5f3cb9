package dev.millrace.refresh;

import dev.millrace.clickhouse.RowBinary;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * An array of one dimension to {@code Array}. Where its numbering starts is not kept.
 *
 * @param element how its elements go
 * @param elementType the whole type of the target's elements
 * @param nullable whether these may be NULL
 * @param unicode whether the database's encoding is UTF8
 */
record ArrayConversion(Conversion element, String elementType, boolean nullable, boolean unicode)
    implements Conversion {

  private static final String FLAT = "coalesce(array_ndims(%s), 1) = 1";

  @Override
  public String pull(String value, String complaint) {
    String sent = element.pull("u.e", complaint + " in an element");
    String text =
        element.isFreeText()
            ? "encode(convert_to(%s, 'UTF8'), 'hex')".formatted(sent)
            : "(%s)::text".formatted(sent);
    String list =
        "coalesce((SELECT string_agg(CASE WHEN u.e IS NULL THEN 'N' ELSE 'V' || %s END, ',' ORDER BY u.o) FROM unnest(%s) WITH ORDINALITY AS u(e, o)), '')"
            .formatted(text, value);
    return Sql.guarded(
        "%s IS NOT NULL AND %s".formatted(value, FLAT.formatted(value)),
        list,
        "text",
        value,
        complaint);
  }

  @Override
  public String carrier() {
    return "String";
  }

  @Override
  public String insert(String carried, String type) {
    String whole = "accurateCast(%s, 'String')".formatted(carried);
    String item = "if(e = 'N', NULL, substring(e, 2))";
    String sent;
    if (element.isFreeText()) {
      sent = "unhex(%s)".formatted(item);
    } else if (element.carrier().equals("String")) {
      sent = item;
    } else {
      sent = "accurateCast(%s, 'Nullable(%s)')".formatted(item, element.carrier());
    }
    return "accurateCast(arrayMap(e -> %s, if(%s = '', [], splitByChar(',', %s))), %s)"
        .formatted(element.insert(sent, elementType), whole, whole, Sql.clickHouseText(type));
  }

  @Override
  public String push(String value) {
    return element.pushArray(value);
  }

  @Override
  public ValueEncoder encoder() {
    ValueEncoder item = element.encoder();
    boolean nulls = nullable;
    return (data, place, length, row) -> encode(item, nulls, data, place, row);
  }

  /** Dimensions, whether there are NULLs, the elements' type; per dimension its size and start. */
  private static void encode(
      ValueEncoder item, boolean nulls, byte[] data, int place, RowBinary row) throws IOException {
    int dimensions = (int) ValueEncoder.INT_BE.get(data, place);
    if (dimensions == 0) {
      row.length(0);
      return;
    }
    if (dimensions != 1) {
      throw new ValueException(complaint());
    }
    int count = (int) ValueEncoder.INT_BE.get(data, place + 3 * Integer.BYTES);
    int position = place + 5 * Integer.BYTES;
    row.length(count);
    for (int i = 0; i < count; i++) {
      int length = (int) ValueEncoder.INT_BE.get(data, position);
      position += Integer.BYTES;
      if (length < 0) {
        if (!nulls) {
          throw new ValueException("has a NULL among its elements, whose type is not Nullable");
        }
        row.int8(1);
        continue;
      }
      if (nulls) {
        row.int8(0);
      }
      item.encode(data, position, length, row);
      position += length;
    }
  }

  private static String complaint() {
    return "has more than one dimension, and the target's Array has one";
  }

  @Override
  public String sourceText(String value) {
    return "cardinality(%s) || '[' || coalesce((SELECT string_agg(coalesce(%s, 'N') || ';', '' ORDER BY u.o) FROM unnest(%s) WITH ORDINALITY AS u(e, o)), '')"
        .formatted(value, element.sourceText("u.e"), value);
  }

  @Override
  public String targetText(String value) {
    String text = element.targetText(nullable ? "assumeNotNull(e)" : "e");
    String item = nullable ? "if(isNull(e), 'N', %s)".formatted(text) : text;
    return "concat(toString(length(%s)), '[', arrayStringConcat(arrayMap(e -> concat(%s, ';'), %s)))"
        .formatted(value, item, value);
  }

  @Override
  public List<RangeCheck> checks() {
    List<RangeCheck> checks = new ArrayList<>();
    checks.add(
        new RangeCheck(
            "max",
            value -> value + "::text",
            value -> "array_ndims(%s) > 1".formatted(value),
            figure -> figure + " IS NOT NULL",
            complaint()));
    if (!nullable) {
      checks.add(
          new RangeCheck(
              "max",
              value -> value + "::text",
              value -> "EXISTS (SELECT FROM unnest(%s) AS u(e) WHERE u.e IS NULL)".formatted(value),
              figure -> figure + " IS NOT NULL",
              "has a NULL among its elements, whose type is not Nullable"));
    }
    element.checks().stream().map(RangeCheck::ofElements).forEach(checks::add);
    return checks;
  }
}
