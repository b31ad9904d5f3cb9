package dev.millrace.parquet;

import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnType.Wire;
import java.util.Arrays;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.schema.PrimitiveType;

/** A column of INT64: int8, times, timestamps, decimals of up to 18 digits. Not thread-safe. */
final class LongPages extends ColumnPages {
  private final DeltaBinaryPacked packer;
  private final NumericWire numeric;
  private final Wire wire;
  private long[] numbers = new long[1024];

  LongPages(Column column, PrimitiveType type, PageBuffer page, DeltaBinaryPacked packer) {
    super(column, type, page);
    this.packer = packer;
    this.numeric = new NumericWire(column.type());
    this.wire = column.type().wire();
  }

  @Override
  void addAll(Batch batch, int index, int from, int to) {
    int most = values() + to - from;
    if (most > numbers.length) {
      numbers = Arrays.copyOf(numbers, Math.max(most, numbers.length * 2));
    }
    byte[] data = batch.data();
    for (int row = from; row < to; row++) {
      int place = batch.place(index, row);
      if (place == Batch.NULL) {
        addNull();
        continue;
      }
      numbers[values()] = decode(data, place, batch.length(place));
      addPresent();
    }
  }

  private long decode(byte[] data, int place, int length) {
    if (wire == Wire.NUMERIC) {
      return numeric.decode(data, place, length);
    }
    WireFormat.check(wire, length, Long.BYTES);
    long value = (long) Batch.LONG_BE.get(data, place);
    return switch (wire) {
      case INT8 -> value;
      case TIMESTAMP, TIMESTAMPTZ -> WireFormat.timestamp(value);
      case TIME -> WireFormat.time(value);
      case BOOL, INT2, INT4, FLOAT4, FLOAT8, NUMERIC, TEXT, JSONB, BYTEA, UUID, DATE ->
          throw new IllegalStateException(wire + " is no INT64");
    };
  }

  @Override
  void putValues(PageBuffer out) {
    packer.encode(numbers, values(), out);
  }

  @Override
  Encoding encoding() {
    return Encoding.DELTA_BINARY_PACKED;
  }

  @Override
  void updateStatistics(Statistics<?> statistics) {
    long min = numbers[0];
    long max = numbers[0];
    for (int i = 1; i < values(); i++) {
      min = Math.min(min, numbers[i]);
      max = Math.max(max, numbers[i]);
    }
    statistics.updateStats(min);
    statistics.updateStats(max);
  }

  @Override
  void clear() {}
}
