package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Redactor;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * A real ClickHouse on 127.0.0.1, HTTP only, over a folder that it can be started on again.
 *
 * <p>Its time zone is UTC, its own database {@link #DATABASE} of engine Atomic is there from the
 * start, and so is {@code system.query_log}. It ends with this JVM, however that ends. Rows that an
 * INSERT has acknowledged survive a killed server.
 *
 * <p>Without an installed {@code clickhouse} it is {@code clickhouse local} in a JVM of its own
 * (see {@link ClickHouseLibrary}), which has no SQL for users and rights, and takes no INSERT into
 * Replicated tables. Thread-safe.
 */
public final class ClickHouseServer implements AutoCloseable {
  /** Who may do all but manage users and end queries of others. */
  public static final String USER = "millrace";

  /** Who may do everything; for tests. */
  public static final String ADMIN = "admin";

  /** The database that is there from the start. */
  public static final String DATABASE = "analytics";

  private static final String NAME = "ClickHouse";
  private static final Duration START_BOUND = Duration.ofMinutes(2);
  private static final Duration ANSWER_BOUND = Duration.ofSeconds(30);
  private static final List<String> SIGNALS = List.of("TERM", "KILL");

  private final ClickHouseFiles files;
  private final int port;
  private final String password;
  private final String adminPassword;
  private final ProcessGuard guard;

  private ClickHouseServer(ClickHouseFiles files, int port, ProcessGuard guard) {
    this.files = files;
    this.port = port;
    this.password = Folders.secret(files.password());
    this.adminPassword = Folders.secret(files.adminPassword());
    this.guard = guard;
  }

  /**
   * Returns in one line why no ClickHouse can be had; empty when it can, perhaps after a download.
   *
   * @param environment where it is looked for: {@code PATH}, {@code MILLRACE_CACHE}, {@code
   *     MILLRACE_NPM}
   * @param progress is told when a download begins
   */
  public static Optional<String> missing(
      Map<String, String> environment, Consumer<String> progress) {
    try {
      ClickHouseEngine.find(environment, progress);
      return Optional.empty();
    } catch (MillraceException e) {
      return Optional.of(e.getMessage());
    }
  }

  /**
   * Starts the server and waits until it answers.
   *
   * @param folder where data, passwords and logs are kept; made when missing. What an earlier
   *     server over the same folder left running is ended first
   * @param port the HTTP port, or 0 for any that is free: that of the last start, where it is
   * @param environment where ClickHouse is looked for: {@code PATH}, {@code MILLRACE_CACHE}, {@code
   *     MILLRACE_NPM}
   * @param progress is told when a download begins
   * @return the server, ready
   * @throws MillraceException {@code STACK_FAILED} when there is none or it can't be started, with
   *     the cause
   */
  public static ClickHouseServer start(
      Path folder, int port, Map<String, String> environment, Consumer<String> progress) {
    return start(folder, port, ClickHouseEngine.find(environment, progress));
  }

  static ClickHouseServer start(Path folder, int port, ClickHouseEngine engine) {
    ClickHouseFiles files =
        new ClickHouseFiles(Folders.create(folder.toAbsolutePath().normalize()));
    endLeftovers(files);
    int chosen = Ports.chooseAgain(files.port(), port, NAME, "--clickhouse-port");
    files.write(engine, chosen);
    ProcessGuard guard = ProcessGuard.start(NAME, engine.command(files), SIGNALS, files.output());
    ClickHouseServer server = new ClickHouseServer(files, chosen, guard);
    try {
      server.prepare();
      return server;
    } catch (RuntimeException e) {
      guard.close();
      throw e;
    }
  }

  /** Returns the host: always 127.0.0.1. */
  public String host() {
    return Ports.HOST;
  }

  /** Returns the HTTP port. */
  public int httpPort() {
    return port;
  }

  /** Returns who a worker logs in as: {@link #USER}. */
  public String user() {
    return USER;
  }

  /** Returns the password of {@link #USER}; {@link Redactor} knows it. */
  public String password() {
    return password;
  }

  /** Returns the file, mode 0600, that holds the password of {@link #USER} and nothing else. */
  public Path passwordFile() {
    return files.password();
  }

  /** Returns who may do everything: {@link #ADMIN}. */
  public String adminUser() {
    return ADMIN;
  }

  /** Returns the password of {@link #ADMIN}; {@link Redactor} knows it. */
  public String adminPassword() {
    return adminPassword;
  }

  /** Returns the address with user and password as query parameters: a secret. */
  public URI url() {
    return URI.create("http://%s:%d/?user=%s&password=%s".formatted(host(), port, USER, password));
  }

  /** Returns what completes with an exit code when the server has ended, for whatever reason. */
  public CompletableFuture<Integer> ended() {
    return guard.ended();
  }

  /** Returns what to tell when the server ended on its own. */
  String lastWords() {
    return guard.lastWords();
  }

  /** Ends the server and waits until it is gone. Clients lose their connections. */
  @Override
  public void close() {
    guard.close();
  }

  private static void endLeftovers(ClickHouseFiles files) {
    // The guards name the file too; they end with the server.
    String argument = "--config-file=" + files.configuration();
    Leftovers.end(
        NAME,
        SIGNALS,
        (pid, seen) ->
            (seen.program().equals("java") || seen.program().startsWith("clickhouse"))
                && seen.arguments().contains(argument));
  }

  private void prepare() {
    HttpClient client = HttpClient.newBuilder().connectTimeout(ANSWER_BOUND).build();
    boolean ready = Waiting.until(START_BOUND, () -> answers(client));
    if (!ready) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED,
          NAME + " did not answer within " + START_BOUND.toSeconds() + " s. " + lastWords());
    }
    execute(client, "CREATE DATABASE IF NOT EXISTS " + DATABASE + " ENGINE = Atomic");
    // The query log is made when it is written for the first time.
    execute(client, "SYSTEM FLUSH LOGS");
  }

  private boolean answers(HttpClient client) {
    if (!guard.isAlive()) {
      throw new MillraceException(ErrorCode.STACK_FAILED, lastWords());
    }
    // The client would wait long for a port where nobody listens yet.
    if (!Ports.answers(port)) {
      return false;
    }
    try {
      HttpRequest request = HttpRequest.newBuilder(address("/ping")).timeout(ANSWER_BOUND).build();
      return send(client, request).statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  private void execute(HttpClient client, String statement) {
    HttpRequest request =
        HttpRequest.newBuilder(address("/"))
            .header("X-ClickHouse-User", ADMIN)
            .header("X-ClickHouse-Key", adminPassword)
            .POST(HttpRequest.BodyPublishers.ofString(statement))
            .timeout(ANSWER_BOUND)
            .build();
    try {
      HttpResponse<String> answer = send(client, request);
      if (answer.statusCode() != 200) {
        throw failed(statement, Redactor.redact(answer.body().strip()), null);
      }
    } catch (IOException e) {
      throw failed(statement, e + ". " + lastWords(), e);
    }
  }

  private static HttpResponse<String> send(HttpClient client, HttpRequest request)
      throws IOException {
    try {
      return client.send(request, HttpResponse.BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MillraceException(ErrorCode.STACK_FAILED, "The start was interrupted", e);
    }
  }

  private URI address(String path) {
    return URI.create("http://" + Ports.HOST + ":" + port + path);
  }

  private static MillraceException failed(String statement, String cause, Exception exception) {
    return new MillraceException(
        ErrorCode.STACK_FAILED, NAME + " refused \"" + statement + "\": " + cause, exception);
  }
}
