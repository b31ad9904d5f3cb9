package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Postgres, an S3 server, Temporal and ClickHouse on 127.0.0.1, with a configuration for workers on
 * them.
 *
 * <p>Credentials and data are kept in the data folder, so a start over the same folder finds them
 * again. All of it ends with this JVM, however that ends. Thread-safe.
 */
public final class EmbeddedStack implements AutoCloseable {
  /** The bucket that is there from the start. */
  public static final String BUCKET = "millrace-lake";

  /** The name of the ClickHouse connection in the configuration. */
  public static final String CLICKHOUSE = "clickhouse";

  /** The region that clients of the S3 server sign for. */
  public static final String REGION = "eu-west-1";

  private static final Logger LOG = LoggerFactory.getLogger(EmbeddedStack.class);
  private static final double NANOS_PER_SECOND = 1e9;
  private static final Duration CLOSE_BOUND = Duration.ofMinutes(1);

  /** Who starts the stack; the configuration's {@code stack}. */
  public enum Kind {
    /** {@code millrace dev}. */
    DEV,
    /** {@code millrace demo}. */
    DEMO,
    /** A test. */
    TEST;

    /** Returns the word in the configuration file. */
    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * How to start.
   *
   * @param kind who starts it
   * @param dataDirectory where everything is kept; empty for a temporary folder, removed at the end
   * @param postgresPort a port, or 0 for any that is free
   * @param s3Port a port, or 0 for any that is free
   * @param temporalPort a port, or 0 for any that is free
   * @param uiPort the port of Temporal's UI, or 0 for any that is free
   * @param clickHousePort the HTTP port of ClickHouse, or 0 for any that is free
   * @param environment where the Temporal CLI and ClickHouse are looked for
   */
  public record Options(
      Kind kind,
      Optional<Path> dataDirectory,
      int postgresPort,
      int s3Port,
      int temporalPort,
      int uiPort,
      int clickHousePort,
      Map<String, String> environment) {
    /** Returns the options of a stack on free ports with this process's environment. */
    public static Options onFreePorts(Kind kind, Optional<Path> dataDirectory) {
      return new Options(kind, dataDirectory, 0, 0, 0, 0, 0, System.getenv());
    }
  }

  private final Options options;
  private final Consumer<String> progress;
  private final DataDirectory data;
  private final Thread hook = new Thread(this::close, "stack-close");
  private final ExecutorService starters = Executors.newFixedThreadPool(4);
  private final CompletableFuture<Void> startFailure = new CompletableFuture<>();
  private final CompletableFuture<String> failure = new CompletableFuture<>();

  /** What {@link #close} closes, last started first; null once it has begun. */
  private Deque<AutoCloseable> open = new ArrayDeque<>();

  private PostgresServer postgres;
  private S3Server s3;
  private TemporalServer temporal;
  private Optional<ClickHouseServer> clickHouse;
  private StackConfiguration configuration;

  private EmbeddedStack(Options options, Consumer<String> progress, DataDirectory data) {
    this.options = options;
    this.progress = progress;
    this.data = data;
  }

  /**
   * Starts everything and waits until it is ready.
   *
   * @param options how to start
   * @param progress is told one line for each step, from several threads
   * @return the stack, ready; it is closed by its caller or by the end of this JVM
   * @throws MillraceException {@code STACK_FAILED} when a part can't be started; nothing of it
   *     stays behind
   */
  public static EmbeddedStack start(Options options, Consumer<String> progress) {
    DataDirectory data = DataDirectory.open(options.dataDirectory());
    EmbeddedStack stack = new EmbeddedStack(options, progress, data);
    Runtime.getRuntime().addShutdownHook(stack.hook);
    try {
      stack.startParts();
      return stack;
    } catch (RuntimeException e) {
      stack.close();
      throw e;
    }
  }

  /** Returns the Postgres server. */
  public PostgresServer postgres() {
    return postgres;
  }

  /** Returns the S3 server; bucket {@link #BUCKET} is in it. */
  public S3Server s3() {
    return s3;
  }

  /** Returns the Temporal server. */
  public TemporalServer temporal() {
    return temporal;
  }

  /** Returns the ClickHouse server; empty where none can be had. */
  public Optional<ClickHouseServer> clickHouse() {
    return clickHouse;
  }

  /** Returns the access key id of the S3 server. */
  public String accessKeyId() {
    return configuration.accessKeyId();
  }

  /** Returns the secret access key of the S3 server. */
  public String secretAccessKey() {
    return configuration.secretAccessKey();
  }

  /** Returns the configuration file, mode 0600, with which a worker runs on this stack. */
  public Path configuration() {
    return configuration.file();
  }

  /** Returns where a worker on this stack keeps records before they are in Postgres. */
  public Path walFolder() {
    return configuration.walFolder();
  }

  /** Returns the folder that everything is kept in. */
  public Path dataDirectory() {
    return data.path();
  }

  /** Returns what completes with the cause in words when a part ends on its own. */
  public CompletableFuture<String> failure() {
    return failure;
  }

  /**
   * Closes something together with the stack, before what was started or attached earlier.
   *
   * @param part for example a worker on this stack; closed at once when the stack is closed
   */
  public void attach(AutoCloseable part) {
    synchronized (this) {
      if (open != null) {
        open.push(part);
        return;
      }
    }
    closeQuietly(part);
  }

  /** Ends everything, last started first, and removes a temporary data folder. */
  @Override
  public void close() {
    Deque<AutoCloseable> parts;
    synchronized (this) {
      if (open == null) {
        return;
      }
      parts = open;
      open = null;
    }
    // A part that is starting closes itself when it is interrupted.
    starters.shutdownNow();
    parts.forEach(EmbeddedStack::closeQuietly);
    awaitStarters();
    closeQuietly(data);
    removeHook();
  }

