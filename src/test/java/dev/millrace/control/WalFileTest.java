package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WalFileTest {
  @TempDir private Path folder;

  private void make(String... names) throws IOException {
    for (String name : names) {
      Path path = folder.resolve(name);
      Files.createDirectories(path.getParent());
      Files.writeString(path, "");
    }
  }

  @Test
  void aLogHasItsPlace() {
    assertThat(new WalFile(folder, "orders", "r-1").path())
        .isEqualTo(folder.resolve("orders").resolve("r-1.jsonl"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", ".hidden", "a/b", "/", "../x", "a\0b", "a\ud83d"})
  void aNameThatIsNoFilesIsRefused(String name) {
    assertThatThrownBy(() -> new WalFile(folder, name, "r"))
        .isInstanceOfSatisfying(
            MillraceException.class,
            exception -> assertThat(exception.code()).isEqualTo(ErrorCode.BAD_INPUT))
        .hasMessageContaining("extractor");
    assertThatThrownBy(() -> new WalFile(folder, "e", name))
        .isInstanceOf(MillraceException.class)
        .hasMessageContaining("run_id");
    assertThatThrownBy(() -> WalFile.of(folder, name)).isInstanceOf(MillraceException.class);
  }

  @Test
  void aNameThatIsTooLongIsRefused() throws IOException {
    String longest = "x".repeat(200);
    make(longest + "/" + longest + ".jsonl");

    assertThat(WalFile.in(folder)).containsExactly(new WalFile(folder, longest, longest));
    assertThatThrownBy(() -> new WalFile(folder, "e", longest + "x"))
        .hasMessageContaining("200 characters");
    assertThatThrownBy(() -> new WalFile(folder, "e", "ä".repeat(200)))
        .hasMessageContaining("220 bytes");
  }

  @Test
  void allLogsAreListedByRunAndNothingElse() throws IOException {
    make(
        "b/20260102.jsonl",
        "a/20260103.jsonl",
        "a/20260101.jsonl",
        "c/20260101.jsonl",
        "a/20260101.jsonl.off",
        "a/20260101.jsonl.off.1234.tmp",
        "a/20260101.jsonl.rejected",
        "a/.jsonl",
        "a/.hidden.jsonl",
        "a/notes.txt",
        "stray.jsonl",
        ".git/x.jsonl",
        "a/folder.jsonl/deeper.jsonl");

    assertThat(WalFile.in(folder))
        .extracting(file -> file.extractor() + "/" + file.runId())
        .containsExactly("a/20260101", "c/20260101", "b/20260102", "a/20260103");
    assertThat(WalFile.of(folder, "a"))
        .extracting(WalFile::runId)
        .containsExactly("20260101", "20260103");
    assertThat(WalFile.of(folder, "nobody")).isEmpty();
    assertThat(WalFile.in(folder.resolve("nowhere"))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a*", "a[b]", "a?", "{a,b}", "a b", "*", "\\", "-a", "a.b"})
  void aPatternsCharactersAreOrdinaryInNames(String name) throws IOException {
    make(name + "/" + name + ".jsonl", "aX/x.jsonl", "b/x.jsonl");

    assertThat(WalFile.of(folder, name)).containsExactly(new WalFile(folder, name, name));
    assertThat(WalFile.in(folder)).hasSize(3).contains(new WalFile(folder, name, name));
  }

  @Test
  void aFileInPlaceOfTheFolderIsNamed() throws IOException {
    make("file");

    assertThatThrownBy(() -> WalFile.in(folder.resolve("file")))
        .isInstanceOfSatisfying(
            MillraceException.class,
            exception -> assertThat(exception.code()).isEqualTo(ErrorCode.WAL_UNWRITABLE))
        .hasMessageContaining(folder.resolve("file").toString());
  }
}
