package dev.millrace.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.postgres.Column;
import dev.millrace.postgres.ColumnType;
import dev.millrace.postgres.ColumnType.Wire;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.apache.parquet.bytes.ByteBufferInputStream;
import org.apache.parquet.column.values.delta.DeltaBinaryPackingValuesReader;

class EncodingTest {
  private static final List<Column> COLUMNS =
      List.of(
          new Column("id", new ColumnType(Wire.INT4, 0, 0, "integer"), true),
          new Column("v", new ColumnType(Wire.TEXT, 0, 0, "text"), true));

  @Property(tries = 200)
  void deltasOfLongsAreWhatParquetJavaReads(@ForAll @Size(min = 1, max = 700) long[] values)
      throws IOException {
    PageBuffer page = new PageBuffer(16);
    new DeltaBinaryPacked().encode(values, values.length, page);
    DeltaBinaryPackingValuesReader reader = reader(page, values.length);
    for (long value : values) {
      assertThat(reader.readLong()).isEqualTo(value);
    }
  }

  @Property(tries = 200)
  void deltasOfIntsAreWhatParquetJavaReads(@ForAll @Size(min = 1, max = 700) int[] values)
      throws IOException {
    PageBuffer page = new PageBuffer(16);
    new DeltaBinaryPacked().encode(values, values.length, page);
    DeltaBinaryPackingValuesReader reader = reader(page, values.length);
    for (int value : values) {
      assertThat(reader.readInteger()).isEqualTo(value);
    }
  }

  /** Slow growth gives narrow widths, jumps give wide ones: each width comes up. */
  @Property(tries = 200)
  void deltasOfEachWidthAreWhatParquetJavaReads(@ForAll long seed) throws IOException {
    Random random = new Random(seed);
    int bits = random.nextInt(64) + 1;
    long[] values = random.longs(random.nextInt(400) + 1).map(v -> v >> (64 - bits)).toArray();
    deltasOfLongsAreWhatParquetJavaReads(values);
  }

  private static DeltaBinaryPackingValuesReader reader(PageBuffer page, int count)
      throws IOException {
    DeltaBinaryPackingValuesReader reader = new DeltaBinaryPackingValuesReader();
    reader.initFromPage(
        count, ByteBufferInputStream.wrap(ByteBuffer.wrap(page.array(), 0, page.size())));
    return reader;
  }

  /** An unscaled value with at most as many digits as the type has. */
  record Decimal(int precision, int scale, BigInteger unscaled) {}

  @Provide
  Arbitrary<Decimal> decimals() {
    return Arbitraries.integers()
        .between(1, 38)
        .flatMap(
            precision ->
                Combinators.combine(
                        Arbitraries.integers().between(0, precision),
                        Arbitraries.bigIntegers()
                            .between(
                                BigInteger.TEN.pow(precision).negate().add(BigInteger.ONE),
                                BigInteger.TEN.pow(precision).subtract(BigInteger.ONE)),
                        Arbitraries.integers().between(0, precision))
                    .as(
                        (scale, unscaled, zeros) ->
                            new Decimal(
                                precision,
                                scale,
                                // numbers with zeros at their end take other ways
                                unscaled
                                    .divide(BigInteger.TEN.pow(zeros))
                                    .multiply(BigInteger.TEN.pow(zeros)))));
  }

  @Property(tries = 200)
  void numericsAreTheNumbersThatTheyWere(@ForAll("decimals") Decimal decimal) {
    byte[] wire = CopyStream.numeric(new BigDecimal(decimal.unscaled(), decimal.scale()));
    NumericWire numeric =
        new NumericWire(
            new ColumnType(Wire.NUMERIC, decimal.precision(), decimal.scale(), "numeric"));
    numeric.decodeWide(wire, 0, wire.length);
    byte[] wide = ByteBuffer.allocate(16).putLong(numeric.high()).putLong(numeric.low()).array();
    assertThat(new BigInteger(wide)).isEqualTo(decimal.unscaled());
    if (decimal.precision() <= ParquetSchema.INT64_DIGITS) {
      assertThat(numeric.decode(wire, 0, wire.length)).isEqualTo(decimal.unscaled().longValue());
    }
  }

  /** A number of any size, most near the ends of what some DECIMAL holds. */
  @Provide
  Arbitrary<BigDecimal> numbers() {
    return Combinators.combine(
            Arbitraries.integers().between(-12, 45),
            Arbitraries.bigIntegers()
                .between(BigInteger.TEN.pow(40).negate(), BigInteger.TEN.pow(40)),
            Arbitraries.integers().between(0, 40),
            Arbitraries.integers().between(0, 40))
        .as(
            (scale, unscaled, dropped, zeros) ->
                new BigDecimal(
                    unscaled
                        .divide(BigInteger.TEN.pow(dropped))
                        .multiply(BigInteger.TEN.pow(zeros)),
                    scale));
  }

