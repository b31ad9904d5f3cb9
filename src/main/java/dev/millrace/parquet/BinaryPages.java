package dev.millrace.parquet;

import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnType.Wire;
import java.io.IOException;
import java.util.Arrays;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.PrimitiveType;

/** A column of BYTE_ARRAY: text of all kinds, and bytea. Not thread-safe. */
final class BinaryPages extends ColumnPages {
  /** A page is cut before a value that would make it longer, in bytes. */
  private static final int PAGE_BYTES = 1 << 20;

  private static final int JSONB_VERSION = 1;

  private final PageBuffer bytes = new PageBuffer(1024);
  private final boolean text;
  private final boolean jsonb;
  // Where the least and the greatest value of the page lie in its bytes.
  private int minStart;
  private int minEnd;
  private int maxStart;
  private int maxEnd;

  BinaryPages(Column column, PrimitiveType type, PageBuffer page) {
    super(column, type, page);
    this.text = column.type().wire() != Wire.BYTEA;
    this.jsonb = column.type().wire() == Wire.JSONB;
  }

  @Override
  void addAll(Batch batch, int index, int from, int to) throws IOException {
    byte[] data = batch.data();
    for (int row = from; row < to; row++) {
      int place = batch.place(index, row);
      if (place == Batch.NULL) {
        addNull();
        continue;
      }
      int length = batch.length(place);
      if (jsonb) {
        checkVersion(data, place, length);
        addValue(data, place + 1, length - 1);
      } else {
        addValue(data, place, length);
      }
      addPresent();
    }
  }

  private static void checkVersion(byte[] data, int place, int length) {
    if (length < 1 || data[place] != JSONB_VERSION) {
      throw new IllegalStateException("a jsonb of another version than " + JSONB_VERSION);
    }
  }

  private void addValue(byte[] data, int place, int length) throws IOException {
    if (text && !Utf8.isValid(data, place, length)) {
      throw new ValueException("is not UTF-8 text");
    }
    if (bytes.size() > PAGE_BYTES - Integer.BYTES - length) {
      cut();
    }
    bytes.putInt(length);
    int start = bytes.extend(length);
    System.arraycopy(data, place, bytes.array(), start, length);
    observe(start, start + length);
  }

  private void observe(int start, int end) {
    byte[] array = bytes.array();
    boolean first = values() == 0;
    if (first || Arrays.compareUnsigned(array, start, end, array, minStart, minEnd) < 0) {
      minStart = start;
      minEnd = end;
    }
    if (first || Arrays.compareUnsigned(array, start, end, array, maxStart, maxEnd) > 0) {
      maxStart = start;
      maxEnd = end;
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
  long unencodedBytes() {
    return bytes.size() - (long) Integer.BYTES * values();
  }

  @Override
  void updateStatistics(Statistics<?> statistics) {
    byte[] array = bytes.array();
    statistics.updateStats(
        Binary.fromConstantByteArray(Arrays.copyOfRange(array, minStart, minEnd)));
    statistics.updateStats(
        Binary.fromConstantByteArray(Arrays.copyOfRange(array, maxStart, maxEnd)));
  }

  @Override
  void clear() {
    bytes.clear();
  }
}
