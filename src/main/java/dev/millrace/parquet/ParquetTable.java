package dev.millrace.parquet;

import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Column;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;
import org.apache.parquet.hadoop.ColumnChunkPageWriteStore;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.ParquetFileWriter.Mode;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.schema.MessageType;

/**
 * One Parquet file, filled by one {@link CopyEncoder} or by several at a time, each of which brings
 * whole row groups.
 *
 * <p>With one encoder the file depends on the rows only, not on how the stream was cut; with
 * several, row groups come as they fill. Encoders may be on threads of their own; the rest is for
 * the thread that made the file, save {@link #rows}.
 */
public final class ParquetTable implements AutoCloseable {
  static final int INDEX_VALUE_BYTES = 64;

  /** Row groups of several encoders are not made smaller than this, in bytes. */
  private static final long LEAST_SHARE = 4L << 20;

  private final List<Column> columns;
  private final int keyColumn;
  private final Map<String, String> metadata;
  private final FileFormat format;
  private final MessageType schema;
  private final SinkFile file;
  private final ParquetFileWriter writer;
  private final IntConsumer ids;
  private final List<CopyEncoder> encoders = new ArrayList<>();
  private final AtomicLong rows = new AtomicLong();

  // Encoders read it on their threads while more of them are made.
  private volatile long rowGroupBytes;
  private boolean closed;

  /** Where the file's bytes go, in order. */
  @FunctionalInterface
  public interface Sink {
    /**
     * Takes bytes.
     *
     * @param bytes from position to limit, only valid during the call
     */
    void write(ByteBuffer bytes);
  }

  /** Starts a file in the default format. */
  public ParquetTable(
      List<Column> columns, int keyColumn, Map<String, String> metadata, Sink sink) {
    this(columns, keyColumn, metadata, FileFormat.DEFAULT, sink);
  }

  /**
   * Starts a file.
   *
   * @param columns the fields of a row, in their order; at least one
   * @param keyColumn index of the column that names a row in a failure, -1 for none
   * @param metadata goes into the footer as it is
   * @param format how it is compressed and cut
   * @param sink where the file goes; it is not closed
   */
  public ParquetTable(
      List<Column> columns,
      int keyColumn,
      Map<String, String> metadata,
      FileFormat format,
      Sink sink) {
    this(columns, keyColumn, metadata, format, sink, null);
  }

  /**
   * Starts a file whose rows come with one field more: the transaction that wrote the row ({@code
   * xmin}), which does not go into the file.
   *
   * @param ids gets the 32 bits of each row's transaction; null when there is no such field
   */
  public ParquetTable(
      List<Column> columns,
      int keyColumn,
      Map<String, String> metadata,
      FileFormat format,
      Sink sink,
      IntConsumer ids) {
    if (columns.isEmpty()) {
      throw new IllegalArgumentException("no columns");
    }
    this.columns = List.copyOf(columns);
    this.keyColumn = keyColumn;
    this.metadata = Map.copyOf(metadata);
    this.format = format;
    this.schema = ParquetSchema.of(columns);
    this.file = new SinkFile(sink);
    this.ids = ids;
    try {
      writer =
          new ParquetFileWriter(
              file,
              schema,
              Mode.CREATE,
              Long.MAX_VALUE,
              0,
              INDEX_VALUE_BYTES,
              Integer.MAX_VALUE,
              true);
      writer.start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Makes one more encoder for the file's rows. Encoders share the memory of one row group, so
   * their row groups get smaller the more there are.
   */
  public CopyEncoder encoder() {
    CopyEncoder encoder = new CopyEncoder(this, columns, keyColumn, format, ids);
    encoders.add(encoder);
    long whole = format.rowGroupBytes();
    rowGroupBytes = Math.max(whole / encoders.size(), Math.min(whole, LEAST_SHARE));
    return encoder;
  }

  MessageType schema() {
    return schema;
  }

  /** Compressed bytes at which an encoder ends its row group. */
  long rowGroupBytes() {
    return rowGroupBytes;
  }

  /** Returns the number of rows encoded so far; any thread may ask. */
  public long rows() {
    return rows.get();
  }

  void count(int encoded) {
    rows.addAndGet(encoded);
  }

  /** Writes a row group; encoders wait for each other here. */
  synchronized void append(ColumnChunkPageWriteStore store, long rowGroupRows) throws IOException {
    writer.startBlock(rowGroupRows);
    store.flushToFileWriter(writer);
    writer.endBlock();
  }

  /**
   * Ends the file, when no encoder is at work any more: the last row groups and the footer have
   * gone to the sink on return.
   *
   * @throws MillraceException with {@code AUDIT_FAILED} when a stream has not come to its end
   */
  public ParquetSummary finish() {
    try {
      for (CopyEncoder encoder : encoders) {
        encoder.finish();
      }
      end();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    long rowsInFooter =
        writer.getFooter().getBlocks().stream().mapToLong(BlockMetaData::getRowCount).sum();
    return new ParquetSummary(
        rows(),
        rowsInFooter,
        file.position(),
        ReplacedValues.sum(
            encoders.stream().flatMap(encoder -> encoder.replaced().stream()).toList()));
  }

  private synchronized void end() throws IOException {
    writer.end(metadata);
    file.flush();
  }

  /** Frees memory; before {@link #finish} has returned, the file is left without its end. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    file.abandon();
    encoders.forEach(CopyEncoder::close);
    try {
      writer.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
