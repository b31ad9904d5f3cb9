package dev.millrace.parquet;

import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnType.Wire;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.PrimitiveType;

/**
 * A column of FIXED_LEN_BYTE_ARRAY: uuids, which are ordered as unsigned bytes, and decimals above
 * 18 digits, which are big-endian two's complement. Not thread-safe.
 */
final class FixedPages extends ColumnPages {
  private final PageBuffer bytes = new PageBuffer(1024);
  private final NumericWire numeric;
  private final boolean decimal;
  private final int width;
  private long minHigh;
  private long minLow;
  private long maxHigh;
  private long maxLow;

  FixedPages(Column column, PrimitiveType type, PageBuffer page) {
    super(column, type, page);
    this.numeric = new NumericWire(column.type());
    this.decimal = column.type().wire() == Wire.NUMERIC;
    this.width = type.getTypeLength();
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
      if (decimal) {
        numeric.decodeWide(data, place, length);
        observe(numeric.high(), numeric.low());
        int start = bytes.extend(width);
        store(numeric.high(), numeric.low(), bytes.array(), start);
      } else {
        WireFormat.check(Wire.UUID, length, width);
        observe(
            (long) Batch.LONG_BE.get(data, place),
            (long) Batch.LONG_BE.get(data, place + Long.BYTES));
        bytes.put(data, place, width);
      }
      addPresent();
    }
  }

  private void observe(long high, long low) {
    boolean first = values() == 0;
    if (first || compare(high, low, minHigh, minLow) < 0) {
      minHigh = high;
      minLow = low;
    }
    if (first || compare(high, low, maxHigh, maxLow) > 0) {
      maxHigh = high;
      maxLow = low;
    }
  }

  private int compare(long high, long low, long otherHigh, long otherLow) {
    int order = decimal ? Long.compare(high, otherHigh) : Long.compareUnsigned(high, otherHigh);
    return order != 0 ? order : Long.compareUnsigned(low, otherLow);
  }

  /** Stores the last bytes of a 128-bit number, the most significant first. */
  private void store(long high, long low, byte[] target, int start) {
    for (int i = width - 1; i >= 0; i--) {
      int shift = (width - 1 - i) * Byte.SIZE;
      target[start + i] = (byte) (shift < Long.SIZE ? low >>> shift : high >>> (shift - Long.SIZE));
    }
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
    statistics.updateStats(binary(minHigh, minLow));
    statistics.updateStats(binary(maxHigh, maxLow));
  }

  private Binary binary(long high, long low) {
    byte[] value = new byte[width];
    store(high, low, value, 0);
    return Binary.fromConstantByteArray(value);
  }

  @Override
  void clear() {
    bytes.clear();
  }
}
