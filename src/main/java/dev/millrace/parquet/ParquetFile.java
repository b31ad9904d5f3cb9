package dev.millrace.parquet;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.bytes.HeapByteBufferAllocator;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ParquetMetadata;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.io.SeekableInputStream;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.Type;

/**
 * Reads files back by parquet-java's record reader, which shares no code with {@link ParquetTable}.
 *
 * <p>Stateless.
 */
public final class ParquetFile {
  private ParquetFile() {}

  /**
   * What a footer declares.
   *
   * @param rows sum of the row groups' rows
   * @param rowGroups number of row groups
   * @param columns the columns, in their order
   * @param forms how their values are compared; nothing for a column of a type that Millrace does
   *     not write
   * @param metadata the pairs of key and value
   */
  public record Footer(
      long rows,
      int rowGroups,
      List<FileColumn> columns,
      List<Optional<Form>> forms,
      Map<String, String> metadata) {}

  /** Reads parts of a file. */
  @FunctionalInterface
  public interface Ranges {
    /** Returns so many bytes from an offset on. */
    byte[] read(long offset, int length) throws IOException;
  }

  /** Gets rows. */
  @FunctionalInterface
  public interface Rows {
    /**
     * Takes a row.
     *
     * @param values one for each column, in the file's order; valid during the call
     */
    void accept(Values values) throws IOException;
  }

  /**
   * Reads a footer.
   *
   * @param length of the file, in bytes
   * @throws IOException when it is no Parquet file, besides those of the ranges
   */
  public static Footer footer(long length, Ranges ranges) throws IOException {
    try (ParquetFileReader reader =
        ParquetFileReader.open(new RangedFile(length, ranges), options())) {
      return footer(reader.getFooter());
    } catch (RuntimeException failure) {
      throw new IOException(said(failure), failure);
    }
  }

  private static Footer footer(ParquetMetadata metadata) {
    MessageType schema = metadata.getFileMetaData().getSchema();
    return new Footer(
        metadata.getBlocks().stream().mapToLong(BlockMetaData::getRowCount).sum(),
        metadata.getBlocks().size(),
        FileColumn.of(schema),
        schema.getFields().stream().map(Form::of).toList(),
        metadata.getFileMetaData().getKeyValueMetaData());
  }