  /** Case 24: the oracle is exact arithmetic of the JDK. */
  @Property(tries = 500)
  void numericsAreHeldWhereTheyFitAndRefusedElsewhere(
      @ForAll("numbers") BigDecimal number,
      @ForAll @IntRange(min = 1, max = 38) int precision,
      @ForAll @IntRange(max = 38) int fraction) {
    int scale = Math.min(fraction, precision);
    NumericWire numeric =
        new NumericWire(new ColumnType(Wire.NUMERIC, precision, scale, "numeric"));
    byte[] wire = CopyStream.numeric(number);
    if (fits(number, precision, scale)) {
      numeric.decodeWide(wire, 0, wire.length);
      byte[] wide = ByteBuffer.allocate(16).putLong(numeric.high()).putLong(numeric.low()).array();
      assertThat(new BigDecimal(new BigInteger(wide), scale)).isEqualByComparingTo(number);
      if (precision <= ParquetSchema.INT64_DIGITS) {
        long narrow = numeric.decode(wire, 0, wire.length);
        assertThat(BigDecimal.valueOf(narrow, scale)).isEqualByComparingTo(number);
      }
      return;
    }
    assertThatThrownBy(() -> numeric.decodeWide(wire, 0, wire.length))
        .isInstanceOf(ValueException.class);
    assertThatThrownBy(() -> numeric.decode(wire, 0, wire.length))
        .isInstanceOf(ValueException.class);
  }

  private static boolean fits(BigDecimal number, int precision, int scale) {
    BigDecimal moved = number.movePointRight(scale).stripTrailingZeros();
    return moved.scale() <= 0 && moved.abs().compareTo(BigDecimal.TEN.pow(precision)) < 0;
  }

  @Property(tries = 200)
  void bytesAreUtf8WhereTheJdkSaysSo(@ForAll @Size(max = 12) byte[] bytes) {
    assertThat(isUtf8(bytes)).isEqualTo(decodes(bytes));
  }

  @Property(tries = 200)
  void allTextIsUtf8(@ForAll long seed) {
    int[] points =
        new Random(seed).ints(20, 0, 0x110000).filter(p -> p < 0xd800 || p > 0xdfff).toArray();
    byte[] bytes = new String(points, 0, points.length).getBytes(StandardCharsets.UTF_8);
    assertThat(isUtf8(bytes)).isTrue();
    byte[] broken = bytes.clone();
    broken[new Random(seed).nextInt(broken.length)] ^= (byte) 0x80;
    assertThat(isUtf8(broken)).isEqualTo(decodes(broken));
  }

  private static boolean isUtf8(byte[] bytes) {
    return Utf8.isValid(BinaryPages.prefix(bytes, 0, bytes.length), bytes, 0, bytes.length);
  }

  private static boolean decodes(byte[] bytes) {
    try {
      StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }

  @Property(tries = 20)
  void howTheStreamIsCutChangesNoByte(@ForAll long seed) {
    Random random = new Random(seed);
    CopyStream stream = new CopyStream();
    int rows = random.nextInt(3000);
    for (int i = 0; i < rows; i++) {
      String text = random.nextInt(5) == 0 ? null : "x".repeat(random.nextInt(300));
      stream.row(CopyStream.int4(i), CopyStream.text(text));
    }
    // A row that is larger than what is kept of the stream.
    stream.row(CopyStream.int4(-1), CopyStream.text("y".repeat(random.nextInt(900_000))));
    byte[] bytes = stream.end();
    byte[] whole = file(bytes, bytes.length, random);
    assertThat(file(bytes, 1 + random.nextInt(5000), random)).isEqualTo(whole);
    assertThat(file(bytes, 20, random)).isEqualTo(whole);
  }

  private static byte[] file(byte[] bytes, int most, Random random) {
    MemoryFile file = new MemoryFile();
    try (ParquetTable table = new ParquetTable(COLUMNS, 0, Map.of(), file)) {
      CopyEncoder encoder = table.encoder();
      encoder.start();
      for (int from = 0; from < bytes.length; ) {
        int length =
            most == bytes.length ? most : Math.min(bytes.length - from, 1 + random.nextInt(most));
        encoder.accept(bytes, from, length);
        from += length;
      }
      table.finish();
    }
    return file.bytes();
  }
}
