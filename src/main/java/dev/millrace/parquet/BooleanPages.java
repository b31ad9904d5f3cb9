package dev.millrace.parquet;

import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnType.Wire;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.schema.PrimitiveType;

/**
 * A column of BOOLEAN: one bit for each value, the least significant one first. Not thread-safe.
 */
final class BooleanPages extends ColumnPages {
  private final PageBuffer bits = new PageBuffer(128);
  private int trues;

  BooleanPages(Column column, PrimitiveType type, PageBuffer page) {
    super(column, type, page);
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
      WireFormat.check(Wire.BOOL, batch.length(place), 1);
      int bit = values() & 7;
      if (bit == 0) {
        bits.putByte(0);
      }
      if (data[place] != 0) {
        bits.array()[bits.size() - 1] |= (byte) (1 << bit);
        trues++;
      }
      addPresent();
    }
  }

  @Override
  void putValues(PageBuffer out) {
    out.put(bits);
  }

  @Override
  Encoding encoding() {
    return Encoding.PLAIN;
  }

  @Override
  void updateStatistics(Statistics<?> statistics) {
    statistics.updateStats(trues == values());
    statistics.updateStats(trues > 0);
  }

  @Override
  void clear() {
    bits.clear();
    trues = 0;
  }
}