  /**
   * Reads all rows; the values of columns that have no {@link Form} come as NULL.
   *
   * @return their number
   * @throws IOException when it can't be read, or its pages' checksums are wrong
   */
  public static long rows(Path path, Rows rows) throws IOException {
    try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(path), options())) {
      MessageType schema = reader.getFileMetaData().getSchema();
      List<Boolean> known =
          schema.getFields().stream().map(type -> Form.of(type).isPresent()).toList();
      Values values = new Values();
      long count = 0;
      for (PageReadStore group = reader.readNextRowGroup();
          group != null;
          group = reader.readNextRowGroup()) {
        RecordReader<Group> records =
            new ColumnIOFactory()
                .getColumnIO(schema)
                .getRecordReader(group, new GroupRecordConverter(schema));
        for (long row = 0; row < group.getRowCount(); row++) {
          Group record = records.read();
          values.clear();
          for (int field = 0; field < schema.getFieldCount(); field++) {
            values.column();
            if (known.get(field)) {
              put(schema.getType(field), record, field, values);
            } else {
              values.putNull();
            }
          }
          rows.accept(values);
          count++;
        }
      }
      return count;
    } catch (RuntimeException failure) {
      throw new IOException(said(failure), failure);
    }
  }

  private static String said(RuntimeException failure) {
    return failure.getMessage() == null ? failure.toString() : failure.getMessage();
  }

  private static ParquetReadOptions options() {
    return ParquetReadOptions.builder(new PlainParquetConfiguration())
        .withCodecFactory(new Decompression())
        .withAllocator(HeapByteBufferAllocator.getInstance())
        .usePageChecksumVerification(true)
        .build();
  }

  private static void put(Type type, Group parent, int field, Values values) {
    if (parent.getFieldRepetitionCount(field) == 0) {
      values.putNull();
      return;
    }
    if (type.isPrimitive()) {
      put(type.asPrimitiveType(), parent, field, values);
      return;
    }
    GroupType list = type.asGroupType();
    Group elements = parent.getGroup(field, 0);
    int count = elements.getFieldRepetitionCount(0);
    values.putList(count);
    for (int i = 0; i < count; i++) {
      put(FileColumn.element(list), elements.getGroup(0, i), 0, values);
    }
  }

  private static void put(PrimitiveType type, Group group, int field, Values values) {
    Form form =
        Form.of(type)
            .orElseThrow(() -> new IllegalStateException("Millrace does not write " + type));
    switch (form.kind()) {
      case NUMBER -> values.putNumber(number(type, group, field));
      case FLOAT -> values.putFloat(group.getFloat(field, 0));
      case DOUBLE -> values.putDouble(group.getDouble(field, 0));
      case BOOLEAN -> values.putBoolean(group.getBoolean(field, 0));
      case TEXT, BYTES, UUID -> {
        byte[] bytes = group.getBinary(field, 0).getBytesUnsafe();
        values.putBytes(bytes, 0, bytes.length);
      }
      case DATE -> values.putLong(group.getInteger(field, 0));
      case TIME, TIMESTAMP -> values.putLong(group.getLong(field, 0));
    }
  }

  private static String number(PrimitiveType type, Group group, int field) {
    int scale =
        type.getLogicalTypeAnnotation() instanceof DecimalLogicalTypeAnnotation decimal
            ? decimal.getScale()
            : 0;
    return switch (type.getPrimitiveTypeName()) {
      case INT32 -> number(group.getInteger(field, 0), scale);
      case INT64 -> number(group.getLong(field, 0), scale);
      case BINARY, FIXED_LEN_BYTE_ARRAY ->
          new BigDecimal(new BigInteger(group.getBinary(field, 0).getBytesUnsafe()), scale)
              .toPlainString();
      case BOOLEAN, FLOAT, DOUBLE, INT96 -> throw new IllegalStateException("no number: " + type);
    };
  }

  private static String number(long unscaled, int scale) {
    return scale == 0
        ? Long.toString(unscaled)
        : BigDecimal.valueOf(unscaled, scale).toPlainString();
  }

  /** A file of which parts can be asked for. */
  private record RangedFile(long length, Ranges ranges) implements InputFile {
    @Override
    public long getLength() {
      return length;
    }

    @Override
    public SeekableInputStream newStream() {
      return new RangedStream(length, ranges);
    }
  }

  /** Asks for a block at a time, the last ones of the file at once: a footer is at its end. */
  private static final class RangedStream extends SeekableInputStream {
    private static final int BLOCK = 64 << 10;

    private final long length;
    private final Ranges ranges;
    private long position;
    private long blockStart;
    private byte[] block = new byte[0];

    private RangedStream(long length, Ranges ranges) {
      this.length = length;
      this.ranges = ranges;
    }

    @Override
    public long getPos() {
      return position;
    }

    @Override
    public void seek(long newPosition) {
      position = newPosition;
    }

    @Override
    public int read() throws IOException {
      if (position >= length) {
        return -1;
      }
      fill(1);
      return block[(int) (position++ - blockStart)] & 0xff;
    }

    @Override
    public int read(byte[] target, int offset, int wanted) throws IOException {
      if (position >= length) {
        return -1;
      }
      int count = (int) Math.min(wanted, length - position);
      fill(count);
      System.arraycopy(block, (int) (position - blockStart), target, offset, count);
      position += count;
      return count;
    }

    private void fill(int count) throws IOException {
      if (position >= blockStart && position + count <= blockStart + block.length) {
        return;
      }
      long start = Math.min(position, Math.max(0, length - BLOCK));
      int size = (int) Math.min(length - start, Math.max(position + count - start, BLOCK));
      block = ranges.read(start, size);
      blockStart = start;
    }

    @Override
    public void readFully(byte[] target) throws IOException {
      readFully(target, 0, target.length);
    }

    @Override
    public void readFully(byte[] target, int start, int wanted) throws IOException {
      if (wanted > 0 && read(target, start, wanted) < wanted) {
        throw new IOException("the file ends before byte " + (position + wanted));
      }
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
      byte[] bytes = new byte[target.remaining()];
      int count = read(bytes, 0, bytes.length);
      if (count > 0) {
        target.put(bytes, 0, count);
      }
      return count;
    }

    @Override
    public void readFully(ByteBuffer target) throws IOException {
      byte[] bytes = new byte[target.remaining()];
      readFully(bytes);
      target.put(bytes);
    }
  }
}
