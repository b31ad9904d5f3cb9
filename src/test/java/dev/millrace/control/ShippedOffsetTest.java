package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.testing.Logs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShippedOffsetTest {
  @TempDir private Path folder;
  private WalFile file;

  @BeforeEach
  void write() throws IOException {
    file = new WalFile(folder, "orders", "r");
    Files.createDirectories(file.path().getParent());
    Files.writeString(file.path(), "{\"a\":1}\n{\"b\":2}\n{\"torn\":");
  }

  private List<String> names() throws IOException {
    try (Stream<Path> paths = Files.list(file.path().getParent())) {
      return paths.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void itIsADecimalWithoutALineFeed() throws IOException {
    ShippedOffset.write(file, 8);
    assertThat(Files.readString(file.offsetPath())).isEqualTo("8");
    ShippedOffset.write(file, 16);

    assertThat(Files.readString(file.offsetPath())).isEqualTo("16");
    assertThat(ShippedOffset.read(file)).isEqualTo(16);
    assertThat(ShippedOffset.mend(file)).isEqualTo(16);
    assertThat(names()).containsExactly("r.jsonl", "r.jsonl.off");
  }

  @ParameterizedTest
  @ValueSource(strings = {"8\n", " 8 ", "08"})
  void anotherSpellingOfARightOneIsTaken(String text) throws IOException {
    Files.writeString(file.offsetPath(), text);

    assertThat(ShippedOffset.read(file)).isEqualTo(8);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "x",
        "8x",
        "-8",
        "+8",
        "8.0",
        "0x8",
        "1_6",
        "\0\0",
        "é",
        "7",
        "9",
        "15",
        "17",
        "25",
        "26",
        "99",
        "9223372036854775807",
        "9223372036854775808",
        "99999999999999999999999999"
      })
  void aWrongOneCountsAsNothingAndIsReplacedAtOnce(String text) throws IOException {
    Files.writeString(file.offsetPath(), text);

    assertThat(ShippedOffset.read(file)).isZero();
    assertThat(Files.readString(file.offsetPath())).isEqualTo(text);
    try (Logs logs = Logs.listen()) {
      assertThat(ShippedOffset.mend(file)).isZero();
      assertThat(logs.messages(Level.WARN))
          .singleElement()
          .asString()
          .contains(file.offsetPath().toString());
    }
    assertThat(Files.readString(file.offsetPath())).isEqualTo("0");
  }

  @Test
  void aMissingOneCountsAsNothing() throws IOException {
    assertThat(ShippedOffset.read(file)).isZero();
    assertThat(ShippedOffset.mend(file)).isZero();
    assertThat(names()).containsExactly("r.jsonl");
  }

  @Test
  void aHugeFileIsNotReadWhole() throws IOException {
    Files.writeString(file.offsetPath(), "8".repeat(10_000_000));

    assertThat(ShippedOffset.mend(file)).isZero();
  }

  @Test
  void anOffsetWithoutItsLogCountsAsNothing() throws IOException {
    ShippedOffset.write(file, 8);
    Files.delete(file.path());

    assertThat(ShippedOffset.read(file)).isZero();
  }

  @Test
  void aCrashInTheMiddleOfAReplacementIsHarmlessAndTidiedUp() throws IOException {
    ShippedOffset.write(file, 8);
    Path ours = file.path().resolveSibling("r.jsonl.off.00000000deadbeef.tmp");
    Path python = file.path().resolveSibling("r.jsonl.off.tmp");
    Path atWork = file.path().resolveSibling("r.jsonl.off.0000000000000001.tmp");
    Path others = file.path().resolveSibling("r2.jsonl.off.00000000deadbeef.tmp");
    for (Path path : List.of(ours, python, others, atWork)) {
      Files.writeString(path, "1");
    }
    for (Path path : List.of(ours, python, others)) {
      Files.setLastModifiedTime(path, FileTime.from(Instant.now().minusSeconds(3_600)));
    }

    assertThat(ShippedOffset.read(file)).isEqualTo(8);
    assertThat(WalFile.in(folder)).containsExactly(file);
    ShippedOffset.write(file, 16);
    ShippedOffset.tidy(file);

    assertThat(ShippedOffset.read(file)).isEqualTo(16);
    assertThat(names())
        .containsExactly(
            "r.jsonl",
            "r.jsonl.off",
            atWork.getFileName().toString(),
            others.getFileName().toString());
  }

  @Test
  void aFailedReplacementIsToldAndLeavesTheOldOne() throws IOException {
    Files.createDirectory(file.offsetPath());
    Files.writeString(file.offsetPath().resolve("x"), "in the way");

    assertThatThrownBy(() -> ShippedOffset.write(file, 8))
        .isInstanceOfSatisfying(
            MillraceException.class,
            exception -> assertThat(exception.code()).isEqualTo(ErrorCode.WAL_UNWRITABLE))
        .hasMessageContaining(file.offsetPath().toString());
    assertThat(names()).containsExactly("r.jsonl", "r.jsonl.off");
  }
}
