package dev.millrace.dev;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testing.TestClickHouse;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class DevCommandIT {
  private static final Duration BOUND = Duration.ofMinutes(1);

  @TempDir Path folder;

  @Test
  void aSignalEndsItAllAndARestartFindsItAllAgain() throws Exception {
    TestClickHouse.requireEngine();
    Path data = folder.resolve("data");
    Path readyFile = folder.resolve("ready.env");
    String[] arguments = {"--data-dir", data.toString(), "--ready-file", readyFile.toString()};
    Map<String, String> first;
    try (ChildJvm child = ChildJvm.start(Dev.class, arguments)) {
      child.await("Millrace is ready");
      first = values(readyFile);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(readyFile)))
          .isEqualTo("rw-------");
      assertThat(first)
          .containsOnlyKeys(
              "POSTGRES_URL",
              "S3_ENDPOINT",
              "S3_BUCKET",
              "AWS_ACCESS_KEY_ID",
              "AWS_SECRET_ACCESS_KEY",
              "AWS_REGION",
              "AWS_ENDPOINT_URL_S3",
              "TEMPORAL_ADDRESS",
              "TEMPORAL_NAMESPACE",
              "TEMPORAL_UI",
              "TEMPORAL_CLI",
              "MILLRACE_CONFIG",
              "CONTROL_URL",
              "MILLRACE_WAL_DIR",
              "CLICKHOUSE_URL");
      assertThat(first.get("CONTROL_URL")).isEqualTo(first.get("POSTGRES_URL"));
      assertThat(first.get("MILLRACE_WAL_DIR")).startsWith(data.toString());
      assertThat(data.resolve("worker-was-started-with")).hasContent(first.get("MILLRACE_CONFIG"));
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(configuration(first))))
          .isEqualTo("rw-------");
      try (Connection connection = connect(first);
          Statement statement = connection.createStatement()) {
        statement.execute("CREATE TABLE kept (id int)");
      }
      assertThat(askClickHouse(first, "CREATE TABLE analytics.kept (id Int32) ENGINE = Log"))
          .isEmpty();

      try (ChildJvm second = ChildJvm.start(Dev.class, "--data-dir", data.toString())) {
        assertThat(second.await("refused: ")).contains(data.toString()).contains("Another stack");
      }

      assertThat(child.terminate()).isEqualTo(128 + 15);
      assertThat(readyFile).doesNotExist();
      assertThat(data.resolve("worker-was-started-with")).doesNotExist();
      assertThat(processes()).isEmpty();
    }
    try (ChildJvm child = ChildJvm.start(Dev.class, arguments)) {
      child.await("Millrace is ready");
      Map<String, String> again = values(readyFile);
      assertThat(again.get("AWS_SECRET_ACCESS_KEY")).isEqualTo(first.get("AWS_SECRET_ACCESS_KEY"));
      try (Connection connection = connect(again);
          Statement statement = connection.createStatement()) {
        statement.execute("DROP TABLE kept");
      }
      assertThat(again.get("CLICKHOUSE_URL")).isEqualTo(first.get("CLICKHOUSE_URL"));
      assertThat(askClickHouse(again, "EXISTS analytics.kept")).isEqualTo("1\n");
      child.kill();
    }
    assertThat(Waiting.until(BOUND, () -> processes().isEmpty())).isTrue();
  }

  @Test
  void aPortInUseEndsItWithTheOptionThatChangesIt() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      try (ChildJvm child = ChildJvm.start(Dev.class, "--no-worker", "--s3-port", port)) {
        assertThat(child.await("refused: ")).contains(port).contains("--s3-port");
      }
    }
  }

  @Test
  void aPartThatEndsOnItsOwnEndsItWithTheCause() throws Exception {
    Path data = folder.resolve("data");
    try (ChildJvm child = ChildJvm.start(Dev.class, "--no-worker", "--data-dir", data.toString())) {
      child.await("Millrace is ready");
      String pid = Folders.read(data.resolve("postgres/data/postmaster.pid"));
      ProcessHandle.of(Long.parseLong(pid.lines().findFirst().orElseThrow()))
          .orElseThrow()
          .destroyForcibly();
      assertThat(child.await("refused: ")).contains("Postgres ended with code 137");
      assertThat(child.exitCode()).isEqualTo(1);
    }
  }

  @Test
  void theHelpNamesWhatSteersWhereProgramsComeFrom() {
    StringWriter text = new StringWriter();
    int code =
        new CommandLine(new DevCommand((configuration, environment) -> () -> {}))
            .setOut(new PrintWriter(text))
            .execute("--help");
    assertThat(code).isZero();
    assertThat(text.toString())
        .contains(
            "MILLRACE_CACHE", "MILLRACE_PIP", "MILLRACE_NPM", "--ready-file", "--clickhouse-port");
  }

  @Test
  void aPortOutOfRangeIsAUsageError() {
    StringWriter text = new StringWriter();
    int code =
        new CommandLine(new DevCommand((configuration, environment) -> () -> {}))
            .setErr(new PrintWriter(text))
            .execute("--ui-port", "65536");
    assertThat(code).isEqualTo(CommandLine.ExitCode.USAGE);
    assertThat(text.toString()).contains("--ui-port");
  }

  /** The command as a program, with a worker that is a file. */
  static final class Dev {
    private Dev() {}

    public static void main(String[] arguments) {
      CommandLine command = new CommandLine(new DevCommand(Dev::startWorker));
      command.setErr(new Prefixed());
      command.setExecutionExceptionHandler(
          (failure, line, result) -> {
            line.getErr().println(failure.getMessage());
            return 1;
          });
      System.exit(command.execute(arguments));
    }

    private static AutoCloseable startWorker(Path configuration, Map<String, String> environment) {
      Path mark = configuration.resolveSibling("worker-was-started-with");
      Folders.writePrivate(mark, configuration.toString());
      return () -> Files.delete(mark);
    }
  }

  /** Errors on standard output, where the test reads them. */
  private static final class Prefixed extends PrintWriter {
    Prefixed() {
      super(System.out, true);
    }

    @Override
    public void println(String text) {
      super.println("refused: " + text);
    }
  }

  private List<Long> processes() {
    return Leftovers.find(
        (pid, seen) ->
            !seen.arguments().contains(Dev.class.getName())
                && (seen.directory().startsWith(folder)
                    || seen.arguments().stream()
                        .anyMatch(argument -> argument.contains(folder.toString()))));
  }

  private static String askClickHouse(Map<String, String> values, String sql) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(values.get("CLICKHOUSE_URL")))
            .POST(HttpRequest.BodyPublishers.ofString(sql))
            .build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
  }

  private static Path configuration(Map<String, String> values) {
    return Path.of(values.get("MILLRACE_CONFIG"));
  }

  private static Connection connect(Map<String, String> values) throws Exception {
    URI url = URI.create(values.get("POSTGRES_URL"));
    String[] user = url.getUserInfo().split(":", 2);
    return DriverManager.getConnection(
        "jdbc:postgresql://" + url.getHost() + ":" + url.getPort() + url.getPath(),
        user[0],
        user[1]);
  }

  private static Map<String, String> values(Path readyFile) throws IOException {
    try (Stream<String> lines = Files.lines(readyFile)) {
      return lines
          .map(line -> line.split("=", 2))
          .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));
    }
  }
}
