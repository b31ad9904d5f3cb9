package dev.millrace.dev;

import ch.qos.logback.classic.Level;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Points;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code millrace demo}: the main job on made-up tables, and the proof that it is done right.
 *
 * <p>Ends with 0 when the lake equals the tables; with 1 when it does not, or a part fails. Not
 * thread-safe.
 */
@Command(
    name = "demo",
    mixinStandardHelpOptions = true,
    description = {
      "Copy demo tables from Postgres to Parquet in S3, change rows, copy again,",
      "and prove with another Parquet reader that the lake equals the tables. Then",
      "refresh a ClickHouse table from Postgres in each way that a refresh can end.",
      "Everything runs on this host, on 127.0.0.1, and is removed at the end."
    })
public final class DemoCommand implements Callable<Integer> {
  private static final DateTimeFormatter SECOND =
      DateTimeFormatter.ofPattern("uuuuMMdd'T'HHmmss").withZone(ZoneOffset.UTC);
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double BYTES_PER_KILOBYTE = 1e3;
  private static final double BYTES_PER_MEGABYTE = 1e6;

  private final WorkerStarter workerStarter;
  private final long begin = System.nanoTime();
  private AutoCloseable worker;

  @Spec private CommandSpec spec;

  @Option(
      names = "--data-dir",
      paramLabel = "<folder>",
      description =
          "Keep everything here; a next demo goes on from it (default: a temporary folder).")
  private Path dataDirectory;

  @Option(
      names = "--keep",
      description = "Leave it all running at the end, with commands to try next, until Ctrl-C.")
  private boolean keep;

  @Option(
      names = "--rows",
      paramLabel = "<number>",
      defaultValue = "200000",
      description = "Rows of the greatest table (default: ${DEFAULT-VALUE}).")
  private int rows;

  /**
   * Makes the command.
   *
   * @param workerStarter starts the worker on the stack
   */
  public DemoCommand(WorkerStarter workerStarter) {
    this.workerStarter = workerStarter;
  }

  /**
   * Runs the demo.
   *
   * @throws MillraceException {@code STACK_FAILED} when a part can't be started, or the code with
   *     which a run failed
   */
  @Override
  public Integer call() throws SQLException {
    if (rows < DemoTables.LEAST_ORDERS) {
      throw new ParameterException(
          spec.commandLine(),
          "--rows is %d; it must be at least %d".formatted(rows, DemoTables.LEAST_ORDERS));
    }
    EmbeddedStack.Options options =
        EmbeddedStack.Options.onFreePorts(
            EmbeddedStack.Kind.DEMO, Optional.ofNullable(dataDirectory));
    try (EmbeddedStack stack = EmbeddedStack.start(options, this::say)) {
      try {
        return run(stack);
      } catch (RuntimeException | SQLException e) {
        if (stack.closed()) {
          // A signal ended the stack under us; the JVM is about to end with the signal's code.
          return 1;
        }
        throw e;
      }
    }
  }

  private int run(EmbeddedStack stack) throws SQLException {
    startWorker(stack);
    int code;
    try (Connection postgres = stack.postgres().connect();
        DemoRun runs = DemoRun.on(stack);
        DemoLake lake = DemoLake.of(stack)) {
      boolean fresh = fill(postgres);
      String id = "shop-" + SECOND.format(Instant.now());
      Map<String, Long> written = new LinkedHashMap<>();
      heading(fresh ? "First load: all rows" : "A run: what has changed since the last demo");
      replicate(runs, id + "-1", lake, written);
      change(postgres);
      heading("Second run: only what has changed");
      replicate(runs, id + "-2", lake, written);
      heading("Reading all Parquet objects back with DuckDB, and comparing them with Postgres");
      boolean right = prove(stack, postgres, lake, fresh ? written : Map.of());
      right &= refresh(stack, postgres, "products-" + SECOND.format(Instant.now()));
      code = right ? 0 : 1;
      say("");
      say("All of it took %s.".formatted(since(begin)));
    }
    tellLeftOut(stack);
    if (!keep) {
      return code;
    }
    say(next(stack));
    PrintWriter error = spec.commandLine().getErr();
    error.println(stack.failure().join());
    error.flush();
    return 1;
  }

