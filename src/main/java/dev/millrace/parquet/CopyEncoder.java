package dev.millrace.parquet;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.BinaryCopy;
import dev.millrace.postgres.Column;
import java.io.IOException;
import java.util.ArrayList;
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
  private static final int WINDOW = 256 << 10;

  /**
   * A segment ends after so many rows, or bytes of the stream; with it the pages of all columns.
   */
  private static final int SEGMENT_ROWS = 20_000;

  private static final long SEGMENT_BYTES = 16L << 20;

  private final ParquetTable table;
  private final BinaryCopy copy;
  private final List<Column> columns;
  private final int keyColumn;
  private final List<ColumnDescriptor> descriptors;
  private final BytesInputCompressor compressor;
  private final List<ColumnPages> pages = new ArrayList<>();
  private final PageMemory memory = new PageMemory();
  private final Batch batch;
  private final IntConsumer ids;

  private ColumnChunkPageWriteStore store;
  private long rows;
  private long rowGroupRows;
  private int segmentRows;
  private long segmentBytes;

  CopyEncoder(
      ParquetTable table, List<Column> columns, int keyColumn, FileFormat format, IntConsumer ids) {
    this.table = table;
    this.columns = columns;
    this.keyColumn = keyColumn;
    this.descriptors = table.schema().getColumns();
    this.compressor = compressor(format);
    this.ids = ids;
    this.batch = new Batch(columns.size() + (ids == null ? 0 : 1));
    this.copy = new BinaryCopy(WINDOW, batch.columns(), this::take);
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
    if (copy.started()) {
      copy.requireEnded(rows);
    }
    copy.start();
  }

  /**
   * Takes the next bytes of the COPY, header and trailer included, cut at any position.
   *
   * @throws MillraceException with {@code VALUE_OUT_OF_RANGE} that names column and key, when a
   *     value has no place in its Parquet type
   */
  public void accept(byte[] data, int offset, int length) {
    copy.accept(data, offset, length);
  }

  /** Encodes a batch of rows. */
  private int take(byte[] data, int from, int end) throws IOException {
    batch.start(data);
    int position = from;
    while (!batch.isFull() && !segmentIsFull() && copy.isRow(data, position, end)) {
      int next = batch.scan(position + Short.BYTES, end);
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
        ids.accept((int) Batch.INT_BE.get(batch.data(), batch.place(columns.size(), row)));
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
            : WireFormat.show(key.type(), batch.data(), place, batch.length(place));
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

  /** Writes the last row group; nothing where no COPY was started. */
  void finish() throws IOException {
    if (!copy.started()) {
      return;
    }
    copy.requireEnded(rows);
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
