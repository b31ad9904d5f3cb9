package dev.millrace.parquet;

import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnRules;
import dev.millrace.postgres.ColumnType.Wire;
import java.util.List;

/**
 * Replaces the values of a column that its rules take out, where they lie, before they are encoded;
 * so the loops that encode know nothing of rules. Not thread-safe.
 */
final class Replacement {
  private final Column column;
  private final String rule;
  private final boolean clamp;
  private long replaced;

  private Replacement(Column column, String rule, boolean clamp) {
    this.column = column;
    this.rule = rule;
    this.clamp = clamp;
  }

  /** Returns the column's replacement; null where its rules let values fail. */
  static Replacement of(Column column) {
    ColumnRules rules = column.rules();
    return switch (column.type().wire()) {
      case NUMERIC ->
          rules.nan() == ColumnRules.Nan.NULL ? new Replacement(column, "nan: null", false) : null;
      case DATE, TIMESTAMP, TIMESTAMPTZ ->
          switch (rules.infinity()) {
            case FAIL -> null;
            case NULL -> new Replacement(column, "infinity: null", false);
            case CLAMP -> new Replacement(column, "infinity: clamp", true);
          };
      case BOOL, INT2, INT4, INT8, FLOAT4, FLOAT8, TEXT, JSONB, BYTEA, UUID, TIME -> null;
    };
  }

  /** Returns what was replaced so far; empty for nothing. */
  List<ReplacedValues> replaced() {
    return replaced == 0 ? List.of() : List.of(new ReplacedValues(column.name(), rule, replaced));
  }

  void apply(Batch batch, int index, int from, int to) {
    Wire wire = column.type().wire();
    byte[] data = batch.data();
    for (int row = from; row < to; row++) {
      int place = batch.place(index, row);
      if (place == Batch.NULL || !isSpecial(wire, data, place, batch.length(place))) {
        continue;
      }
      replaced++;
      if (clamp) {
        clamp(wire, data, place);
      } else {
        batch.setNull(index, row);
      }
    }
  }

  private static boolean isSpecial(Wire wire, byte[] data, int place, int length) {
    if (wire == Wire.NUMERIC) {
      return NumericWire.isSpecial(data, place, length);
    }
    if (wire == Wire.DATE) {
      return length == Integer.BYTES && WireFormat.isInfinite((int) Batch.INT_BE.get(data, place));
    }
    return length == Long.BYTES && WireFormat.isInfinite((long) Batch.LONG_BE.get(data, place));
  }

  private static void clamp(Wire wire, byte[] data, int place) {
    boolean positive = data[place] >= 0;
    if (wire == Wire.DATE) {
      Batch.INT_BE.set(data, place, positive ? WireFormat.LAST_DATE : WireFormat.FIRST_DATE);
    } else {
      Batch.LONG_BE.set(
          data, place, positive ? WireFormat.LAST_TIMESTAMP : WireFormat.FIRST_TIMESTAMP);
    }
  }
}
