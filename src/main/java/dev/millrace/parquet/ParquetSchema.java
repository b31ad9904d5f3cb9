package dev.millrace.parquet;

import static org.apache.parquet.schema.LogicalTypeAnnotation.dateType;
import static org.apache.parquet.schema.LogicalTypeAnnotation.decimalType;
import static org.apache.parquet.schema.LogicalTypeAnnotation.intType;
import static org.apache.parquet.schema.LogicalTypeAnnotation.jsonType;
import static org.apache.parquet.schema.LogicalTypeAnnotation.listType;
import static org.apache.parquet.schema.LogicalTypeAnnotation.stringType;
import static org.apache.parquet.schema.LogicalTypeAnnotation.timeType;
import static org.apache.parquet.schema.LogicalTypeAnnotation.timestampType;
import static org.apache.parquet.schema.LogicalTypeAnnotation.uuidType;

import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnType;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Types;

/**
 * Which Parquet type holds which Postgres type, after <a
 * href="https://github.com/apache/parquet-format/blob/master/LogicalTypes.md">LogicalTypes.md</a>;
 * {@code docs/types.md} is the table for people.
 */
final class ParquetSchema {
  /** Most digits of a DECIMAL that fit an INT32, and an INT64. */
  static final int INT32_DIGITS = 9;

  static final int INT64_DIGITS = 18;
  static final int UUID_BYTES = 16;

  private static final String ELEMENT = "element";

  private ParquetSchema() {}

  /** Returns the schema of a file with these columns, in their order and with their names. */
  static MessageType of(List<Column> columns) {
    List<Type> fields = new ArrayList<>();
    for (Column column : columns) {
      fields.add(column.type().isArray() ? list(column) : field(column, column.name()));
    }
    return new MessageType("millrace", fields);
  }

  /**
   * An array is a <a
   * href="https://github.com/apache/parquet-format/blob/master/LogicalTypes.md#lists">LIST</a> of
   * three levels, for each of its dimensions.
   */
  private static Type list(Column column) {
    Type element = field(column, ELEMENT);
    for (int dimension = column.type().dimensions(); dimension > 0; dimension--) {
      element =
          Types.optionalGroup()
              .as(listType())
              .addField(new GroupType(Type.Repetition.REPEATED, "list", element))
              .named(dimension == 1 ? column.name() : ELEMENT);
    }
    return element;
  }

  private static PrimitiveType field(Column column, String name) {
    ColumnType type = column.type();
    return switch (type.wire()) {
      case BOOL -> field(name, PrimitiveTypeName.BOOLEAN, null, 0);
      case INT2 -> field(name, PrimitiveTypeName.INT32, intType(16, true), 0);
      case INT4 -> field(name, PrimitiveTypeName.INT32, null, 0);
      case INT8 -> field(name, PrimitiveTypeName.INT64, null, 0);
      case FLOAT4 -> field(name, PrimitiveTypeName.FLOAT, null, 0);
      case FLOAT8 -> field(name, PrimitiveTypeName.DOUBLE, null, 0);
      case NUMERIC -> decimal(type, name);
      case TEXT, JSONB -> field(name, PrimitiveTypeName.BINARY, text(column.kind()), 0);
      case BYTEA -> field(name, PrimitiveTypeName.BINARY, null, 0);
      case UUID -> field(name, PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY, uuidType(), UUID_BYTES);
      case DATE -> field(name, PrimitiveTypeName.INT32, dateType(), 0);
      case TIME -> field(name, PrimitiveTypeName.INT64, timeType(false, TimeUnit.MICROS), 0);
      case TIMESTAMP ->
          field(name, PrimitiveTypeName.INT64, timestampType(false, TimeUnit.MICROS), 0);
      case TIMESTAMPTZ ->
          field(name, PrimitiveTypeName.INT64, timestampType(true, TimeUnit.MICROS), 0);
    };
  }

  private static LogicalTypeAnnotation text(Column.Kind kind) {
    return switch (kind) {
      // Several readers show the logical type ENUM as raw bytes.
      case PLAIN, ENUM -> stringType();
      case JSON -> jsonType();
    };
  }

  private static PrimitiveType decimal(ColumnType type, String name) {
    int precision = type.precision();
    LogicalTypeAnnotation logical = decimalType(type.scale(), precision);
    if (precision <= INT32_DIGITS) {
      return field(name, PrimitiveTypeName.INT32, logical, 0);
    }
    if (precision <= INT64_DIGITS) {
      return field(name, PrimitiveTypeName.INT64, logical, 0);
    }
    return field(name, PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY, logical, decimalBytes(precision));
  }

  /** Returns the least number of bytes whose two's complement holds that many digits. */
  static int decimalBytes(int precision) {
    return BigInteger.TEN.pow(precision).subtract(BigInteger.ONE).bitLength() / 8 + 1;
  }

  /**
   * All fields are optional, elements too: NOT NULL can be dropped later, isn't enforced on foreign
   * tables, and may be unchecked for old rows (NOT VALID, Postgres 18).
   */
  private static PrimitiveType field(
      String name, PrimitiveTypeName physical, LogicalTypeAnnotation logical, int length) {
    return Types.optional(physical).length(length).as(logical).named(name);
  }
}
