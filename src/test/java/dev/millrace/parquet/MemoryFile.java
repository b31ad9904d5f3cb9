package dev.millrace.parquet;

import dev.millrace.testing.ZstdReading;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ParquetMetadata;
import org.apache.parquet.internal.column.columnindex.OffsetIndex;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.io.SeekableInputStream;
import org.apache.parquet.schema.MessageType;

/** A Parquet file in memory: what our writer writes and parquet-java's readers read. */
final class MemoryFile implements ParquetTable.Sink, InputFile {
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();

  @Override
  public void write(ByteBuffer bytes) {
    byte[] copy = new byte[bytes.remaining()];
    bytes.get(copy);
    written.writeBytes(copy);
  }

  byte[] bytes() {
    return written.toByteArray();
  }

  ParquetFileReader open() throws IOException {
    return ParquetFileReader.open(
        this,
        ParquetReadOptions.builder(new PlainParquetConfiguration())
            .withCodecFactory(new ZstdReading())
            .usePageChecksumVerification()
            .build());
  }

  ParquetMetadata footer() {
    try (ParquetFileReader reader = open()) {
      return reader.getFooter();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the number of rows of each page of a column in the first row group. */
  List<Long> pages(int column) {
    try (ParquetFileReader reader = open()) {
      BlockMetaData block = reader.getFooter().getBlocks().get(0);
      OffsetIndex index = reader.readOffsetIndex(block.getColumns().get(column));
      List<Long> rows = new ArrayList<>();
      for (int page = 0; page < index.getPageCount(); page++) {
        rows.add(
            index.getLastRowIndex(page, block.getRowCount()) - index.getFirstRowIndex(page) + 1);
      }
      return rows;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  List<Group> read() {
    List<Group> rows = new ArrayList<>();
    try (ParquetFileReader reader = open()) {
      MessageType schema = reader.getFileMetaData().getSchema();
      for (PageReadStore group = reader.readNextRowGroup();
          group != null;
          group = reader.readNextRowGroup()) {
        RecordReader<Group> records =
            new ColumnIOFactory()
                .getColumnIO(schema)
                .getRecordReader(group, new GroupRecordConverter(schema));
        for (long i = 0; i < group.getRowCount(); i++) {
          rows.add(records.read());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return rows;
  }

  @Override
  public long getLength() {
    return written.size();
  }

  @Override
  public SeekableInputStream newStream() {
    return new Stream(ByteBuffer.wrap(bytes()));
  }

  private static final class Stream extends SeekableInputStream {
    private final ByteBuffer data;

    private Stream(ByteBuffer data) {
      this.data = data;
    }

    @Override
    public long getPos() {
      return data.position();
    }

    @Override
    public void seek(long position) {
      data.position(Math.toIntExact(position));
    }

    @Override
    public int read() {
      return data.hasRemaining() ? data.get() & 0xff : -1;
    }

    @Override
    public int read(byte[] target, int offset, int length) {
      int count = Math.min(length, data.remaining());
      data.get(target, offset, count);
      return count == 0 && length > 0 ? -1 : count;
    }

    @Override
    public void readFully(byte[] target) throws IOException {
      readFully(target, 0, target.length);
    }

    @Override
    public void readFully(byte[] target, int offset, int length) throws IOException {
      if (length > data.remaining()) {
        throw new EOFException();
      }
      data.get(target, offset, length);
    }

    @Override
    public int read(ByteBuffer target) {
      int count = Math.min(target.remaining(), data.remaining());
      for (int i = 0; i < count; i++) {
        target.put(data.get());
      }
      return count;
    }

    @Override
    public void readFully(ByteBuffer target) throws IOException {
      if (target.remaining() > data.remaining()) {
        throw new EOFException();
      }
      read(target);
    }
  }
}