  private void startWorker(EmbeddedStack stack) {
    // What a worker tells about its work, this command tells in its own way.
    level("dev.millrace", Level.WARN);
    // A refresh that is made to fail is part of the show.
    level("dev.millrace.refresh", Level.ERROR);
    // Failed attempts are told with the progress.
    level("io.temporal", Level.ERROR);
    if (!stack.temporal().isReal()) {
      // It warns of what the test server lacks; see tellLeftOut.
      level("dev.millrace.app.Worker", Level.ERROR);
    }
    long start = System.nanoTime();
    worker = workerStarter.start(stack.configuration(), System.getenv());
    stack.attach(() -> worker.close());
    say(text("  Worker     ready on task queue millrace (%s)", since(start)));
  }

  private void restartWorker(EmbeddedStack stack, String points) {
    try {
      worker.close();
    } catch (Exception e) {
      throw new MillraceException(ErrorCode.STACK_FAILED, "The worker did not end: " + e, e);
    }
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put(Points.VARIABLE, points);
    worker = workerStarter.start(stack.configuration(), environment);
  }

  /** Returns whether all refreshes ended as they should; true where there is no ClickHouse. */
  private boolean refresh(EmbeddedStack stack, Connection postgres, String id) throws SQLException {
    if (stack.clickHouse().isEmpty()) {
      return true;
    }
    boolean right =
        new RefreshDemo(stack, points -> restartWorker(stack, points), this::say)
            .run(stack.clickHouse().get(), postgres, id);
    say("");
    say(
        right
            ? "REFRESHED: each refresh ended as it should, and the live table was right after each."
            : "NOT REFRESHED: a refresh ended otherwise; this is a fault in Millrace.");
    return right;
  }

  private boolean fill(Connection postgres) throws SQLException {
    boolean fresh = !DemoTables.exist(postgres);
    heading(
        fresh
            ? "Making and filling tables in Postgres, database " + PostgresServer.DATABASE
            : "The tables are there from an earlier demo");
    long start = System.nanoTime();
    if (fresh) {
      DemoTables.create(postgres, rows);
    }
    DemoTables.counts(postgres)
        .forEach((table, count) -> say(text("  %-14s %,9d rows", table, count)));
    if (fresh) {
      say("  made in " + since(start));
    }
    return fresh;
  }

  private void replicate(DemoRun runs, String id, DemoLake lake, Map<String, Long> written) {
    long start = System.nanoTime();
    say("  workflow Replicate, id " + id);
    List<DemoRun.Written> results =
        runs.run(id, progress -> say("  %s: %s".formatted(since(start), progress)));
    String took = since(start);
    long sum = 0;
    for (DemoRun.Written result : results) {
      sum += result.rows();
      written.merge(result.table(), result.rows(), Long::sum);
      say(
          text(
              "  %-14s %,9d rows  %9s  %s",
              result.table(),
              result.rows(),
              size(result.bytes()),
              result.object().orElse("no object, because nothing changed")));
      requireListed(lake, result);
    }
    say(text("  %,d rows written in %s", sum, took));
  }

  private static void requireListed(DemoLake lake, DemoRun.Written result) {
    if (result.object().isPresent()
        && !lake.objects(result.table()).contains(result.object().get())) {
      throw new MillraceException(
          ErrorCode.INTERNAL,
          "The run says that it wrote %s, and the bucket does not list it"
              .formatted(result.object().get()));
    }
  }

  private void change(Connection postgres) throws SQLException {
    heading("Changing rows in Postgres");
    DemoTables.change(postgres).forEach((table, done) -> say("  %-14s %s".formatted(table, done)));
  }

