package dev.millrace.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnType;
import dev.millrace.postgres.ColumnType.Wire;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.junit.jupiter.api.Test;

class ParquetTableTest {
  private static final List<Column> COLUMNS =
      List.of(column("id", Wire.INT4), column("v", Wire.TEXT));

  private static Column column(String name, Wire wire) {
    return new Column(name, new ColumnType(wire, 0, 0, wire.name()), true);
  }

  private static ParquetSummary encode(byte[] stream, int keyColumn, MemoryFile file) {
    try (ParquetTable table = new ParquetTable(COLUMNS, keyColumn, Map.of(), file)) {
      CopyEncoder encoder = table.encoder();
      encoder.start();
      encoder.accept(stream, 0, stream.length);
      return table.finish();
    }
  }

  @Test
  void aStreamWithoutItsTrailerIsNoFile() {
    byte[] stream = new CopyStream().row(CopyStream.int4(1), CopyStream.text("a")).withoutTrailer();
    assertThatThrownBy(() -> encode(stream, 0, new MemoryFile()))
        .isInstanceOfSatisfying(
            MillraceException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.AUDIT_FAILED))
        .hasMessageContaining("after 1 rows");
  }

  @Test
  void bytesAfterTheTrailerAreRefused() {
    byte[] stream = Arrays.copyOf(new CopyStream().end(), 30);
    assertThatThrownBy(() -> encode(stream, 0, new MemoryFile()))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void anotherFormatIsRefused() {
    byte[] stream = "1\tplain text of a COPY\n".getBytes(StandardCharsets.UTF_8);
    assertThatThrownBy(() -> encode(stream, 0, new MemoryFile()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("header");
  }

  @Test
  void aRowWithAnotherNumberOfFieldsIsRefused() {
    byte[] stream = new CopyStream().row(CopyStream.int4(1)).end();
    assertThatThrownBy(() -> encode(stream, 0, new MemoryFile()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("1 fields instead of 2");
  }

  @Test
  void aRefusedValueIsNamedByTheNumberOfItsRowWhereThereIsNoKey() {
    CopyStream stream = new CopyStream();
    for (int i = 0; i < 30_000; i++) {
      stream.row(CopyStream.int4(i), CopyStream.text("fine"));
    }
    stream.row(CopyStream.int4(1), new byte[] {(byte) 0xff});
    assertThatThrownBy(() -> encode(stream.end(), -1, new MemoryFile()))
        .isInstanceOf(MillraceException.class)
        .hasMessageContaining("number 30001 of the query")
        .hasMessageContaining("is not UTF-8 text");
  }

  @Test
  void aFileThatIsGivenUpHasNoEnd() {
    MemoryFile file = new MemoryFile();
    byte[] stream = new CopyStream().row(CopyStream.int4(1), CopyStream.text("a")).withoutTrailer();
    try (ParquetTable table = new ParquetTable(COLUMNS, 0, Map.of(), file)) {
      CopyEncoder encoder = table.encoder();
      encoder.start();
      encoder.accept(stream, 0, stream.length);
    }
    assertThat(file.bytes()).doesNotContain('P', 'A', 'R', '1');
  }

  @Test
  void severalEncodersFillOneFileEachFromSeveralCopies() throws Exception {
    MemoryFile file = new MemoryFile();
    FileFormat small = new FileFormat(FileFormat.Compression.ZSTD, 1, 1);
    ParquetSummary summary;
    try (ParquetTable table = new ParquetTable(COLUMNS, 0, Map.of(), small, file)) {
      List<Thread> threads = new ArrayList<>();
      for (int thread = 0; thread < 3; thread++) {
        CopyEncoder encoder = table.encoder();
        int first = thread * 200_000;
        threads.add(new Thread(() -> encode(encoder, first)));
      }
      // One more that finds nothing to do.
      table.encoder();
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
      summary = table.finish();
    }
    assertThat(summary.rowsEncoded()).isEqualTo(300_000);
    assertThat(summary.rowsInFooter()).isEqualTo(300_000);
    assertThat(file.footer().getBlocks()).hasSizeGreaterThan(3);
    int[] ids = file.read().stream().mapToInt(row -> row.getInteger("id", 0)).sorted().toArray();
    assertThat(ids)
        .isEqualTo(
            IntStream.of(0, 200_000, 400_000)
                .flatMap(first -> IntStream.range(first, first + 100_000))
                .toArray());
  }

  @Test
  void encodersShareTheMemoryOfOneRowGroup() throws Exception {
    assertThat(largestRowGroup(12, 1)).isEqualTo(12);
    assertThat(largestRowGroup(12, 2)).isEqualTo(6);
    // They get no smaller than 4 MiB for that, or than what is asked for.
    assertThat(largestRowGroup(12, 16)).isEqualTo(4);
    assertThat(largestRowGroup(2, 16)).isEqualTo(2);
  }

  /** Returns the whole MiB of the largest row group that one encoder among several makes. */
  private static long largestRowGroup(int mebibytes, int encoders) throws Exception {
    MemoryFile file = new MemoryFile();
    FileFormat format = new FileFormat(FileFormat.Compression.NONE, 1, (long) mebibytes << 20);
    CopyStream stream = new CopyStream();
    byte[] text = CopyStream.text("z".repeat(44));
    for (int i = 0; i < 320_000; i++) {
      stream.row(CopyStream.int4(0), text);
    }
    byte[] bytes = stream.end();
    try (ParquetTable table = new ParquetTable(COLUMNS, 0, Map.of(), format, file)) {
      CopyEncoder encoder = table.encoder();
      for (int other = 1; other < encoders; other++) {
        table.encoder();
      }
      encoder.start();
      encoder.accept(bytes, 0, bytes.length);
      table.finish();
    }
    return file.footer().getBlocks().stream()
            .mapToLong(BlockMetaData::getTotalByteSize)
            .max()
            .orElseThrow()
        >> 20;
  }

  private static void encode(CopyEncoder encoder, int first) {
    for (int from = first; from < first + 100_000; from += 50_000) {
      CopyStream stream = new CopyStream();
      for (int i = from; i < from + 50_000; i++) {
        stream.row(CopyStream.int4(i), CopyStream.text("row " + i));
      }
      byte[] bytes = stream.end();
      encoder.start();
      encoder.accept(bytes, 0, bytes.length);
    }
  }

  @Test
  void anotherCopyBeforeTheEndOfTheLastIsRefused() {
    byte[] stream = new CopyStream().row(CopyStream.int4(1), CopyStream.text("a")).withoutTrailer();
    try (ParquetTable table = new ParquetTable(COLUMNS, 0, Map.of(), new MemoryFile())) {
      CopyEncoder encoder = table.encoder();
      encoder.start();
      encoder.accept(stream, 0, stream.length);
      assertThatThrownBy(encoder::start).hasMessageContaining("after 1 rows");
    }
  }

  @Test
  void pagesAreCutByRowsAndByBytes() {
    CopyStream stream = new CopyStream();
    String text = "z".repeat(1000);
    for (int i = 0; i < 45_000; i++) {
      stream.row(CopyStream.int4(i), i % 9 == 0 ? CopyStream.text(text) : null);
    }
    MemoryFile file = new MemoryFile();
    assertThat(encode(stream.end(), 0, file).rowsInFooter()).isEqualTo(45_000);
    assertThat(file.pages(0)).containsExactly(20_000L, 20_000L, 5_000L);
    assertThat(file.pages(1)).hasSizeGreaterThan(3);
    assertThat(file.pages(1).stream().mapToLong(Long::longValue).sum()).isEqualTo(45_000);
  }

  /** The worker's class path has no Hadoop; what parquet-hadoop touches must not need it. */
  @Test
  void noHadoopClassIsNeededToWrite() throws Exception {
    String classPath =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .filter(entry -> !entry.contains("hadoop-client"))
            .collect(Collectors.joining(File.pathSeparator));
    assertThat(System.getProperty("java.class.path")).contains("hadoop-client");
    Process process =
        new ProcessBuilder(
                System.getProperty("java.home") + "/bin/java",
                "-cp",
                classPath,
                WithoutHadoop.class.getName())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    assertThat(output).contains("rowsInFooter=3");
  }

  /** The main class of a JVM without Hadoop. */
  static final class WithoutHadoop {
    private WithoutHadoop() {}

    public static void main(String[] arguments) {
      byte[] stream =
          new CopyStream()
              .row(CopyStream.int4(1), CopyStream.text("a"))
              .row(CopyStream.int4(2), null)
              .row(CopyStream.int4(3), CopyStream.text(""))
              .end();
      System.out.println(encode(stream, 0, new MemoryFile()));
    }
  }
}
