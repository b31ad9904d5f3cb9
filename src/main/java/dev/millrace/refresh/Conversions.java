package dev.millrace.refresh;

import dev.millrace.clickhouse.ClickHouseType;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.time.ZoneOffset;

/** Which conversion leads from one type to the other, if one does without a change; stateless. */
final class Conversions {
  private static final String VIEW = ", or copy from a view that casts the column";

  private final LoadConditions conditions;

  Conversions(LoadConditions conditions) {
    this.conditions = conditions;
  }

  /**
   * Returns the conversion.
   *
   * @throws UnsupportedPairException when there is none
   */
  Conversion of(PostgresType source, ClickHouseType target) {
    return switch (target.kind()) {
      case INT8, INT16, INT32, INT64, INT128, INT256 -> integer(source, target, true);
      case UINT8, UINT16, UINT32, UINT64, UINT128, UINT256 -> integer(source, target, false);
      case FLOAT32 -> real(source, target, Float.SIZE);
      case FLOAT64 -> real(source, target, Double.SIZE);
      case DECIMAL -> decimal(source, target);
      case STRING -> text(source, 0);
      case FIXED_STRING -> text(source, target.precision());
      case UUID -> only(source, target, PostgresType.Kind.UUID, new UuidConversion());
      case DATE -> only(source, target, PostgresType.Kind.DATE, new DateConversion(false));
      case DATE32 -> only(source, target, PostgresType.Kind.DATE, new DateConversion(true));
      case DATETIME -> time(source, target, -1);
      case DATETIME64 -> time(source, target, target.precision());
      case BOOL -> only(source, target, PostgresType.Kind.BOOLEAN, new BooleanConversion());
      case ENUM8 -> names(source, target, Byte.BYTES);
      case ENUM16 -> names(source, target, Short.BYTES);
      case IPV4 -> only(source, target, PostgresType.Kind.ADDRESS, new AddressConversion(false));
      case IPV6 -> only(source, target, PostgresType.Kind.ADDRESS, new AddressConversion(true));
      case ARRAY -> array(source, target);
      case OTHER ->
          throw new UnsupportedPairException("this target type is not supported" + instead(source));
    };
  }

  private static Conversion only(
      PostgresType source, ClickHouseType target, PostgresType.Kind kind, Conversion conversion) {
    if (source.kind() != kind) {
      throw noSense(source, target);
    }
    return conversion;
  }

  private static UnsupportedPairException noSense(PostgresType source, ClickHouseType target) {
    return new UnsupportedPairException(
        "%s is not what %s holds%s".formatted(source.text(), target.text(), instead(source)));
  }

  private static String instead(PostgresType source) {
    return "; declare the column as " + suggestion(source) + VIEW;
  }

  /** Returns a target type that takes all values of a source type, or nearly all. */
  private static String suggestion(PostgresType source) {
    return switch (source.kind()) {
      case INT2 -> "Int16";
      case INT4 -> "Int32";
      case INT8 -> "Int64";
      case NUMERIC ->
          source.isUnbounded() || source.precision() > 76 || source.scale() < 0
              ? "String, or a Decimal that is wide enough"
              : "Decimal(%d, %d)"
                  .formatted(Math.max(source.precision(), source.scale()), source.scale());
      case FLOAT4 -> "Float32";
      case FLOAT8 -> "Float64";
      case BOOLEAN -> "Bool";
      case TEXT, PADDED_TEXT, LABEL, BYTES, STABLE_FORM, SESSION_FORM -> "String";
      case UUID -> "UUID";
      case DATE -> "Date32";
      case TIMESTAMP, TIMESTAMP_WITH_ZONE -> "DateTime64(6, 'UTC')";
      case ADDRESS -> "String, IPv4 or IPv6";
      case ARRAY -> "an Array of one dimension, or String";
    };
  }

  private static Conversion integer(PostgresType source, ClickHouseType target, boolean signed) {
    IntegerRange range = new IntegerRange(bits(target), signed);
    return switch (source.kind()) {
      case INT2 -> new IntegerConversion(new IntegerRange(16, true), range);
      case INT4 -> new IntegerConversion(new IntegerRange(32, true), range);
      case INT8 -> new IntegerConversion(new IntegerRange(64, true), range);
      case NUMERIC -> new NumericConversion(source, range, null);
      case BOOLEAN -> {
        if (range.bits() != Byte.SIZE) {
          throw noSense(source, target);
        }
        yield new BooleanConversion();
      }
      case FLOAT4,
          FLOAT8,
          TEXT,
          PADDED_TEXT,
          LABEL,
          BYTES,
          UUID,
          DATE,
          TIMESTAMP,
          TIMESTAMP_WITH_ZONE,
          ADDRESS,
          ARRAY,
          STABLE_FORM,
          SESSION_FORM ->
          throw noSense(source, target);
    };
  }

  private static int bits(ClickHouseType target) {
    return switch (target.kind()) {
      case INT8, UINT8 -> 8;
      case INT16, UINT16 -> 16;
      case INT32, UINT32 -> 32;
      case INT64, UINT64 -> 64;
      case INT128, UINT128 -> 128;
      case INT256, UINT256 -> 256;
      default -> throw new IllegalArgumentException("no integer: " + target.text());
    };
  }

  private static Conversion real(PostgresType source, ClickHouseType target, int bits) {
    boolean exact =
        switch (source.kind()) {
          case FLOAT4, INT2 -> true;
          case FLOAT8, INT4 -> bits == Double.SIZE;
          default -> false;
        };
    if (exact) {
      return new FloatConversion(source.kind(), bits);
    }
    if (source.kind() == PostgresType.Kind.NUMERIC
        || source.kind() == PostgresType.Kind.INT8
        || source.kind() == PostgresType.Kind.INT4
        || source.kind() == PostgresType.Kind.FLOAT8) {
      throw new UnsupportedPairException(
          "values would be rounded in %s%s".formatted(target.text(), instead(source)));
    }
    throw noSense(source, target);
  }

