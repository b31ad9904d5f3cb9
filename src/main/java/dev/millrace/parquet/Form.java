package dev.millrace.parquet;

import java.util.Optional;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DateLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.EnumLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.JsonLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.StringLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.UUIDLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.Type;

/**
 * The one form in which a value is compared, whatever it was read from: two values are equal when
 * their {@link Values} are the same bytes.
 *
 * @param kind of the value, or of a list's elements
 * @param depth lists around it; 0 for none
 */
public record Form(Kind kind, int depth) {

  /** What the bytes of a value are. */
  public enum Kind {
    /** Decimal digits without an exponent and without zeros behind the last fraction digit. */
    NUMBER,
    /** 32 bits; all NaNs are one. */
    FLOAT,
    /** 64 bits; all NaNs are one. */
    DOUBLE,
    /** One byte, 0 or 1. */
    BOOLEAN,
    /** UTF-8. */
    TEXT,
    BYTES,
    /** 16 bytes. */
    UUID,
    /** Days since 1970-01-01, 64 bits. */
    DATE,
    /** Microseconds since midnight, 64 bits. */
    TIME,
    /** Microseconds since 1970-01-01 00:00, of UTC or a wall clock, 64 bits. */
    TIMESTAMP
  }

  /** Returns the form of a field; nothing for one that Millrace does not write. */
  static Optional<Form> of(Type type) {
    if (type.isRepetition(Type.Repetition.REPEATED)) {
      return Optional.empty();
    }
    if (!type.isPrimitive()) {
      return FileColumn.isList(type.asGroupType())
          ? of(FileColumn.element(type.asGroupType()))
              .map(element -> new Form(element.kind(), element.depth() + 1))
          : Optional.empty();
    }
    return Optional.ofNullable(kind(type.asPrimitiveType())).map(kind -> new Form(kind, 0));
  }

  private static Kind kind(PrimitiveType type) {
    LogicalTypeAnnotation logical = type.getLogicalTypeAnnotation();
    return switch (type.getPrimitiveTypeName()) {
      case BOOLEAN -> logical == null ? Kind.BOOLEAN : null;
      case FLOAT -> logical == null ? Kind.FLOAT : null;
      case DOUBLE -> logical == null ? Kind.DOUBLE : null;
      case INT32 -> {
        if (logical instanceof DateLogicalTypeAnnotation) {
          yield Kind.DATE;
        }
        yield isNumber(logical) ? Kind.NUMBER : null;
      }
      case INT64 -> {
        if (logical instanceof TimestampLogicalTypeAnnotation timestamp) {
          yield timestamp.getUnit() == TimeUnit.MICROS ? Kind.TIMESTAMP : null;
        }
        if (logical instanceof TimeLogicalTypeAnnotation time) {
          yield time.getUnit() == TimeUnit.MICROS ? Kind.TIME : null;
        }
        yield isNumber(logical) ? Kind.NUMBER : null;
      }
      case BINARY -> {
        if (logical == null) {
          yield Kind.BYTES;
        }
        if (logical instanceof DecimalLogicalTypeAnnotation) {
          yield Kind.NUMBER;
        }
        yield logical instanceof StringLogicalTypeAnnotation
                || logical instanceof JsonLogicalTypeAnnotation
                || logical instanceof EnumLogicalTypeAnnotation
            ? Kind.TEXT
            : null;
      }
      case FIXED_LEN_BYTE_ARRAY -> {
        if (logical instanceof UUIDLogicalTypeAnnotation) {
          yield Kind.UUID;
        }
        if (logical instanceof DecimalLogicalTypeAnnotation) {
          yield Kind.NUMBER;
        }
        yield logical == null ? Kind.BYTES : null;
      }
      case INT96 -> null;
    };
  }

  private static boolean isNumber(LogicalTypeAnnotation logical) {
    return logical == null
        || logical instanceof DecimalLogicalTypeAnnotation
        || (logical instanceof IntLogicalTypeAnnotation integer && integer.isSigned());
  }
}
