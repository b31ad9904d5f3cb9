package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.testing.TestPostgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of a run with crashes: in the end the projection is what the log says, each
 * record once. {@code -Dmillrace.seed} repeats one.
 */
class CrashIT {
  private static final double SCALE =
      Double.parseDouble(System.getProperty("millrace.scale", "0.1"));
  private static final int HISTORIES = Math.max(20, (int) (1_000 * SCALE));
  private static final int KILLS = Math.max(3, (int) (60 * SCALE));
  private static final JsonMapper JSON = new JsonMapper();
  private static final List<Crash> CRASHES = List.of(Crash.values());
  private static final String EXTRACTOR = "orders";

  @TempDir private static Path folder;
  private static String dsn;
  private static DsnDatabase database;

  private final long seed = Long.getLong("millrace.seed", System.nanoTime());

  @BeforeAll
  static void connect() {
    dsn = TestPostgres.uri(TestPostgres.createDatabase());
    database = DsnDatabase.of(dsn);
    ControlSchema.ensure(database);
  }

  @AfterAll
  static void close() {
    database.close();
  }

  /** Where a process ends while it ships. */
  private enum Crash {
    BEFORE_THE_WORK,
    BEFORE_THE_COMMIT,
    BEFORE_THE_OFFSET,
    IN_THE_OFFSET
  }

  /** The end of a process, which no code may catch. */
  private static final class Killed extends Error {
    private static final long serialVersionUID = 1;
  }

  /** One run, from process to process. */
  private static final class History {
    private final Random random;
    private final WalFile file;
    private final List<Long> appended = new ArrayList<>();
    private Wal wal;
    private Shipper shipper;
    private int crashes;

    private History(Random random, String runId) {
      this.random = random;
      this.file = new WalFile(folder, EXTRACTOR, runId);
      begin();
    }

    private void begin() {
      wal = Wal.open(file);
      shipper = new Shipper(database);
    }

    private void crash() {
      crashes++;
      // A process that is killed closes its files and does nothing else.
      wal.close();
      begin();
    }

    private void start() {
      wal.append(
          new WalRecord.RunStart(
              file.runId(), EXTRACTOR, "nightly", "h", 1, Instant.EPOCH, "p", null));
    }

    private void appendSome() {
      int count = 1 + random.nextInt(5);
      for (int i = 0; i < count; i++) {
        long number = appended.size();
        wal.append(WalWriter.event(file, number, "text " + number));
        appended.add(number);
      }
      if (random.nextInt(4) == 0) {
        long used = random.nextInt(1_000);
        wal.append(
            new WalRecord.Budget(
                EXTRACTOR, file.runId(), "walltime", 9L, used, null, false, Instant.EPOCH));
      }
    }

    /** Writes the beginning of a record, up to all of it except the line feed. */
    private void tear() throws IOException {
      byte[] line = WalFormat.line(WalWriter.event(file, appended.size(), "torn"));
      byte[] torn = Arrays.copyOf(line, 1 + random.nextInt(line.length - 1));
      Files.write(file.path(), torn, StandardOpenOption.APPEND);
      crash();
    }

    private void shipAndCrash(Crash where) throws IOException {
      try {
        new Shipper(crashing(where)).ship(file);
      } catch (Killed killed) {
        if (where == Crash.IN_THE_OFFSET) {
          String name = random.nextBoolean() ? ".tmp" : ".%016x.tmp".formatted(random.nextLong());
          String half = Long.toString(Files.size(file.path())).substring(random.nextInt(2));
          Files.writeString(
              file.path().resolveSibling(file.offsetPath().getFileName() + name), half);
        }
      }
      crash();
    }

    /** What a loss of power can make of an offset that was not synced. */
    private void spoilOffset() throws IOException {
      String text = Long.toString(random.nextInt(5_000) - 1_000);
      Files.writeString(file.offsetPath(), text.substring(random.nextInt(text.length() + 1)));
      crash();
    }

    private void step() throws IOException {
      switch (random.nextInt(8)) {
        case 0, 1, 2 -> appendSome();
        case 3 -> shipper.ship(file);
        case 4 -> tear();
        case 5 -> crash();
        case 6 -> shipAndCrash(CRASHES.get(random.nextInt(CRASHES.size())));
        default -> spoilOffset();
      }
    }

    private void finish() {
      wal.append(
          new WalRecord.RunFinish(
              EXTRACTOR,
              file.runId(),
              Instant.EPOCH,
              Instant.EPOCH,
              RunStatus.OK,
              StopReason.CLEAN,
              appended.size(),
              0,
              0,
              null));
      wal.close();
    }

    private void assertProjected() throws IOException {
      new Shipper(database).ship(file);
      String whole = wholeLines(file);
      List<JsonNode> lines = lines(whole);
      assertThat(numbers(lines)).as("what the log holds").isEqualTo(appended);
      assertThat(projected(file.runId())).isEqualTo(expected(lines));
      assertThat(RejectedLines.count(file)).isZero();
      assertThat(Shipper.unshipped(file)).isZero();
      assertThat(file.offsetPath()).hasContent(Long.toString(whole.length()));
    }
  }

  private static ControlDatabase crashing(Crash where) {
    return new ControlDatabase() {
      @Override
      public <T> T transact(Work<T> work) {
        if (where == Crash.BEFORE_THE_WORK) {
          throw new Killed();
        }
        database.transact(
            connection -> {
              T done = work.run(connection);
              if (where == Crash.BEFORE_THE_COMMIT) {
                throw new Killed();
              }
              return done;
            });
        throw new Killed();
      }
    };
  }

