package dev.millrace.parquet;

import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnType.Wire;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.schema.PrimitiveType;

/**
 * A column of FLOAT or DOUBLE; the bits of each value stay as they are. Not thread-safe.
 *
 * <p>NaN is in no minimum or maximum; zeros there get the sign that covers both zeros (<a
 * href="https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift">
 * parquet.thrift</a>, ColumnOrder).
 */
final class FloatPages extends ColumnPages {
  private final PageBuffer bytes = new PageBuffer(1024);
  private final boolean single;
  private double min;
  private double max;
  private int numbers;

  FloatPages(Column column, PrimitiveType type, PageBuffer page) {
    super(column, type, page);
    this.single = column.type().wire() == Wire.FLOAT4;
  }

  @Override
  void addAll(Batch batch, int index, int from, int to) {
    byte[] data = batch.data();
    for (int row = from; row < to; row++) {
      int place = batch.place(index, row);
      if (place == Batch.NULL) {
        addNull();
        continue;
      }
      int length = batch.length(place);
      if (single) {
        WireFormat.check(Wire.FLOAT4, length, Float.BYTES);
        int bits = (int) Batch.INT_BE.get(data, place);
        bytes.putInt(bits);
        observe(Float.intBitsToFloat(bits));
      } else {
        WireFormat.check(Wire.FLOAT8, length, Double.BYTES);
        long bits = (long) Batch.LONG_BE.get(data, place);
        bytes.putLong(bits);
        observe(Double.longBitsToDouble(bits));
      }
      addPresent();
    }
  }

  private void observe(double value) {
    if (Double.isNaN(value)) {
      return;
    }
    min = numbers == 0 ? value : Math.min(min, value);
    max = numbers == 0 ? value : Math.max(max, value);
    numbers++;
  }

  @Override
  void putValues(PageBuffer out) {
    out.put(bytes);
  }

  @Override
  Encoding encoding() {
    return Encoding.PLAIN;
  }

  @Override
  void updateStatistics(Statistics<?> statistics) {
    statistics.incrementNanCount(values() - numbers);
    if (numbers == 0) {
      return;
    }
    double least = min == 0 ? -0.0 : min;
    double most = max == 0 ? 0.0 : max;
    if (single) {
      statistics.updateStats((float) least);
      statistics.updateStats((float) most);
    } else {
      statistics.updateStats(least);
      statistics.updateStats(most);
    }
  }

  @Override
  void clear() {
    bytes.clear();
    numbers = 0;
  }
}
