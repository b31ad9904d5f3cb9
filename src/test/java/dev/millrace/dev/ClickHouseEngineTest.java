package dev.millrace.dev;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClickHouseEngineTest {
  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ClickHouse local version 24.8.14.39 (official build). | true
          ClickHouse client version 24.1.1.2048.                | true
          ClickHouse server version 26.7.2.1.                   | true
          ClickHouse local version 100.1.1.1.                   | true
          ClickHouse client version 23.12.6.19.                 | false
          ClickHouse client version 18.16.1.                    | false
          ClickHouse local version 2147483648.1.                | false
          Use one of the following commands: clickhouse local   | false
          version 24.8                                          | false
          ''                                                    | false
          """)
  void onlyVersion24AndNewerIsNewEnough(String told, boolean newEnough) {
    assertThat(ClickHouseProgram.isNewEnough(told)).isEqualTo(newEnough);
  }

  @Test
  void theFirstOnThePathThatIsNewEnoughIsTaken() throws IOException {
    program("old", "clickhouse", "echo 'ClickHouse client version 18.16.1.'");
    program("broken", "clickhouse", "echo 'ClickHouse client version 24.3.1.1.'; exit 1");
    Path taken = program("new", "clickhouse", "echo 'ClickHouse local version 24.3.1.1.'");
    program("newest", "clickhouse", "echo 'ClickHouse local version 26.1.1.1.'");

    ClickHouseEngine engine =
        ClickHouseEngine.find(environment("old", "broken", "new", "newest"), told -> {});

    assertThat(engine).isEqualTo(new ClickHouseProgram(taken));
    assertThat(engine.needsDefaultUser()).isFalse();
    assertThat(engine.command(new ClickHouseFiles(Path.of("/home"))))
        .containsExactly(
            "env",
            "CLICKHOUSE_WATCHDOG_ENABLE=0",
            taken.toString(),
            "server",
            "--config-file=/home/config.xml");
  }

  @Test
  void aWholeLibraryInTheCacheIsTakenAndACutOneIsNot() throws IOException {
    Path cached = folder.resolve("clickhouse-26.7.3-stable.1/libchdb.so");
    Files.createDirectories(cached.getParent());
    Files.writeString(cached, "cut");
    assertThatThrownBy(() -> ClickHouseEngine.find(environment("nowhere"), told -> {}))
        .isInstanceOf(MillraceException.class)
        .hasMessageContaining("no npm to get one with");

    try (SeekableByteChannel file = Files.newByteChannel(cached, StandardOpenOption.WRITE)) {
      file.position(566_330_095).write(ByteBuffer.allocate(1));
    }
    assertThat(ClickHouseEngine.find(environment("nowhere"), told -> {}))
        .isEqualTo(new ClickHouseLibrary(cached));
  }

  @Test
  void nothingIsDownloadedWhereNpmIsOff() throws IOException {
    program("bin", "npm", "touch " + folder.resolve("called"));
    Map<String, String> off =
        Map.of(
            "PATH",
            folder.resolve("bin").toString(),
            "MILLRACE_CACHE",
            folder.toString(),
            "MILLRACE_NPM",
            "off");

    assertThat(ClickHouseServer.missing(off, told -> {}).orElseThrow())
        .isEqualTo(
            "no `clickhouse` of version 24 or newer on the PATH, no engine in "
                + folder
                + ", and MILLRACE_NPM is off");
    assertThat(folder.resolve("called")).doesNotExist();
  }

  @Test
  void anotherArchiveThanThePinnedOneIsRefused() throws IOException {
    program("bin", "npm", NPM.replace("CONTENT", "other"));
    List<String> told = new ArrayList<>();

    assertThatThrownBy(() -> ClickHouseEngine.find(environment("bin"), told::add))
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.STACK_FAILED))
        .hasMessageContaining("npm brought a chdb-lib-linux-x64-gnu-26.7.3-stable.1.tgz with SHA")
        .hasMessageContaining("c0d32b129e988f2b9a9a31c9141aecf5e1e2453f9a079efc4d36ab8e3f92b2ad");
    assertThat(told).singleElement().asString().contains("178 MB");
    assertNothingIsLeft();
  }

  @Test
  void anNpmThatFailsIsToldInOneLine() throws IOException {
    program(
        "bin",
        "npm",
        "echo npm ERR! code E1; echo 'npm ERR! network is down' >&2; echo Advice; exit 1");

    assertThatThrownBy(() -> ClickHouseEngine.find(environment("bin"), told -> {}))
        .isInstanceOf(MillraceException.class)
        .hasMessage(
            "npm could not get @chdb/lib-linux-x64-gnu 26.7.3-stable.1: npm ERR! network is down");
    assertNothingIsLeft();
  }

  /** An npm that brings an archive with a content. */
  private static final String NPM =
      """
      test "$2" = @chdb/lib-linux-x64-gnu@26.7.3-stable.1 || exit 1
      while [ "$1" != --pack-destination ]; do shift; done
      echo CONTENT > "$2/chdb-lib-linux-x64-gnu-26.7.3-stable.1.tgz"
      """;

  private void assertNothingIsLeft() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).containsExactly(folder.resolve("bin"));
    }
  }

  private Path program(String where, String name, String script) throws IOException {
    Path program = folder.resolve(where).resolve(name);
    Files.createDirectories(program.getParent());
    Files.writeString(program, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    return program;
  }

  private Map<String, String> environment(String... path) {
    return Map.of(
        "PATH",
        String.join(
            ":", Stream.of(path).map(folder::resolve).map(Path::toString).toArray(String[]::new)),
        "MILLRACE_CACHE",
        folder.toString());
  }
}