  /** The rows of a run as text: one line each for the run, its events and its budgets. */
  private static Map<String, String> projected(String runId) {
    return database.transact(
        connection -> {
          Map<String, String> rows = new TreeMap<>();
          try (PreparedStatement statement =
              connection.prepareStatement(
                  """
                  SELECT 'run', concat_ws(' ', status, stop_reason, n_ok)
                  FROM control.run WHERE run_id = ?
                  UNION ALL SELECT 'event ' || seq, error_detail
                  FROM control.event WHERE run_id = ?
                  UNION ALL SELECT 'budget ' || budget_name, used::text
                  FROM control.budget_usage WHERE run_id = ?
                  """)) {
            for (int parameter = 1; parameter <= 3; parameter++) {
              statement.setString(parameter, runId);
            }
            readInto(rows, statement);
          }
          return rows;
        });
  }

  private static void readInto(Map<String, String> rows, PreparedStatement statement)
      throws SQLException {
    try (ResultSet row = statement.executeQuery()) {
      while (row.next()) {
        assertThat(rows.put(row.getString(1), row.getString(2))).as(row.getString(1)).isNull();
      }
    }
  }

  private static Map<String, String> expected(List<JsonNode> lines) {
    Map<String, String> rows = new TreeMap<>();
    for (JsonNode line : lines) {
      switch (line.get("kind").asText()) {
        case "run_start" -> rows.put("run", "running");
        case "event" -> rows.put("event " + line.get("seq"), line.get("error_detail").asText());
        case "budget" ->
            rows.put("budget " + line.get("budget_name").asText(), line.get("used").asText());
        default ->
            rows.put(
                "run",
                "%s %s %s"
                    .formatted(
                        line.get("status").asText(),
                        line.get("stop_reason").asText(),
                        line.get("n_ok")));
      }
    }
    return rows;
  }

  private interface Course {
    void run(Random random, int number) throws IOException;
  }

  private void repeat(int times, TestReporter reporter, Course course) {
    reporter.publishEntry("seed", Long.toString(seed));
    for (int number = 0; number < times; number++) {
      try {
        course.run(new Random(seed + number), number);
      } catch (IOException | RuntimeException | AssertionError failure) {
        throw new AssertionError(
            "history %d of -Dmillrace.seed=%d: %s".formatted(number, seed, failure), failure);
      }
    }
  }

  @Test
  void theProjectionEndsEqualToTheLogWhateverCrashesInBetween(TestReporter reporter) {
    int[] crashes = new int[1];
    repeat(
        HISTORIES - KILLS,
        reporter,
        (random, number) -> {
          History history = new History(random, "simulated-" + number);
          history.start();
          int steps = 3 + random.nextInt(12);
          for (int step = 0; step < steps; step++) {
            history.step();
          }
          if (random.nextBoolean()) {
            history.finish();
          }
          history.assertProjected();
          history.wal.close();
          crashes[0] += history.crashes;
        });
    assertThat(crashes[0]).isGreaterThan(HISTORIES);
  }

  @Test
  void theProjectionEndsEqualToTheLogOfAProcessThatIsKilled(TestReporter reporter) {
    repeat(
        KILLS,
        reporter,
        (random, number) -> {
          History history = new History(random, "killed-" + number);
          history.start();
          long told = killed(random, history.file.runId());
          history.appended.addAll(numbers(lines(wholeLines(history.file))));
          assertThat((long) history.appended.size())
              .as("what was told to be durable is there, and at most one more")
              .isBetween(told + 1, told + 2);
          if (random.nextBoolean()) {
            history.tear();
          }
          history.appendSome();
          history.finish();
          history.assertProjected();
        });
  }

  /** Returns the last number that a process called durable before it was killed. */
  private static long killed(Random random, String runId) {
    try (ChildJvm child = ChildJvm.start(CrashingRun.class, dsn, folder, EXTRACTOR)) {
      assertThat(child.line("ready")).isNotNull();
      child.say(runId + " 0");
      int enough = random.nextInt(150);
      long last = -1;
      while (last < enough) {
        last = number(child.line("appended"));
      }
      // Any moment of the next 3 ms: between a write and its sync, in a transaction, in a rename.
      LockSupport.parkNanos(random.nextInt(3_000_000));
      child.signal("KILL");
      assertThat(child.exitCode()).isEqualTo(ChildJvm.KILLED);
      String line = child.line("appended");
      while (line != null) {
        last = number(line);
        line = child.line("appended");
      }
      return last;
    }
  }

  private static long number(String line) {
    assertThat(line).as("the process ended too early").isNotNull();
    return Long.parseLong(line.substring("appended ".length()));
  }

  /** What a crash left half-written at the end is not part of a log. */
  private static String wholeLines(WalFile file) throws IOException {
    String text = Files.readString(file.path(), StandardCharsets.US_ASCII);
    return text.substring(0, text.lastIndexOf('\n') + 1);
  }

  private static List<JsonNode> lines(String text) throws IOException {
    List<JsonNode> lines = new ArrayList<>();
    for (String line : text.lines().toList()) {
      lines.add(JSON.readTree(line));
    }
    return lines;
  }

  private static List<Long> numbers(List<JsonNode> lines) {
    return lines.stream()
        .filter(line -> line.get("kind").asText().equals("event"))
        .map(line -> line.get("seq").longValue())
        .toList();
  }
}
