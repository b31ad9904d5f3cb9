package dev.millrace.parquet;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.JsonLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.StringLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.Type;

/** What parquet-java's record reader finds in a field, as text. */
final class Stored {
  private Stored() {}

  /** Returns how a field's type looks, such as {@code LIST INT32 DATE}. */
  static String type(Type type) {
    if (!type.isPrimitive()) {
      return "LIST " + type(element(type));
    }
    PrimitiveType primitive = type.asPrimitiveType();
    String physical = primitive.getPrimitiveTypeName().toString();
    if (primitive.getPrimitiveTypeName() == PrimitiveType.PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY) {
      physical += "(" + primitive.getTypeLength() + ")";
    }
    LogicalTypeAnnotation logical = primitive.getLogicalTypeAnnotation();
    return logical == null ? physical : physical + " " + logical;
  }

  private static Type element(Type list) {
    return list.asGroupType().getType(0).asGroupType().getType(0);
  }

  /** Returns the value of a field: null, a text, or a list of such. */
  static Object value(Group row, int field) {
    if (row.getFieldRepetitionCount(field) == 0) {
      return null;
    }
    Type type = row.getType().getType(field);
    if (type.isPrimitive()) {
      return primitive(type.asPrimitiveType(), row, field);
    }
    Group list = row.getGroup(field, 0);
    List<Object> elements = new ArrayList<>();
    for (int i = 0; i < list.getFieldRepetitionCount(0); i++) {
      elements.add(value(list.getGroup(0, i), 0));
    }
    return elements;
  }

  private static String primitive(PrimitiveType type, Group row, int field) {
    LogicalTypeAnnotation logical = type.getLogicalTypeAnnotation();
    if (logical instanceof DecimalLogicalTypeAnnotation decimal) {
      BigInteger unscaled =
          switch (type.getPrimitiveTypeName()) {
            case INT32 -> BigInteger.valueOf(row.getInteger(field, 0));
            case INT64 -> BigInteger.valueOf(row.getLong(field, 0));
            default -> new BigInteger(row.getBinary(field, 0).getBytes());
          };
      return new BigDecimal(unscaled, decimal.getScale()).toPlainString();
    }
    return switch (type.getPrimitiveTypeName()) {
      case INT32 -> Integer.toString(row.getInteger(field, 0));
      case INT64 -> Long.toString(row.getLong(field, 0));
      case FLOAT -> Float.toString(row.getFloat(field, 0));
      case DOUBLE -> Double.toString(row.getDouble(field, 0));
      case BOOLEAN -> Boolean.toString(row.getBoolean(field, 0));
      case BINARY, FIXED_LEN_BYTE_ARRAY ->
          logical instanceof StringLogicalTypeAnnotation
                  || logical instanceof JsonLogicalTypeAnnotation
              ? row.getBinary(field, 0).toStringUsingUTF8()
              : HexFormat.of().formatHex(row.getBinary(field, 0).getBytes());
      case INT96 -> throw new AssertionError();
    };
  }
}
