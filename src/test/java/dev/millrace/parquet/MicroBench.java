package dev.millrace.parquet;

import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnType;
import dev.millrace.postgres.ColumnType.Wire;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.parquet.schema.PrimitiveType;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a value costs on its way from the wire to the page, in nanoseconds: {@code bench/micro}, not
 * a test.
 *
 * <p>The rows are the same in each run, so a change of the code is all that shows.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
public class MicroBench {
  /** As many as a batch has. */
  static final int ROWS = 4096;

  private static final int FILE_ROWS = 20_000;
  private static final int HEADER = 19;
  private static final long SEED = 6;

  /** A column of each encoder and of each decoder before it. */
  public enum Kind {
    INT4(Wire.INT4),
    INT8(Wire.INT8),
    DATE(Wire.DATE),
    TIMESTAMPTZ(Wire.TIMESTAMPTZ),
    NUMERIC_12(Wire.NUMERIC, 12, 2),
    NUMERIC_30(Wire.NUMERIC, 30, 4),
    BOOL(Wire.BOOL),
    FLOAT8(Wire.FLOAT8),
    UUID(Wire.UUID),
    TEXT(Wire.TEXT),
    TEXT_NULLS(Wire.TEXT),
    JSONB(Wire.JSONB),
    BYTEA(Wire.BYTEA),
    INT4_ARRAY(new ColumnType(Wire.INT4, 0, 0, 1, "integer[]"));

    // A record of an enum, numbers and text.
    @SuppressWarnings("ImmutableEnumChecker")
    private final ColumnType type;

    Kind(Wire wire) {
      this(wire, 0, 0);
    }

    Kind(Wire wire, int precision, int scale) {
      this(new ColumnType(wire, precision, scale, wire.name()));
    }

    Kind(ColumnType type) {
      this.type = type;
    }

    Column column() {
      return new Column(name(), type, true);
    }

    /** Returns the wire form of the value of a row; null for NULL. */
    byte[] value(int row, Random random) {
      return switch (this) {
        case INT4 -> CopyStream.int4(row * 7 % 1000);
        case DATE -> CopyStream.int4(9000 + row % 900);
        case INT8 -> int8(row);
        case TIMESTAMPTZ -> int8(800_000_000_000_000L + row * 50_000L + random.nextInt(1000));
        case NUMERIC_12 -> CopyStream.numeric(BigDecimal.valueOf(random.nextInt(1_000_000), 2));
        case NUMERIC_30 ->
            CopyStream.numeric(
                BigDecimal.valueOf(random.nextLong(), 4).multiply(new BigDecimal("10000000")));
        case BOOL -> new byte[] {(byte) (row % 3 == 0 ? 1 : 0)};
        case FLOAT8 -> int8(Double.doubleToLongBits(random.nextDouble()));
        case UUID, BYTEA -> bytes(random);
        case TEXT -> text("order number " + row * 7919L);
        case TEXT_NULLS -> row % 4 == 0 ? null : text("order number " + row * 7919L);
        case JSONB -> text("\u0001{\"source\": \"web\", \"step\": " + row % 12 + "}");
        case INT4_ARRAY ->
            CopyStream.array(
                List.of(
                    CopyStream.int4(row % 10), CopyStream.int4(row % 7), CopyStream.int4(row % 5)),
                3);
      };
    }

    private static byte[] int8(long value) {
      return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    private static byte[] text(String value) {
      return value.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] bytes(Random random) {
      byte[] bytes = new byte[16];
      random.nextBytes(bytes);
      return bytes;
    }
  }

  /** A batch of one column, and what encodes it. */
  @State(Scope.Benchmark)
  public static class OneColumn {
    /** The column. */
    @Param public Kind kind;

    private final PageBuffer page = new PageBuffer(256 << 10);
    private ColumnPages pages;
    private Batch batch;

    /** Makes the batch. */
    @Setup
    public void make() {
      List<Column> columns = List.of(kind.column());
      PrimitiveType type = ParquetSchema.of(columns).getColumns().get(0).getPrimitiveType();
      pages = CopyEncoder.pages(columns.get(0), type, page, new DeltaBinaryPacked());
      byte[] stream = stream(List.of(kind), ROWS);
      batch = new Batch(1);
      scan(batch, stream);
    }
  }

  /** Rows of the bench's table {@code orders}, as COPY sends them. */
  @State(Scope.Benchmark)
  public static class Orders {
    private static final List<Kind> KINDS =
        List.of(
            Kind.INT8,
            Kind.INT8,
            Kind.NUMERIC_12,
            Kind.TEXT,
            Kind.TEXT,
            Kind.TIMESTAMPTZ,
            Kind.TIMESTAMPTZ,
            Kind.BOOL,
            Kind.FLOAT8);

    private final List<Column> columns = KINDS.stream().map(Kind::column).toList();
    private final byte[] batchStream = stream(KINDS, ROWS);
    private final byte[] fileStream = stream(KINDS, FILE_ROWS);
    private final Batch batch = new Batch(KINDS.size());
  }

  /** Noting where the fields of a row of nine lie. */
  @Benchmark
  @OperationsPerInvocation(ROWS)
  public int decode(Orders orders) {
    return scan(orders.batch, orders.batchStream);
  }

  /** One value: taken from where it lies, checked, and put on an uncompressed page. */
  @Benchmark
  @OperationsPerInvocation(ROWS)
  public int encode(OneColumn column) throws IOException {
    ColumnPages pages = column.pages;
    pages.add(column.batch, 0, 0, ROWS);
    column.page.clear();
    pages.putLevels(column.page);
    pages.putValues(column.page);
    pages.reset();
    return column.page.size();
  }

  /** One row of nine values, from the stream to a file of zstd pages that goes nowhere. */
  @Benchmark
  @OperationsPerInvocation(FILE_ROWS)
  public long file(Orders orders) {
    try (ParquetTable table =
        new ParquetTable(orders.columns, 0, Map.of(), bytes -> bytes.position(bytes.limit()))) {
      CopyEncoder encoder = table.encoder();
      encoder.start();
      encoder.accept(orders.fileStream, 0, orders.fileStream.length);
      return table.finish().bytes();
    }
  }

  private static int scan(Batch batch, byte[] stream) {
    batch.start(stream);
    int position = HEADER;
    while (!batch.isFull()) {
      position = batch.scan(position + Short.BYTES, stream.length);
    }
    return position;
  }

  private static byte[] stream(List<Kind> kinds, int rows) {
    Random random = new Random(SEED);
    CopyStream stream = new CopyStream();
    for (int row = 0; row < rows; row++) {
      int number = row;
      stream.row(kinds.stream().map(kind -> kind.value(number, random)).toArray(byte[][]::new));
    }
    return stream.end();
  }
}
