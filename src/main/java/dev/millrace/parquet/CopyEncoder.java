package dev.millrace.parquet;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Column;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.compression.CompressionCodecFactory.BytesInputCompressor;
import org.apache.parquet.hadoop.ColumnChunkPageWriteStore;
import org.apache.parquet.schema.PrimitiveType;

/**
 * Turns <a href="https://www.postgresql.org/docs/current/sql-copy.html#id-1.9.55.9.4.6">binary
 * COPYs</a>, one after the other, into row groups of a {@link ParquetTable}, with no object per
 * row: the stream is cut into batches whose fields are noted where they lie, then each column takes
 * its values of the batch in a loop of its own.
 *
 * <p>Memory is bounded by a row group's compressed pages, the rows of a segment, and the largest
 * row. Used by one thread.
 */
public final class CopyEncoder {
  private static final byte[] SIGNATURE = {
    'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0
  };
  private static final int HEADER = SIGNATURE.length + 2 * Integer.BYTES;
  private static final int CRITICAL_FLAGS = 0xffff0000;
  private static final int TRAILER = -1;

  private static final int WINDOW = 256 << 10;

  /**
   * A segment ends after so many rows, or bytes of the stream; with it the pages of all columns.
   */
  private static final int SEGMENT_ROWS = 20_000;

  private static final long SEGMENT_BYTES = 16L << 20;

  private final ParquetTable table;
  private final List<Column> columns;
  private final int keyColumn;
  private final List<ColumnDescriptor> descriptors;
  private final BytesInputCompressor compressor;
  private final List<ColumnPages> pages = new ArrayList<>();
  private final PageMemory memory = new PageMemory();
  private final Batch batch;
  private final IntConsumer ids;

  private ColumnChunkPageWriteStore store;
  private byte[] window = new byte[WINDOW];
  private int filled;
  private State state = State.BEFORE;
  private long rows;
  private long rowGroupRows;
  private int segmentRows;
  private long segmentBytes;

  private enum State {
    BEFORE,
    HEADER,
    ROWS,
    ENDED
  }

  CopyEncoder(
      ParquetTable table, List<Column> columns, int keyColumn, FileFormat format, IntConsumer ids) {
    this.table = table;
    this.columns = columns;
    this.keyColumn = keyColumn;
    this.descriptors = table.schema().getColumns();
    this.compressor = compressor(format);
    this.ids = ids;
    this.batch = new Batch(columns.size() + (ids == null ? 0 : 1));
    PageBuffer page = new PageBuffer(WINDOW);
    DeltaBinaryPacked packer = new DeltaBinaryPacked();
    for (int i = 0; i < columns.size(); i++) {
      PrimitiveType type = descriptors.get(i).getPrimitiveType();
      pages.add(pages(columns.get(i), type, page, packer));
    }
    startRowGroup();
  }

  private static BytesInputCompressor compressor(FileFormat format) {
    return switch (format.compression()) {
      case ZSTD -> new ZstdCompressor(format.zstdLevel());
      case SNAPPY -> new SnappyCompressor();
      case NONE -> new NoCompressor();
    };
  }

  static ColumnPages pages(
      Column column, PrimitiveType type, PageBuffer page, DeltaBinaryPacked packer) {
    ColumnPages values = values(column, type, page, packer);
    return column.type().isArray() ? new ListPages(column, type, page, values) : values;
  }

  private static ColumnPages values(
      Column column, PrimitiveType type, PageBuffer page, DeltaBinaryPacked packer) {
    return switch (type.getPrimitiveTypeName()) {
      case INT32 -> new IntPages(column, type, page, packer);
      case INT64 -> new LongPages(column, type, page, packer);
      case FLOAT, DOUBLE -> new FloatPages(column, type, page);
      case BOOLEAN -> new BooleanPages(column, type, page);
      case BINARY -> new BinaryPages(column, type, page);
      case FIXED_LEN_BYTE_ARRAY -> new FixedPages(column, type, page);
      case INT96 -> throw new IllegalStateException("INT96 is written nowhere");
    };
  }

  /** Expects the header of the first COPY, or of another one. */
  public void start() {
    if (state != State.BEFORE) {
      requireEnded();
    }
    state = State.HEADER;
  }

