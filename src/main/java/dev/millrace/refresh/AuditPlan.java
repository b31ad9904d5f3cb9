package dev.millrace.refresh;

import dev.millrace.clickhouse.ClickHouseType;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.util.List;

/**
 * What is asked of both sides.
 *
 * @param columns all copied columns, in the order of their NULL counts
 * @param key the column whose different values are counted; one of the columns
 * @param checksum the column that is summed up; one of the columns
 * @param updated the source's column whose greatest value is asked for; null for none
 * @param full whether all values are hashed
 */
record AuditPlan(
    List<ColumnMapping> columns,
    ColumnMapping key,
    ColumnMapping checksum,
    SourceColumn updated,
    boolean full) {

  /** Sums of more digits than this could wrap in the 256 bits that ClickHouse sums in. */
  private static final int SUMMABLE_DIGITS = 66;

  AuditPlan {
    columns = List.copyOf(columns);
    requireKey(key);
    requireSummable(checksum);
    requireOrdered(updated);
  }

  private static void requireKey(ColumnMapping key) {
    PostgresType type = key.source().type();
    boolean good =
        switch (type.kind()) {
          case INT2,
              INT4,
              INT8,
              NUMERIC,
              BOOLEAN,
              PADDED_TEXT,
              LABEL,
              BYTES,
              UUID,
              DATE,
              TIMESTAMP,
              TIMESTAMP_WITH_ZONE,
              ADDRESS ->
              true;
          case TEXT -> !type.text().equals("json");
          case FLOAT4, FLOAT8, ARRAY, STABLE_FORM, SESSION_FORM -> false;
        };
    if (!good) {
      throw new MillraceException(
          ErrorCode.TYPE_UNSUPPORTED,
          "pk_column \"%s\" is %s, whose different values both servers don't count alike; name a column of numbers, text, uuids or times"
              .formatted(key.name(), key.source().declared()));
    }
  }

  private static void requireSummable(ColumnMapping checksum) {
    boolean source =
        switch (checksum.source().type().kind()) {
          case INT2, INT4, INT8, NUMERIC -> true;
          default -> false;
        };
    ClickHouseType type = checksum.type();
    boolean target =
        switch (type.kind()) {
          case INT8, INT16, INT32, INT64, INT128, UINT8, UINT16, UINT32, UINT64, UINT128 -> true;
          case DECIMAL -> type.precision() <= SUMMABLE_DIGITS;
          default -> false;
        };
    if (!source || !target) {
      throw new MillraceException(
          ErrorCode.TYPE_UNSUPPORTED,
          "checksum_column \"%s\" is %s in Postgres and %s in ClickHouse; it has to be an integer of up to 128 bits or a decimal of up to %d digits on both sides"
              .formatted(
                  checksum.name(), checksum.source().declared(), type.text(), SUMMABLE_DIGITS));
    }
  }

  private static void requireOrdered(SourceColumn updated) {
    if (updated == null) {
      return;
    }
    boolean good =
        switch (updated.type().kind()) {
          case INT2, INT4, INT8, NUMERIC, DATE, TIMESTAMP, TIMESTAMP_WITH_ZONE -> true;
          case FLOAT4,
              FLOAT8,
              BOOLEAN,
              TEXT,
              PADDED_TEXT,
              LABEL,
              BYTES,
              UUID,
              ADDRESS,
              ARRAY,
              STABLE_FORM,
              SESSION_FORM ->
              false;
        };
    if (!good) {
      throw new MillraceException(
          ErrorCode.TYPE_UNSUPPORTED,
          "updated_column \"%s\" is %s; name one with a timestamp, a date or a number"
              .formatted(updated.name(), updated.declared()));
    }
  }

  /** Fraction digits of the sum, on both sides. */
  int sumScale() {
    return checksum.type().kind() == ClickHouseType.Kind.DECIMAL ? checksum.type().scale() : 0;
  }
}
