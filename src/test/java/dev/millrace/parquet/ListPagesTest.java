package dev.millrace.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnRules;
import dev.millrace.postgres.ColumnType;
import dev.millrace.postgres.ColumnType.Wire;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.apache.parquet.example.data.Group;
import org.junit.jupiter.api.Test;

class ListPagesTest {
  private static final ColumnRules NULLS =
      new ColumnRules(null, ColumnRules.Nan.NULL, ColumnRules.Infinity.NULL, null)
          .orElse(ColumnRules.DEFAULT);
  private static final byte[] NAN = HexFormat.of().parseHex("00000000c0000000");

  private static Column list(Wire wire, int precision, int scale, int dimensions) {
    return new Column(
        "v",
        new ColumnType(wire, precision, scale, dimensions, wire + "[]"),
        true,
        null,
        Column.Kind.PLAIN,
        null,
        NULLS);
  }

  private static Column key() {
    return new Column("id", new ColumnType(Wire.INT4, 0, 0, "integer"), false);
  }

  /** An element on the wire, and what a reader has to find. */
  private static final class Element {
    private static final Element NULL = new Element(null, null);

    private final byte[] wire;
    private final String stored;

    private Element(byte[] wire, String stored) {
      this.wire = wire;
      this.stored = stored;
    }
  }

  private static Element element(Wire wire, Random random) {
    if (random.nextInt(4) == 0) {
      return Element.NULL;
    }
    return switch (wire) {
      case INT4 -> {
        int value = random.nextInt(1000);
        yield new Element(CopyStream.int4(value), Integer.toString(value));
      }
      case INT8 -> {
        long value = random.nextLong();
        yield new Element(
            ByteBuffer.allocate(Long.BYTES).putLong(value).array(), Long.toString(value));
      }
      case BOOL -> {
        boolean value = random.nextBoolean();
        yield new Element(new byte[] {(byte) (value ? 1 : 0)}, Boolean.toString(value));
      }
      case TEXT -> {
        String value = "é".repeat(random.nextInt(5));
        yield new Element(CopyStream.text(value), value);
      }
      case FLOAT8 -> {
        double value = random.nextGaussian();
        yield new Element(
            ByteBuffer.allocate(Double.BYTES).putDouble(value).array(), Double.toString(value));
      }
      case NUMERIC -> {
        if (random.nextInt(5) == 0) {
          yield new Element(NAN, null);
        }
        BigDecimal value = new BigDecimal(new BigInteger(90, random), 4);
        yield new Element(CopyStream.numeric(value), value.toPlainString());
      }
      case INT2, FLOAT4, JSONB, BYTEA, UUID, DATE, TIME, TIMESTAMP, TIMESTAMPTZ ->
          throw new AssertionError();
    };
  }

  /** The slow oracle: lists of lists, and their wire form put together level by level. */
  private static Object nested(List<Element> elements, int[] sizes, int depth, int[] next) {
    if (depth == sizes.length) {
      return elements.get(next[0]++).stored;
    }
    List<Object> list = new ArrayList<>();
    for (int i = 0; i < sizes[depth]; i++) {
      list.add(nested(elements, sizes, depth + 1, next));
    }
    return list;
  }

