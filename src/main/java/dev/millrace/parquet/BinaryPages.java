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
  private final int pageBytes;
  // How the least and the greatest value of the page begin, and where they lie in its bytes.
  private long minPrefix;
  private int minStart;
  private int minEnd;
  private long maxPrefix;
  private int maxStart;
  private int maxEnd;

  BinaryPages(Column column, PrimitiveType type, PageBuffer page) {
    super(column, type, page);
    this.text = column.type().wire() != Wire.BYTEA;
    this.jsonb = column.type().wire() == Wire.JSONB;
    // A page of lists ends with a row, for which the list sees.
    this.pageBytes = column.type().isArray() ? Integer.MAX_VALUE : PAGE_BYTES;
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
    long prefix = prefix(data, place, length);
    if (text && !Utf8.isValid(prefix, data, place, length)) {
      throw new ValueException("is not UTF-8 text");
    }
    if (bytes.size() > pageBytes - Integer.BYTES - length) {
      cut();
    }
    int start = bytes.extend(Integer.BYTES + length) + Integer.BYTES;
    byte[] array = bytes.array();
    PageBuffer.INT_LE.set(array, start - Integer.BYTES, length);
    System.arraycopy(data, place, array, start, length);
    observe(prefix, start, start + length);
  }

  /** Returns the first 8 bytes, filled up with zeros; ordered as the values where they differ. */
  static long prefix(byte[] data, int place, int length) {
    if (length == 0) {
      return 0;
    }
    int beyond = Byte.SIZE * Math.max(0, Long.BYTES - length);
    if (place <= data.length - Long.BYTES) {
      return (long) Batch.LONG_BE.get(data, place) >>> beyond << beyond;
    }
    long prefix = 0;
    for (int i = 0; i < Math.min(length, Long.BYTES); i++) {
      prefix |= (data[place + i] & 0xffL) << (Long.SIZE - Byte.SIZE * (i + 1));
    }
    return prefix;
  }

  private void observe(long prefix, int start, int end) {
    boolean first = values() == 0;
    byte[] array = bytes.array();
    if (first
        || (Long.compareUnsigned(prefix, minPrefix) <= 0
            && Arrays.compareUnsigned(array, start, end, array, minStart, minEnd) < 0)) {
      minPrefix = prefix;
      minStart = start;
      minEnd = end;
    }
    if (first
        || (Long.compareUnsigned(prefix, maxPrefix) >= 0
            && Arrays.compareUnsigned(array, start, end, array, maxStart, maxEnd) > 0)) {
      maxPrefix = prefix;
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
