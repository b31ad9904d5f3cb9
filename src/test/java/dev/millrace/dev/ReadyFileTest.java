package dev.millrace.dev;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReadyFileTest {
  @TempDir Path folder;

  @Test
  void itHasRawLinesInOrderAndIsPrivate() throws IOException {
    Path path = folder.resolve("ready.env");
    Map<String, String> values = new LinkedHashMap<>();
    values.put("POSTGRES_URL", "postgresql://postgres:0ab@127.0.0.1:1/appdb?sslmode=disable");
    values.put("TEMPORAL_UI", "");
    ReadyFile.at(path).write(values);
    assertThat(path)
        .hasContent(
            """
            POSTGRES_URL=postgresql://postgres:0ab@127.0.0.1:1/appdb?sslmode=disable
            TEMPORAL_UI=
            """);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
        .isEqualTo("rw-------");
    assertThat(files()).containsExactly(path);
  }

  @Test
  void aFileOfAnEarlierStackIsRemovedFirst() throws IOException {
    Path path = Files.writeString(folder.resolve("ready.env"), "POSTGRES_URL=gone\n");
    ReadyFile.at(path);
    assertThat(path).doesNotExist();
  }

  @Test
  void itIsRemovedAtTheEnd() {
    Path path = folder.resolve("ready.env");
    ReadyFile file = ReadyFile.at(path);
    file.write(Map.of("A", "b"));
    assertThat(path).exists();
    file.close();
    assertThat(path).doesNotExist();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/my data/millrace.yaml", "a\nB=c", "\"a\"", "'", "$HOME", "a;b", "\t"})
  void aValueThatWouldNeedQuotesIsRefused(String value) throws IOException {
    ReadyFile file = ReadyFile.at(folder.resolve("ready.env"));
    assertThatThrownBy(() -> file.write(Map.of("MILLRACE_CONFIG", value)))
        .isInstanceOf(MillraceException.class)
        .hasMessageContaining("MILLRACE_CONFIG");
    assertThat(files()).isEmpty();
  }

  @Test
  void aFolderThatIsNotThereIsNamed() {
    Path path = folder.resolve("missing/ready.env");
    assertThatThrownBy(() -> ReadyFile.at(path))
        .isInstanceOf(MillraceException.class)
        .hasMessageContaining(path.toString());
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.toList();
    }
  }
}
