package dev.millrace.dev;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.app.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo as a person starts it: a JVM of its own, with the real worker. */
class DemoCommandIT {
  private static final int FIRST_THAT_WARNS = 24;

  private static final Duration BOUND = Duration.ofMinutes(5);
  private static final Pattern HOME = Pattern.compile("Starting Postgres.* in (\\S+)");
  private static final String[] PROOF = {
    "shop.customers       200 rows equal in 8 columns (newest of 205 versions in 2 objects)",
    "shop.orders        2,010 rows equal in 11 columns (newest of 2,030 versions in 2 objects)",
    "shop.payments      1,505 rows equal in 8 columns (newest of 1,515 versions in 2 objects)",
    "PROVEN: the newest version of each key in the lake equals the tables, 3,715 rows."
  };

  @TempDir Path folder;

  /** What a demo printed, and how it ended. */
  private record Ended(int code, String output, String errors) {}

  @Test
  void itProvesTheCopyAndLeavesNothingBehind() throws Exception {
    Ended demo = demo(List.of(), "--rows", "2000");
    assertThat(demo.errors()).isEmpty();
    assertThat(demo.output())
        .contains(PROOF)
        .contains("s3://millrace-lake/raw/postgres/shop/orders/")
        .contains("3,700 rows written in", "50 rows written in");
    if (Boolean.getBoolean("millrace.ci")) {
      assertThat(demo.output()).doesNotContain("Left out");
    }
    assertThat(demo.code()).isZero();
    assertNothingIsLeft(demo);
  }

  @Test
  void withoutTemporalAndClickHouseItProvesTheSameAndSaysWhatItLeftOut() throws Exception {
    Ended demo =
        demo(
            List.of(
                "MILLRACE_PIP=off",
                "MILLRACE_NPM=off",
                "MILLRACE_CACHE=" + cache("postgres-"),
                "PATH=" + pathWithoutCli()),
            "--rows",
            "2000");
    assertThat(demo.errors()).isEmpty();
    assertThat(demo.output())
        .contains(PROOF)
        .contains("Left out", "Temporal UI", "schedules", "search attributes")
        .contains("ClickHouse: none can be had");
    assertThat(demo.code()).isZero();
    assertNothingIsLeft(demo);
  }

  @Test
  void keepLeavesItRunningUntilASignalAndASecondDemoGoesOnFromIt() throws Exception {
    Path output = folder.resolve("output");
    Path data = folder.resolve("kept");
    List<String> environment = withoutClickHouse();
    Process process =
        start(output, environment, "--rows", "1000", "--keep", "--data-dir", data.toString());
    try {
      boolean ready =
          Waiting.until(BOUND, () -> !process.isAlive() || Folders.read(output).contains("psql"));
      assertThat(ready).isTrue();
      assertThat(Folders.read(output))
          .contains("PROVEN", "until Ctrl-C", "workflow start", "workflow result", "psql");
      assertThat(processes(data)).isNotEmpty();
      process.destroy();
      assertThat(process.waitFor(BOUND.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(128 + 15);
    } finally {
      process.destroyForcibly();
    }
    assertThat(processes(data)).isEmpty();

    Ended second = demo(environment, "--rows", "1000", "--data-dir", data.toString());
    assertThat(second.output())
        .contains("The tables are there from an earlier demo")
        .contains("no object, because nothing changed")
        .contains("in 3 objects", "PROVEN");
    assertThat(second.code()).isZero();
    assertThat(data.resolve("demo-proof")).doesNotExist();
    assertThat(processes(data)).isEmpty();
  }

  /** Others show the refresh, which takes the most of a demo's time. */
  private List<String> withoutClickHouse() throws IOException {
    return List.of("MILLRACE_NPM=off", "MILLRACE_CACHE=" + cache("postgres-", "temporal-"));
  }

  private Ended demo(List<String> environment, String... arguments) throws Exception {
    Path output = folder.resolve("output");
    Process process = start(output, environment, arguments);
    try {
      assertThat(process.waitFor(BOUND.toSeconds(), TimeUnit.SECONDS))
          .as(Folders.read(output))
          .isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Ended(
        process.exitValue(),
        Folders.read(output),
        Folders.read(output.resolveSibling("output.errors")));
  }

  private Process start(Path output, List<String> environment, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    if (Runtime.version().feature() >= FIRST_THAT_WARNS) {
      // As the launcher does: libraries below us do what newer JVMs warn about.
      command.add("--enable-native-access=ALL-UNNAMED");
      command.add("--sun-misc-unsafe-memory-access=allow");
    }
    command.addAll(List.of("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.add("-Djava.io.tmpdir=" + Folders.create(folder.resolve("tmp")));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
    command.add("demo");
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectOutput(output.toFile())
            .redirectError(output.resolveSibling("output.errors").toFile());
    for (String variable : environment) {
      String[] pair = variable.split("=", 2);
      builder.environment().put(pair[0], pair[1]);
    }
    return builder.start();
  }

  /** Returns a cache that has only some of the parts, so that those aren't fetched again. */
  private Path cache(String... prefixes) throws IOException {
    Path cache = Folders.create(folder.resolve("cache"));
    try (Stream<Path> kept = Files.list(Folders.cache(System.getenv()))) {
      for (Path entry :
          kept.filter(
                  path -> Stream.of(prefixes).anyMatch(path.getFileName().toString()::startsWith))
              .toList()) {
        Files.createSymbolicLink(cache.resolve(entry.getFileName()), entry);
      }
    }
    return cache;
  }

  private static String pathWithoutCli() {
    return Stream.of(System.getenv("PATH").split(":"))
        .filter(entry -> !Files.exists(Path.of(entry, "temporal")))
        .collect(Collectors.joining(":"));
  }

  private void assertNothingIsLeft(Ended demo) throws IOException {
    Matcher home = HOME.matcher(demo.output());
    assertThat(home.find()).isTrue();
    assertThat(Path.of(home.group(1))).doesNotExist();
    assertThat(processes(Path.of(home.group(1)))).isEmpty();
    try (Stream<Path> left = Files.list(folder.resolve("tmp"))) {
      assertThat(left).isEmpty();
    }
  }

  private static List<Long> processes(Path home) {
    return Leftovers.find(
        (pid, seen) ->
            !seen.arguments().contains(Main.class.getName())
                && (seen.directory().startsWith(home)
                    || seen.arguments().stream()
                        .anyMatch(argument -> argument.contains(home.toString()))));
  }
}
