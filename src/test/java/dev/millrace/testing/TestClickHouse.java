package dev.millrace.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.millrace.dev.ClickHouseServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * A ClickHouse of one test, over a folder of its own, which may be killed and started again. Not
 * thread-safe.
 */
public final class TestClickHouse implements AutoCloseable {
  private static final Duration BOUND = Duration.ofMinutes(1);
  private static final HttpClient CLIENT = HttpClient.newHttpClient();

  private final Path folder;
  private ClickHouseServer server;

  private TestClickHouse(Path folder, ClickHouseServer server) {
    this.folder = folder;
    this.server = server;
  }

  /** Starts one; where none can be had the test is skipped, or fails with {@code millrace.ci}. */
  public static TestClickHouse start(Path folder) {
    requireEngine();
    return new TestClickHouse(folder, start(folder, 0));
  }

  /** Skips the test where no ClickHouse can be had; with {@code millrace.ci} it fails. */
  public static void requireEngine() {
    Optional<String> missing = ClickHouseServer.missing(System.getenv(), System.out::println);
    missing.ifPresent(reason -> System.out.println("Skipped without ClickHouse: " + reason));
    if (Boolean.getBoolean("millrace.ci")) {
      assertThat(missing).as("why there is no ClickHouse").isEmpty();
    }
    assumeThat(missing).as("why there is no ClickHouse").isEmpty();
  }

  /** Returns the server that runs; another object after {@link #restart}. */
  public ClickHouseServer server() {
    return server;
  }

  /** Kills the server with SIGKILL and waits until it is gone. */
  public void kill() {
    process().destroyForcibly();
    assertThat(server.ended()).succeedsWithin(BOUND);
  }

  /** Starts the server again on the same port, after {@link #kill} or while it runs. */
  public void restart() {
    int port = server.httpPort();
    server.close();
    server = start(folder, port);
  }

  /** Returns the process of the server itself, such as to stop it for a while. */
  public ProcessHandle process() {
    try {
      String status = Files.readString(folder.resolve("data").resolve("status"));
      String pid = status.lines().findFirst().orElseThrow().replace("PID: ", "");
      return ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns what a statement of the admin answers, as tab-separated lines without the last end. */
  public String query(String sql) {
    return query(server, sql);
  }

  /** Returns what a statement of the admin answers, as tab-separated lines without the last end. */
  public static String query(ClickHouseServer server, String sql) {
    HttpResponse<String> answer = ask(server, server.adminUser(), server.adminPassword(), sql);
    assertThat(answer.statusCode()).as(sql + ": " + answer.body()).isEqualTo(200);
    return answer.body().stripTrailing();
  }

  /** Returns what the server answers to a statement of anybody. */
  public static HttpResponse<String> ask(
      ClickHouseServer server, String user, String password, String sql) {
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create("http://" + server.host() + ":" + server.httpPort() + "/"))
            .header("X-ClickHouse-User", user)
            .header("X-ClickHouse-Key", password)
            .POST(HttpRequest.BodyPublishers.ofString(sql))
            .build();
    try {
      return CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  @Override
  public void close() {
    server.close();
  }

  private static ClickHouseServer start(Path folder, int port) {
    return ClickHouseServer.start(folder, port, System.getenv(), System.out::println);
  }
}
