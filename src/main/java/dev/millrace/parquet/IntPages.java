package dev.millrace.parquet;

import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnType.Wire;
import java.util.Arrays;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.schema.PrimitiveType;

/** A column of INT32: small integers, dates, decimals of up to 9 digits. Not thread-safe. */
final class IntPages extends ColumnPages {
  private final DeltaBinaryPacked packer;
  private final NumericWire numeric;
  private final Wire wire;
  private int[] numbers = new int[1024];

  IntPages(Column column, PrimitiveType type, PageBuffer page, DeltaBinaryPacked packer) {
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

  private int decode(byte[] data, int place, int length) {
    return switch (wire) {
      case INT4 -> {
        WireFormat.check(wire, length, Integer.BYTES);
        yield (int) Batch.INT_BE.get(data, place);
      }
      case INT2 -> {
        WireFormat.check(wire, length, Short.BYTES);
        yield (short) Batch.SHORT_BE.get(data, place);
      }
      case DATE -> {
        WireFormat.check(wire, length, Integer.BYTES);
        yield WireFormat.date((int) Batch.INT_BE.get(data, place));
      }
      case NUMERIC -> (int) numeric.decode(data, place, length);
      case BOOL, INT8, FLOAT4, FLOAT8, TEXT, JSONB, BYTEA, UUID, TIME, TIMESTAMP, TIMESTAMPTZ ->
          throw new IllegalStateException(wire + " is no INT32");
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
    int min = numbers[0];
    int max = numbers[0];
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
