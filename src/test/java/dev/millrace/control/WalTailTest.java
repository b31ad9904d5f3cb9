package dev.millrace.control;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WalTailTest {
  @TempDir private Path folder;
  private WalFile file;

  @BeforeEach
  void name() throws IOException {
    file = new WalFile(folder, "orders", "r");
    Files.createDirectories(file.path().getParent());
  }

  private List<WalTail.Line> lines(long offset) {
    List<WalTail.Line> all = new ArrayList<>();
    try (WalTail tail = WalTail.open(file.path(), offset)) {
      List<WalTail.Line> lines = tail.next();
      while (!lines.isEmpty()) {
        all.addAll(lines);
        lines = tail.next();
      }
      assertThat(tail.position())
          .isEqualTo(
              all.isEmpty()
                  ? offset
                  : all.get(all.size() - 1).offset() + all.get(all.size() - 1).bytes());
      assertThat(tail.next()).isEmpty();
    }
    return all;
  }

  private List<String> texts(long offset) {
    return lines(offset).stream().map(WalTail.Line::content).toList();
  }

  private void write(String text) throws IOException {
    Files.writeString(file.path(), text);
  }

  @Test
  void linesComeWithTheirOffsets() throws IOException {
    write("one\ntwo\n\nthree\ntorn");

    assertThat(lines(0))
        .extracting(line -> line.offset() + ":" + line.bytes())
        .containsExactly("0:4", "4:4", "8:1", "9:6");
    assertThat(texts(0)).containsExactly("one\n", "two\n", "\n", "three\n");
    assertThat(texts(4)).containsExactly("two\n", "\n", "three\n");
    assertThat(texts(15)).isEmpty();
    assertThat(texts(99)).isEmpty();
  }

  @Test
  void aMissingOrEmptyFileHasNone() throws IOException {
    assertThat(texts(0)).isEmpty();
    write("");
    assertThat(texts(0)).isEmpty();
  }

  @Test
  void aTornLineIsNeverGivenWhereverItIsTorn() throws IOException {
    String whole = "{\"a\":1}\n{\"b\":2}\n";
    for (int length = 0; length <= whole.length(); length++) {
      write(whole.substring(0, length));
      List<String> expected =
          length < 8
              ? List.of()
              : length < 16 ? List.of("{\"a\":1}\n") : List.of("{\"a\":1}\n", "{\"b\":2}\n");
      assertThat(texts(0)).as("cut to %d", length).isEqualTo(expected);
    }
  }

  @Test
  void linesAcrossChunksStayWhole() throws IOException {
    List<String> expected =
        IntStream.range(0, 40_000).mapToObj(i -> "x".repeat(i % 200) + "\n").toList();
    write(String.join("", expected) + "torn");

    assertThat(texts(0)).isEqualTo(expected);
  }

  @Test
  void atMostOneChunkOrOneLineIsHeldAtATime() throws IOException {
    write(("x".repeat(99) + "\n").repeat(50_000));

    try (WalTail tail = WalTail.open(file.path(), 0)) {
      int batches = 0;
      List<WalTail.Line> lines = tail.next();
      while (!lines.isEmpty()) {
        assertThat(lines.stream().mapToInt(WalTail.Line::bytes).sum()).isLessThanOrEqualTo(2 << 20);
        batches++;
        lines = tail.next();
      }
      assertThat(batches).isGreaterThanOrEqualTo(4);
    }
  }

  @Test
  void whatIsAppendedMeanwhileIsLeftToTheNextLook() throws IOException {
    write("one\n");
    try (WalTail tail = WalTail.open(file.path(), 0)) {
      Files.writeString(file.path(), "two\n", StandardOpenOption.APPEND);
      assertThat(tail.next()).hasSize(1);
      assertThat(tail.next()).isEmpty();
    }
    assertThat(texts(4)).containsExactly("two\n");
  }

  @Test
  void theLongestLineIsKeptAndALongerOneIsPassedBy() throws IOException {
    byte[] longest = new byte[WalFormat.LONGEST_LINE];
    Arrays.fill(longest, (byte) 'x');
    longest[longest.length - 1] = '\n';
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    content.write("a\n".getBytes(US_ASCII));
    content.write(longest);
    content.write('y');
    content.write(longest);
    content.write("b\n".getBytes(US_ASCII));
    content.write(longest, 0, longest.length - 1);
    content.write('z');
    Files.write(file.path(), content.toByteArray());

    List<WalTail.Line> lines = lines(0);
    assertThat(lines)
        .extracting(WalTail.Line::bytes)
        .containsExactly(2, 16 << 20, (16 << 20) + 1, 2);
    assertThat(lines.get(1).content()).isEqualTo(new String(longest, US_ASCII));
    assertThat(lines.get(2).content()).isNull();
    assertThat(lines.get(3).content()).isEqualTo("b\n");

    WalBatch batch = WalBatch.of(lines.subList(2, 3));
    assertThat(batch.refused())
        .singleElement()
        .extracting(WalLine.Refused::reason)
        .asString()
        .contains("longer");
  }

  private static WalBatch parse(byte[] content) {
    return WalBatch.of(
        List.of(new WalTail.Line(7, content.length, new String(content, ISO_8859_1))));
  }

  private static WalBatch parse(String content) {
    return parse((content + "\n").getBytes(UTF_8));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"a\":1}{\"b\":2} | not JSON",
        "{\"a\":1} x | not JSON",
        "{\"a\":1, | not JSON",
        "{\"a\":1,\"a\":2} | Duplicate",
        "{\"a\":{\"b\":1,\"b\":2}} | Duplicate",
        "{\"a\":NaN} | not JSON",
        "{\"a\":Infinity} | not JSON",
        "{'a':1} | not JSON",
        "{\"a\":01} | not JSON",
        "[1] | no JSON object",
        "12 | no JSON object",
        "null | no JSON object",
        "\"text\" | no JSON object",
        "{\"a\":{\"b\":\"\\u0000\"}} | a.b has a NUL at character 0",
        "{\"a\":\"x\\ud83d\"} | a has half a surrogate pair at character 1",
        "{\"\\ude00\":1} | a key has half a surrogate pair",
        "{\"a\":1e1000000000} | a is beyond the range of a double",
        "{\"a\":1e-99999} | a has more than 16383 digits",
      })
  void aLineThatCantBeShippedIsRefusedWithTheReason(String content, String reason) {
    WalBatch batch = parse(content);

    assertThat(batch.lines()).isEmpty();
    assertThat(batch.refused())
        .singleElement()
        .satisfies(
            refused -> {
              assertThat(refused.offset()).isEqualTo(7);
              assertThat(refused.bytes()).isEqualTo(content.length() + 1);
              assertThat(refused.reason()).contains(reason);
            });
  }

  @Test
  void numbersKeepTheirSpelling() {
    WalBatch batch =
        parse("{\"i\":2,\"f\":2.0,\"e\":1e+16,\"z\":2.50,\"n\":123456789012345678901234567890}");

    assertThat(batch.refused()).isEmpty();
    assertThat(batch.lines().get(0).fields().get("i").isInt()).isTrue();
    assertThat(batch.lines().get(0).fields().get("f").decimalValue()).hasToString("2.0");
    assertThat(batch.lines().get(0).fields().get("e").decimalValue()).hasToString("1E+16");
    assertThat(batch.lines().get(0).fields().get("z").decimalValue()).hasToString("2.50");
    assertThat(batch.lines().get(0).fields().get("n").bigIntegerValue())
        .hasToString("123456789012345678901234567890");
  }

  @Test
  void aLongNumberAndALongKeyAreTaken() {
    String number = "1" + "0".repeat(4_000);
    String key = "k".repeat(100_000);

    assertThat(parse("{\"n\":" + number + ",\"" + key + "\":1}").refused()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "\t \r", "\u000b\f"})
  void aBlankLineIsPassedOver(String blank) {
    assertThat(parse(blank)).isEqualTo(new WalBatch(List.of(), List.of()));
  }

  @Test
  void bytesThatAreNoUtf8AreRefused() {
    byte[] content = "{\"a\":\"xyz\"}\n".getBytes(US_ASCII);
    content[7] = (byte) 0xff;

    assertThat(parse(content).refused())
        .singleElement()
        .extracting(WalLine.Refused::reason)
        .isEqualTo("the line is not UTF-8");
    assertThat(parse(new byte[] {0, 0, 0, '\n'}).refused()).hasSize(1);
    assertThat(parse("{\"a\":\"नाइटली\"}").lines()).hasSize(1);
  }

  /** One bit that tips changes a line into another one, or is found; never another line. */
  @Test
  void aChangedByteHidesNoOtherLine() throws IOException {
    byte[] first = WalFormat.line(WalWriter.event(file, 0, "first"));
    byte[] middle = WalFormat.line(WalWriter.event(file, 1, "middle"));
    byte[] last = WalFormat.line(WalWriter.event(file, 2, "last"));
    for (int index = 0; index < middle.length - 1; index++) {
      byte[] changed = middle.clone();
      changed[index] = (byte) (changed[index] ^ 0x80);
      Files.write(file.path(), first);
      Files.write(file.path(), changed, StandardOpenOption.APPEND);
      Files.write(file.path(), last, StandardOpenOption.APPEND);

      WalBatch batch = WalBatch.of(lines(0));
      assertThat(batch.lines())
          .as("byte %d", index)
          .extracting(line -> line.fields().get("seq").longValue())
          .containsExactly(0L, 2L);
      assertThat(batch.refused())
          .singleElement()
          .extracting(WalLine.Refused::offset)
          .isEqualTo((long) first.length);
    }
  }
}