  private static Conversion decimal(PostgresType source, ClickHouseType target) {
    DecimalDigits digits = new DecimalDigits(target.precision(), target.scale());
    return switch (source.kind()) {
      case INT2 -> new IntegerToDecimal(new IntegerRange(16, true), digits);
      case INT4 -> new IntegerToDecimal(new IntegerRange(32, true), digits);
      case INT8 -> new IntegerToDecimal(new IntegerRange(64, true), digits);
      case NUMERIC -> new NumericConversion(source, null, digits);
      case FLOAT4, FLOAT8 ->
          throw new UnsupportedPairException(
              "values would be rounded in %s%s".formatted(target.text(), instead(source)));
      case BOOLEAN,
          TEXT,
          PADDED_TEXT,
          LABEL,
          BYTES,
          UUID,
          DATE,
          TIMESTAMP,
          TIMESTAMP_WITH_ZONE,
          ADDRESS,
          ARRAY,
          STABLE_FORM,
          SESSION_FORM ->
          throw noSense(source, target);
    };
  }

  private Conversion text(PostgresType source, int bytes) {
    if (source.kind() == PostgresType.Kind.BYTES) {
      return new BytesConversion(bytes);
    }
    if (conditions.load() == Load.PULL && dependsOnSession(source)) {
      throw new UnsupportedPairException(
          "how %s is written as text depends on settings of ClickHouse's session in Postgres; load by push%s"
              .formatted(source.text(), instead(source)));
    }
    requireUnicode();
    return new TextConversion(source.kind(), bytes, conditions.isUnicode());
  }

  private static boolean dependsOnSession(PostgresType source) {
    return switch (source.kind()) {
      case INT2,
          INT4,
          INT8,
          NUMERIC,
          BOOLEAN,
          TEXT,
          PADDED_TEXT,
          LABEL,
          UUID,
          ADDRESS,
          STABLE_FORM ->
          false;
      case FLOAT4, FLOAT8, BYTES, DATE, TIMESTAMP, TIMESTAMP_WITH_ZONE, SESSION_FORM -> true;
      case ARRAY -> dependsOnSession(source.element());
    };
  }

  private void requireUnicode() {
    if (conditions.load() == Load.PULL && !conditions.isUnicode()) {
      throw new UnsupportedPairException(
          "the database's encoding is %s, and ClickHouse would take the text for UTF-8; load by push"
              .formatted(conditions.encoding()));
    }
  }

  private Conversion names(PostgresType source, ClickHouseType target, int bytes) {
    return switch (source.kind()) {
      case TEXT, PADDED_TEXT, LABEL -> {
        requireUnicode();
        yield new EnumConversion(
            source.kind(), target.names(), target.values(), bytes, conditions.isUnicode());
      }
      case INT2,
          INT4,
          INT8,
          NUMERIC,
          FLOAT4,
          FLOAT8,
          BOOLEAN,
          BYTES,
          UUID,
          DATE,
          TIMESTAMP,
          TIMESTAMP_WITH_ZONE,
          ADDRESS,
          ARRAY,
          STABLE_FORM,
          SESSION_FORM ->
          throw noSense(source, target);
    };
  }

  private Conversion time(PostgresType source, ClickHouseType target, int digits) {
    if (source.kind() == PostgresType.Kind.TIMESTAMP_WITH_ZONE) {
      return new TimestampConversion(true, source.precision(), digits);
    }
    if (source.kind() != PostgresType.Kind.TIMESTAMP) {
      throw noSense(source, target);
    }
    String zone = target.timezone() == null ? conditions.serverZone() : target.timezone();
    if (!isUtc(zone)) {
      throw new UnsupportedPairException(
          "the column shows times of %s%s, so a wall clock without a zone would be shown shifted; declare it with 'UTC'%s (AT TIME ZONE '%s')"
              .formatted(
                  zone, target.timezone() == null ? ", ClickHouse's own zone" : "", VIEW, zone));
    }
    return new TimestampConversion(false, source.precision(), digits);
  }

  private static boolean isUtc(String zone) {
    try {
      var rules = ZoneId.of(zone).getRules();
      return rules.isFixedOffset()
          && rules.getOffset(java.time.Instant.EPOCH).equals(ZoneOffset.UTC);
    } catch (DateTimeException e) {
      return false;
    }
  }

  private Conversion array(PostgresType source, ClickHouseType target) {
    if (source.kind() != PostgresType.Kind.ARRAY) {
      throw noSense(source, target);
    }
    ClickHouseType element = target.element();
    if (element.kind() == ClickHouseType.Kind.ARRAY
        || source.element().kind() == PostgresType.Kind.ARRAY) {
      throw new UnsupportedPairException(
          "only arrays of one dimension are supported" + instead(source));
    }
    if (source.element().kind() == PostgresType.Kind.ADDRESS
        && element.kind() == ClickHouseType.Kind.STRING) {
      throw new UnsupportedPairException(
          "a cast of inet[] to text adds netmasks; declare the column as String, Array(IPv4) or Array(IPv6)"
              + VIEW);
    }
    // An element travels as UTF-8 whatever the database's encoding is.
    Conversion conversion = of(source.element(), element);
    return new ArrayConversion(
        conversion, element.text(), element.nullable(), conditions.isUnicode());
  }
}