  /** Returns whether all tables are equal; says which are, and the first difference of others. */
  private boolean prove(
      EmbeddedStack stack, Connection postgres, DemoLake lake, Map<String, Long> written)
      throws SQLException {
    long start = System.nanoTime();
    Path folder = Folders.create(stack.dataDirectory().resolve("demo-proof"));
    long proven = 0;
    boolean equal = true;
    try (LakeProof proof = LakeProof.open(folder)) {
      for (String table : DemoTables.NAMES) {
        List<Path> files = lake.download(lake.objects(table), folder);
        LakeProof.Outcome outcome =
            proof.prove(postgres, table, DemoTables.KEY, DemoTables.UPDATE_KEY, files);
        Optional<String> difference =
            outcome
                .difference()
                .or(() -> lost(written.getOrDefault(table, outcome.versions()), outcome));
        if (difference.isPresent()) {
          equal = false;
          say("  %-14s DIFFERS: %s".formatted(table, difference.get()));
        } else {
          proven += outcome.rows();
          say(
              text(
                  "  %-14s %,9d rows equal in %d columns (newest of %,d versions in %d objects)",
                  table, outcome.rows(), outcome.columns(), outcome.versions(), files.size()));
        }
      }
    } finally {
      Folders.delete(folder);
    }
    say("  compared in " + since(start));
    say("");
    say(
        equal
            ? text(
                "PROVEN: the newest version of each key in the lake equals the tables, %,d rows.",
                proven)
            : "NOT PROVEN: the lake differs from the tables; this is a fault in Millrace.");
    return equal;
  }

  private static Optional<String> lost(long written, LakeProof.Outcome outcome) {
    return written == outcome.versions()
        ? Optional.empty()
        : Optional.of(
            text("the runs wrote %,d rows, the objects have %,d", written, outcome.versions()));
  }

  private void tellLeftOut(EmbeddedStack stack) {
    if (stack.clickHouse().isEmpty()) {
      say("");
      say("Left out, because there is no ClickHouse here: the refresh of a dimension.");
      say("With `clickhouse` or npm on the PATH, on Linux x64, the demo shows it.");
    }
    if (stack.temporal().isReal()) {
      return;
    }
    say("");
    say("Left out, because the workflows ran on Temporal's test server inside this JVM:");
    say("the Temporal UI, schedules, search attributes, and histories that outlive the demo.");
    say("With `temporal` or pip on the PATH, the demo runs on the real server.");
  }

  private static String next(EmbeddedStack stack) {
    TemporalServer temporal = stack.temporal();
    String cli =
        "%s workflow %%s --address %s --workflow-id replicate-shop"
            .formatted(temporal.cli().map(Path::toString).orElse("temporal"), temporal.address());
    return """

        Everything is left running until Ctrl-C.%s
        Three commands to try next, in another terminal%s:

        Start a run:
          %s --type Replicate --task-queue millrace --id-conflict-policy Fail --fail-existing --input '%s'
        Show what it did:
          %s
        Show the watermarks (with Postgres' own client):
          PGPASSWORD="$(cat %s)" psql -h %s -p %d -U %s -d %s -c 'TABLE millrace.watermark'
        """
        .formatted(
            temporal.ui().map(ui -> " Temporal's UI: " + ui).orElse(""),
            temporal.isReal() ? "" : " (the first two need the Temporal CLI)",
            cli.formatted("start"),
            DemoRun.input(),
            cli.formatted("result"),
            stack.postgres().passwordFile(),
            stack.postgres().host(),
            stack.postgres().port(),
            PostgresServer.USER,
            PostgresServer.DATABASE);
  }

  private static void level(String name, Level level) {
    Logger logger = LoggerFactory.getLogger(name);
    if (logger instanceof ch.qos.logback.classic.Logger logback) {
      logback.setLevel(level);
    }
  }

  private static String since(long start) {
    return text("%.1f s", (System.nanoTime() - start) / NANOS_PER_SECOND);
  }

  private static String size(long bytes) {
    return bytes < BYTES_PER_MEGABYTE
        ? text("%,.1f kB", bytes / BYTES_PER_KILOBYTE)
        : text("%,.1f MB", bytes / BYTES_PER_MEGABYTE);
  }

  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }

  private void heading(String text) {
    say("");
    say(text);
  }

  private void say(String text) {
    PrintWriter out = spec.commandLine().getOut();
    synchronized (out) {
      out.println(text);
      out.flush();
    }
  }
}