  /**
   * Takes the next bytes of the COPY, header and trailer included, cut at any position.
   *
   * @throws MillraceException with {@code VALUE_OUT_OF_RANGE} that names column and key, when a
   *     value has no place in its Parquet type
   */
  public void accept(byte[] data, int offset, int length) {
    int from = offset;
    int end = offset + length;
    try {
      while (from < end) {
        if (filled == window.length) {
          // One row is larger than the window.
          window = Arrays.copyOf(window, larger(window.length));
        }
        int count = Math.min(end - from, window.length - filled);
        System.arraycopy(data, from, window, filled, count);
        filled += count;
        from += count;
        consume();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static int larger(int capacity) {
    if (capacity == Integer.MAX_VALUE - 16) {
      throw new IllegalStateException("a row of more than 2 GiB");
    }
    return (int) Math.min(Integer.MAX_VALUE - 16L, capacity * 2L);
  }

  /** Encodes all rows that are complete, and keeps the rest. */
  private void consume() throws IOException {
    int position = state == State.HEADER ? header() : 0;
    int last = -1;
    while (state == State.ROWS && position != last) {
      last = position;
      position = rows(position);
    }
    if (state != State.HEADER && state != State.ROWS && position < filled) {
      throw new IllegalStateException("bytes before or after a COPY");
    }
    System.arraycopy(window, position, window, 0, filled - position);
    filled -= position;
  }

  private int header() {
    if (filled < HEADER) {
      return 0;
    }
    if (!Arrays.equals(window, 0, SIGNATURE.length, SIGNATURE, 0, SIGNATURE.length)) {
      throw new IllegalStateException("not the header of a binary COPY");
    }
    int flags = (int) Batch.INT_BE.get(window, SIGNATURE.length);
    int extension = (int) Batch.INT_BE.get(window, SIGNATURE.length + Integer.BYTES);
    if ((flags & CRITICAL_FLAGS) != 0 || extension != 0) {
      throw new IllegalStateException("a binary COPY of an unknown kind, flags " + flags);
    }
    state = State.ROWS;
    return HEADER;
  }

  /**
   * Encodes a batch of rows.
   *
   * @return the position behind them
   */
  private int rows(int from) throws IOException {
    batch.start(window);
    int position = from;
    while (!batch.isFull() && !segmentIsFull() && filled - position >= Short.BYTES) {
      int fields = (short) Batch.SHORT_BE.get(window, position);
      if (fields == TRAILER) {
        state = State.ENDED;
        position += Short.BYTES;
        break;
      }
      if (fields != batch.columns()) {
        throw new IllegalStateException(
            "a row of %d fields instead of %d".formatted(fields, batch.columns()));
      }
      int next = batch.scan(position + Short.BYTES, filled);
      if (next < 0) {
        break;
      }
      segmentRows++;
      segmentBytes += next - position;
      position = next;
    }
    encode();
    if (segmentIsFull()) {
      endSegment();
    }
    return position;
  }

  private boolean segmentIsFull() {
    return segmentRows == SEGMENT_ROWS || segmentBytes >= SEGMENT_BYTES;
  }

  private void encode() throws IOException {
    for (int i = 0; i < columns.size(); i++) {
      try {
        pages.get(i).add(batch, i, 0, batch.rows());
      } catch (ColumnPages.RowException e) {
        throw refused(columns.get(i), e);
      }
    }
    if (ids != null) {
      noteIds();
    }
    rows += batch.rows();
    rowGroupRows += batch.rows();
    table.count(batch.rows());
  }

  /** Encoders of a file share who is told. */
  private void noteIds() {
    synchronized (ids) {
      for (int row = 0; row < batch.rows(); row++) {
        ids.accept((int) Batch.INT_BE.get(window, batch.place(columns.size(), row)));
      }
    }
  }

  private MillraceException refused(Column column, ColumnPages.RowException failure) {
    return new MillraceException(
        ErrorCode.VALUE_OUT_OF_RANGE,
        "the value of column \"%s\" (%s) in the row %s %s; %s"
            .formatted(
                column.name(),
                column.type().declared(),
                key(failure.row()),
                failure.getMessage(),
                failure.remedy()),
        failure);
  }

  private String key(int row) {
    if (keyColumn < 0) {
      return "number %d of the query".formatted(rows + row + 1);
    }
    Column key = columns.get(keyColumn);
    int place = batch.place(keyColumn, row);
    String value =
        place == Batch.NULL
            ? "NULL"
            : WireFormat.show(key.type(), window, place, batch.length(place));
    return "with \"%s\" = %s".formatted(key.name(), value);
  }

  private void endSegment() throws IOException {
    long buffered = 0;
    for (int i = 0; i < columns.size(); i++) {
      pages.get(i).cut();
      buffered += store.getPageWriter(descriptors.get(i)).getMemSize();
    }
    segmentRows = 0;
    segmentBytes = 0;
    if (buffered >= table.rowGroupBytes()) {
      endRowGroup();
      startRowGroup();
    }
  }

  private void startRowGroup() {
    store =
        new ColumnChunkPageWriteStore(
            compressor, table.schema(), memory, ParquetTable.INDEX_VALUE_BYTES, true);
    for (int i = 0; i < descriptors.size(); i++) {
      pages.get(i).writeTo(store.getPageWriter(descriptors.get(i)));
    }
    rowGroupRows = 0;
  }

  private void endRowGroup() throws IOException {
    table.append(store, rowGroupRows);
    store.close();
    memory.clear();
  }

  private void requireEnded() {
    if (state != State.ENDED) {
      throw new MillraceException(
          ErrorCode.AUDIT_FAILED,
          "the COPY stopped after %d rows without its trailer, so rows may be missing"
              .formatted(rows));
    }
  }

  /** Writes the last row group; nothing where no COPY was started. */
  void finish() throws IOException {
    if (state == State.BEFORE) {
      return;
    }
    requireEnded();
    endSegment();
    if (rowGroupRows > 0) {
      endRowGroup();
    }
  }

  /** Returns what rules have replaced so far. */
  List<ReplacedValues> replaced() {
    return pages.stream().flatMap(each -> each.replaced().stream()).toList();
  }

  /** Frees memory. */
  void close() {
    store.close();
    compressor.release();
  }
}
