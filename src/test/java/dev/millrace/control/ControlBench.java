package dev.millrace.control;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.dev.PostgresServer;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The Java side of {@code bench/control}, not a test: starts a Postgres, and then does what each
 * line of its input says and answers with the seconds that it took.
 */
public final class ControlBench {
  private static final String EXTRACTOR = "gofrugal";
  private static final String RUN = "20261130T104450Z-gofrugal-e395e0";
  private static final Instant START = Instant.parse("2026-11-30T10:44:50.770857Z");
  private static final LocalDate DAY = LocalDate.parse("2026-09-01");

  private static final List<String> ENTITIES =
      List.of("sales_item_wise", "stock", "purchase_order", "customer_ledger", "price_list");

  /** The same events as {@link #event}; {@code bench/control} compares a checksum of the rows. */
  private static final String INSERT =
      """
      INSERT INTO control.event
      SELECT '%s', '%s', g, '%s'::timestamptz + g * interval '37 ms',
             (ARRAY['%s'])[1 + g %% 5], (1001 + g %% 800)::text, date '%s' + g / 800,
             CASE g %% 20 WHEN 7 THEN 'source_error' WHEN 13 THEN 'zero_rows' ELSE 'ok' END,
             CASE g %% 20 WHEN 7 THEN 503 ELSE 200 END,
             CASE g %% 20 WHEN 7 THEN NULL WHEN 13 THEN 0 ELSE g * 31 %% 5000 END,
             CASE g %% 20 WHEN 7 THEN 3 ELSE 1 END,
             CASE WHEN g %% 20 NOT IN (7, 13) THEN 1 END,
             300 + g * 31 %% 2000,
             CASE WHEN g %% 20 NOT IN (7, 13) THEN 100 + g * 17 %% 900 END,
             CASE g %% 20 WHEN 7 THEN 'HTTPError: 503 Service Unavailable for page ' || g
               || E' of https://api.example.com/v2/items\\n  upstream connect error' END,
             CASE g %% 10 WHEN 3 THEN
               jsonb_build_object('n_requests', 1 + g %% 9, 'gen_ms', g %% 1000 + 0.5) END
      FROM generate_series(0, %d - 1) AS g
      """;

  private final Path folder;
  private final PostgresServer server;
  private final Connection connection;
  private final DsnDatabase database;
  private int number;

  private ControlBench(Path folder, PostgresServer server) throws SQLException {
    this.folder = folder;
    this.server = server;
    this.connection = server.connect();
    this.database = DsnDatabase.of(server.url());
  }