  @Property(tries = 150)
  void listsOfAnyDepthAreWhatParquetJavaReads(@ForAll long seed) {
    Random random = new Random(seed);
    List<Wire> wires =
        List.of(Wire.INT4, Wire.INT8, Wire.BOOL, Wire.TEXT, Wire.FLOAT8, Wire.NUMERIC);
    Wire wire = wires.get(random.nextInt(wires.size()));
    int dimensions = 1 + random.nextInt(4);
    boolean lengthy = dimensions == 1 && random.nextInt(10) == 0;
    CopyStream stream = new CopyStream();
    List<Object> expected = new ArrayList<>();
    int rows = random.nextInt(60);
    for (int row = 0; row < rows; row++) {
      int kind = random.nextInt(6);
      if (kind == 0) {
        stream.row(CopyStream.int4(row), null);
        expected.add(null);
        continue;
      }
      if (kind == 1) {
        stream.row(CopyStream.int4(row), CopyStream.array(List.of(), new int[0]));
        expected.add(List.of());
        continue;
      }
      int[] sizes =
          IntStream.range(0, dimensions).map(i -> 1 + random.nextInt(lengthy ? 9000 : 4)).toArray();
      int count = IntStream.of(sizes).reduce(1, (a, b) -> a * b);
      List<Element> elements = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        elements.add(element(wire, random));
      }
      List<byte[]> wireElements = new ArrayList<>();
      elements.forEach(element -> wireElements.add(element.wire));
      stream.row(CopyStream.int4(row), CopyStream.array(wireElements, sizes));
      expected.add(nested(elements, sizes, 0, new int[1]));
    }
    MemoryFile file = new MemoryFile();
    int precision = wire == Wire.NUMERIC ? 34 : 0;
    Column column = list(wire, precision, precision == 0 ? 0 : 4, dimensions);
    ParquetSummary summary = encode(stream.end(), column, file);
    assertThat(summary.rowsInFooter()).isEqualTo(rows);
    assertThat(file.read().stream().map(row -> Stored.value(row, 1)).toList()).isEqualTo(expected);
  }

  private static ParquetSummary encode(byte[] stream, Column column, MemoryFile file) {
    try (ParquetTable table = new ParquetTable(List.of(key(), column), 0, Map.of(), file)) {
      CopyEncoder encoder = table.encoder();
      encoder.start();
      encoder.accept(stream, 0, stream.length);
      return table.finish();
    }
  }

  @Test
  void pagesOfListsEndWithRowsAndHoldHugeOnes() {
    CopyStream stream = new CopyStream();
    List<byte[]> few = List.of(CopyStream.text("a"), CopyStream.text("b"));
    List<byte[]> many = new ArrayList<>();
    for (int i = 0; i < 400_000; i++) {
      many.add(CopyStream.text("element " + i));
    }
    for (int row = 0; row < 30_000; row++) {
      stream.row(CopyStream.int4(row), CopyStream.array(few, new int[] {2}));
      if (row == 100) {
        stream.row(CopyStream.int4(row), CopyStream.array(many, new int[] {many.size()}));
      }
    }
    MemoryFile file = new MemoryFile();
    assertThat(encode(stream.end(), list(Wire.TEXT, 0, 0, 1), file).rowsInFooter())
        .isEqualTo(30_001);
    assertThat(file.pages(1)).contains(102L);
    assertThat(file.pages(1).stream().mapToLong(Long::longValue).sum()).isEqualTo(30_001);
    List<Group> rows = file.read();
    assertThat(Stored.value(rows.get(100), 1)).isEqualTo(List.of("a", "b"));
    assertThat((List<?>) Stored.value(rows.get(101), 1)).hasSize(400_000);
    assertThat(Stored.value(rows.get(30_000), 1)).isEqualTo(List.of("a", "b"));
  }

  @Test
  void whatIsReplacedIsCounted() {
    CopyStream stream = new CopyStream();
    byte[] one = CopyStream.numeric(BigDecimal.ONE);
    stream.row(CopyStream.int4(1), CopyStream.array(List.of(NAN, one, NAN), new int[] {3}));
    stream.row(CopyStream.int4(2), CopyStream.array(List.of(one), new int[] {1}));
    MemoryFile file = new MemoryFile();
    assertThat(encode(stream.end(), list(Wire.NUMERIC, 10, 2, 1), file).replaced())
        .containsExactly(new ReplacedValues("v", "nan: null", 2));
  }

  @Test
  void arraysThatAreNoListsOfTheDeclaredDepthAreRefused() {
    byte[] square = CopyStream.array(List.of(CopyStream.int4(1)), new int[] {1, 1});
    assertRefused(square, "has 2 dimensions, while the column is declared with 1");
    byte[] shifted = CopyStream.array(List.of(CopyStream.int4(1)), new int[] {1});
    shifted[19] = 5;
    assertRefused(shifted, "has the lower bound 5");
  }

  private static void assertRefused(byte[] array, String reason) {
    byte[] stream =
        new CopyStream().row(CopyStream.int4(1), null).row(CopyStream.int4(7), array).end();
    assertThatThrownBy(() -> encode(stream, list(Wire.INT4, 0, 0, 1), new MemoryFile()))
        .isInstanceOfSatisfying(
            MillraceException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.VALUE_OUT_OF_RANGE))
        .hasMessageContaining("column \"v\"")
        .hasMessageContaining("\"id\" = 7")
        .hasMessageContaining(reason)
        .hasMessageContaining("arrays: text");
  }

  @Test
  void bytesThatAreNoArrayAreAFault() {
    byte[] array = CopyStream.array(List.of(CopyStream.int4(1)), new int[] {1});
    for (int length = 0; length < array.length; length++) {
      byte[] cut = Arrays.copyOf(array, length);
      byte[] stream = new CopyStream().row(CopyStream.int4(1), cut).end();
      assertThatThrownBy(() -> encode(stream, list(Wire.INT4, 0, 0, 1), new MemoryFile()))
          .as("%d bytes", length)
          .isInstanceOf(IllegalStateException.class);
    }
  }
}