  private void startParts() {
    progress.accept("Starting Postgres, S3, Temporal and ClickHouse in " + data.path());
    Path home = data.path();
    StackConfiguration draft = StackConfiguration.in(home, options.kind(), !data.temporary());
    CompletableFuture<PostgresServer> startedPostgres =
        part(
            "Postgres",
            () ->
                PostgresServer.start(
                    home.resolve("postgres"), options.postgresPort(), !data.temporary()),
            server -> server.host() + ":" + server.port());
    CompletableFuture<S3Server> startedS3 =
        part("S3", () -> startS3(draft), server -> server.endpoint().getAuthority());
    CompletableFuture<TemporalServer> startedTemporal =
        part("Temporal", this::startTemporal, TemporalServer::address);
    CompletableFuture<Optional<ClickHouseServer>> startedClickHouse =
        CompletableFuture.supplyAsync(this::findClickHouse, starters)
            .thenCompose(this::startClickHouse);
    try {
      // Not for all of them when one has failed: another may be at a long download.
      CompletableFuture.anyOf(
              CompletableFuture.allOf(
                  startedPostgres, startedS3, startedTemporal, startedClickHouse),
              startFailure)
          .join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof MillraceException cause) {
        throw cause;
      }
      throw new MillraceException(
          ErrorCode.STACK_FAILED, "The stack can't be started: " + e.getCause(), e.getCause());
    }
    postgres = startedPostgres.join();
    s3 = startedS3.join();
    temporal = startedTemporal.join();
    clickHouse = startedClickHouse.join();
    configuration = draft;
    configuration.write(postgres, s3, temporal, clickHouse, startAlerts());
    watch(postgres.ended(), postgres::lastWords);
    watch(temporal.ended(), temporal::lastWords);
    clickHouse.ifPresent(server -> watch(server.ended(), server::lastWords));
  }

  /** Returns where alerts go: on a stack of dev somebody reads what it prints. */
  private Optional<URI> startAlerts() {
    if (options.kind() != Kind.DEV) {
      return Optional.empty();
    }
    AlertServer alerts = AlertServer.start(text -> progress.accept("Slack would show: " + text));
    attach(alerts);
    return Optional.of(alerts.webhook());
  }

  private S3Server startS3(StackConfiguration draft) {
    // The lake's identity has its port: with another one the tables would stop, LAKE_CHANGED.
    int port =
        Ports.chooseAgain(
            data.path().resolve("s3").resolve("port"),
            options.s3Port(),
            "the S3 server",
            "--s3-port");
    S3Server server =
        S3Server.start(
            Folders.create(data.path().resolve("s3").resolve("buckets")),
            port,
            draft.accessKeyId(),
            draft.secretAccessKey());
    server.createBucket(BUCKET);
    return server;
  }

  private TemporalServer startTemporal() {
    TemporalServer server =
        TemporalServer.start(
            data.path().resolve("temporal"),
            options.temporalPort(),
            options.uiPort(),
            options.environment(),
            step -> progress.accept("  Temporal: " + step));
    server
        .reason()
        .ifPresent(
            reason ->
                progress.accept(
                    "  Temporal: no real server ("
                        + reason
                        + "), so the test server in this JVM:"
                        + " no UI, no schedules, nothing kept over restarts"));
    return server;
  }

  private Optional<ClickHouseEngine> findClickHouse() {
    try {
      return Optional.of(
          ClickHouseEngine.find(
              options.environment(), step -> progress.accept("  ClickHouse: " + step)));
    } catch (MillraceException e) {
      if (!closed()) {
        progress.accept(
            "  ClickHouse: none can be had ("
                + e.getMessage()
                + "), so no dimension can be refreshed; all else works");
      }
      return Optional.empty();
    }
  }

  private CompletableFuture<Optional<ClickHouseServer>> startClickHouse(
      Optional<ClickHouseEngine> engine) {
    if (engine.isEmpty()) {
      return CompletableFuture.completedFuture(Optional.empty());
    }
    return part(
            "ClickHouse",
            () ->
                ClickHouseServer.start(
                    data.path().resolve("clickhouse"), options.clickHousePort(), engine.get()),
            server -> server.host() + ":" + server.httpPort())
        .thenApply(Optional::of);
  }

  private <T extends AutoCloseable> CompletableFuture<T> part(
      String name, Supplier<T> start, Function<T, String> address) {
    return CompletableFuture.supplyAsync(
        () -> {
          long begin = System.nanoTime();
          try {
            T started = start.get();
            attach(started);
            progress.accept(
                String.format(
                    Locale.ROOT,
                    "  %-10s ready on %s (%.1f s)",
                    name,
                    address.apply(started),
                    (System.nanoTime() - begin) / NANOS_PER_SECOND));
            return started;
          } catch (RuntimeException e) {
            startFailure.completeExceptionally(e);
            throw e;
          }
        },
        starters);
  }

  private void watch(CompletableFuture<Integer> ended, Supplier<String> lastWords) {
    CompletableFuture<Void> unused =
        ended.thenRun(
            () -> {
              if (!closed()) {
                failure.complete(lastWords.get());
              }
            });
  }

  /** Returns whether {@link #close} has begun, for example because a signal ends this JVM. */
  synchronized boolean closed() {
    return open == null;
  }

  private void awaitStarters() {
    try {
      starters.awaitTermination(CLOSE_BOUND.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void removeHook() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is ending, perhaps through this very hook.
    }
  }

  private static void closeQuietly(AutoCloseable part) {
    try {
      part.close();
    } catch (Exception e) {
      // The others still have to end.
      LOG.warn("A part of the stack did not end well: {}", e.getMessage(), e);
    }
  }
}