  /** Argument: a folder for all files. */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    try (PostgresServer server = PostgresServer.start(folder.resolve("postgres"), 0, true)) {
      ControlBench bench = new ControlBench(folder, server);
      ControlSchema.ensure(bench.database);
      bench.answer(server.url());
      BufferedReader input =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        bench.answer(bench.did(line.split(" ")));
      }
      bench.connection.close();
      bench.database.close();
    }
  }

  private void answer(String text) {
    System.out.println("= " + text);
    System.out.flush();
  }

  private String did(String[] words) throws Exception {
    int count = words.length > 1 ? Integer.parseInt(words[1]) : 0;
    return switch (words[0]) {
      case "wal" -> appendToWal(count, Integer.parseInt(words[2]));
      case "bare" -> appendBare(count, Integer.parseInt(words[2]));
      case "log" -> writeLog(count).path().toString();
      case "empty" -> empty();
      case "insert" -> insert(count);
      case "ship" -> ship();
      case "events" -> events(count);
      case "rows" -> rows();
      default -> throw new IllegalArgumentException(words[0]);
    };
  }

  private String appendToWal(int count, int threads) throws Exception {
    WalFile file = new WalFile(folder.resolve("wal"), EXTRACTOR, "append-" + number++);
    try (Wal wal = Wal.open(file)) {
      wal.append(event(0));
      double seconds = timed(count, threads, number -> wal.append(event(number)));
      return checked(file.path(), count, seconds);
    }
  }

  private String appendBare(int count, int threads) throws Exception {
    Path file = Files.createDirectories(folder.resolve("bare")).resolve("append-" + number++);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.APPEND)) {
      byte[] line = WalFormat.line(event(0));
      Append append =
          number -> {
            channel.write(ByteBuffer.wrap(line));
            channel.force(true);
          };
      append.append(0);
      return checked(file, count, timed(count, threads, append));
    }
  }

  private static String checked(Path file, int count, double seconds) throws IOException {
    int lines = Files.readAllLines(file).size();
    Files.delete(file);
    if (lines != count + 1) {
      throw new IllegalStateException(lines + " lines in " + file);
    }
    return Double.toString(seconds);
  }

  @FunctionalInterface
  private interface Append {
    void append(int number) throws IOException;
  }

  private static double timed(int count, int threads, Append append) throws Exception {
    ExecutorService workers = Executors.newFixedThreadPool(threads);
    try {
      CyclicBarrier start = new CyclicBarrier(threads + 1);
      List<Future<Object>> futures = new ArrayList<>();
      for (int thread = 0; thread < threads; thread++) {
        Callable<Object> work =
            () -> {
              start.await();
              for (int number = 1; number <= count / threads; number++) {
                append.append(number);
              }
              return null;
            };
        futures.add(workers.submit(work));
      }
      start.await();
      long begin = System.nanoTime();
      for (Future<Object> future : futures) {
        future.get();
      }
      return secondsSince(begin);
    } finally {
      workers.shutdown();
    }
  }

  private WalFile log() {
    return new WalFile(folder.resolve("log"), EXTRACTOR, RUN);
  }

  private WalFile writeLog(int count) throws IOException {
    WalFile file = log();
    Files.createDirectories(file.path().getParent());
    try (OutputStream stream = new BufferedOutputStream(Files.newOutputStream(file.path()))) {
      for (int number = 0; number < count; number++) {
        stream.write(WalFormat.line(event(number)));
      }
    }
    return file;
  }

  /** Makes the same start for each side: an empty table, no offset, nothing left to be written. */
  private String empty() throws SQLException, IOException {
    Files.deleteIfExists(log().offsetPath());
    try (Statement statement = connection.createStatement()) {
      statement.execute("TRUNCATE control.event");
      statement.execute("CHECKPOINT");
    }
    return "empty";
  }

  private String insert(int count) throws SQLException {
    String sql = INSERT.formatted(EXTRACTOR, RUN, START, String.join("','", ENTITIES), DAY, count);
    try (Statement statement = connection.createStatement()) {
      long begin = System.nanoTime();
      statement.execute(sql);
      return Double.toString(secondsSince(begin));
    }
  }

  private String ship() {
    Shipper shipper = new Shipper(database);
    long begin = System.nanoTime();
    shipper.ship(log());
    return Double.toString(secondsSince(begin));
  }

  /** Seconds until the last event() returned, and until the run had ended. */
  private String events(int count) {
    ControlPlane plane =
        ControlPlane.of("bench-java", folder.resolve("events-" + number++), server.url());
    long[] times = new long[2];
    plane.run(
        "bench",
        run -> {
          times[0] = System.nanoTime();
          for (int number = 0; number < count; number++) {
            run.event(outcome(number));
          }
          times[1] = System.nanoTime();
          return null;
        });
    return (times[1] - times[0]) / 1e9 + " " + secondsSince(times[0]);
  }

  private String rows() throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                """
                SELECT count(*), coalesce(sum(hashtextextended(event::text, 0)), 0)
                FROM control.event AS event
                """)) {
      row.next();
      return row.getString(1) + " " + row.getString(2);
    }
  }

  private static double secondsSince(long begin) {
    return (System.nanoTime() - begin) / 1e9;
  }

  private static WalRecord.Event event(int number) {
    Run.Outcome outcome = outcome(number);
    return new WalRecord.Event(
        EXTRACTOR,
        RUN,
        number,
        START.plusMillis(37L * number),
        outcome.entity(),
        outcome.unit(),
        outcome.businessDate(),
        outcome.status(),
        outcome.httpStatus(),
        outcome.rows(),
        outcome.sourceAttempts(),
        outcome.sinkAttempts(),
        outcome.pullMs(),
        outcome.loadMs(),
        outcome.errorDetail(),
        outcome.extra());
  }

  private static Run.Outcome outcome(int number) {
    boolean failed = number % 20 == 7;
    boolean empty = number % 20 == 13;
    boolean loaded = !failed && !empty;
    ObjectNode extra =
        number % 10 == 3
            ? JsonNodeFactory.instance
                .objectNode()
                .put("n_requests", 1 + number % 9)
                .put("gen_ms", number % 1000 + 0.5)
            : null;
    return new Run.Outcome(
        ENTITIES.get(number % 5),
        Integer.toString(1001 + number % 800),
        DAY.plusDays(number / 800),
        failed ? EventStatus.SOURCE_ERROR : empty ? EventStatus.ZERO_ROWS : EventStatus.OK,
        failed ? 503 : 200,
        failed ? null : empty ? 0L : number * 31L % 5000,
        failed ? 3 : 1,
        loaded ? 1 : null,
        300 + number * 31 % 2000,
        loaded ? 100 + number * 17 % 900 : null,
        failed
            ? "HTTPError: 503 Service Unavailable for page "
                + number
                + " of https://api.example.com/v2/items\n  upstream connect error"
            : null,
        extra);
  }
}
