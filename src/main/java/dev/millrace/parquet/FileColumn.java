package dev.millrace.parquet;

import dev.millrace.postgres.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;

/**
 * A column of a file, for people and manifests.
 *
 * @param name as the file has it
 * @param type such as {@code INT64 TIMESTAMP(MICROS,true)} or {@code LIST<INT32>}
 */
public record FileColumn(String name, String type) {

  /** Returns the columns of the file that holds some columns of Postgres. */
  public static List<FileColumn> of(List<Column> columns) {
    return of(ParquetSchema.of(columns));
  }

  static List<FileColumn> of(MessageType schema) {
    List<FileColumn> columns = new ArrayList<>();
    for (Type field : schema.getFields()) {
      columns.add(new FileColumn(field.getName(), type(field)));
    }
    return columns;
  }

  private static String type(Type type) {
    if (type.isPrimitive()) {
      return primitive(type.asPrimitiveType());
    }
    GroupType group = type.asGroupType();
    if (isList(group)) {
      return "LIST<" + type(element(group)) + ">";
    }
    List<String> fields = group.getFields().stream().map(FileColumn::type).toList();
    return "GROUP<" + String.join(", ", fields) + ">";
  }

  private static String primitive(PrimitiveType type) {
    String physical = type.getPrimitiveTypeName().name().toUpperCase(Locale.ROOT);
    if (type.getPrimitiveTypeName() == PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY) {
      physical += "(" + type.getTypeLength() + ")";
    }
    LogicalTypeAnnotation logical = type.getLogicalTypeAnnotation();
    return logical == null ? physical : physical + " " + logical;
  }

  /** Returns whether a group is a LIST of three levels, as Millrace writes it. */
  static boolean isList(GroupType group) {
    return group.getLogicalTypeAnnotation()
            instanceof LogicalTypeAnnotation.ListLogicalTypeAnnotation
        && group.getFieldCount() == 1
        && !group.getType(0).isPrimitive()
        && group.getType(0).isRepetition(Type.Repetition.REPEATED)
        && group.getType(0).asGroupType().getFieldCount() == 1;
  }

  /** Returns the type of a list's elements. */
  static Type element(GroupType list) {
    return list.getType(0).asGroupType().getType(0);
  }
}
