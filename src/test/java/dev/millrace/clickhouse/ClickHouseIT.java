package dev.millrace.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.testing.Await;
import java.io.IOException;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class ClickHouseIT {
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private static TestDatabase database;
  private static ClickHouse clickhouse;
  private static TargetTable numbers;

  @BeforeAll
  static void makeTable() {
    database = TestDatabase.create();
    clickhouse = database.clickhouse();
    numbers = database.create("numbers", "n UInt64");
  }

  @AfterAll
  static void dropDatabase() {
    database.close();
  }

  private static String id() {
    return TestDatabase.id();
  }

  /** Makes a table that takes equal blocks for repeated ones where it is let. */
  private static TargetTable table(String columns) {
    TargetTable made = database.table("t_" + TestDatabase.token());
    database.run(
        "CREATE TABLE %s (%s) ENGINE = MergeTree ORDER BY tuple() SETTINGS non_replicated_deduplication_window = 100"
            .formatted(made.sql(), columns));
    return made;
  }

  private static long count(TargetTable table) {
    return database.count(table);
  }

  @Test
  void valuesComeBackAsTheyAreWhateverIsInThem() {
    String odd = "it's \\ a `\"?\n\t{fn x} \u017e";

    List<String> read =
        clickhouse.query(
            "SELECT ?, '?' AS `?`, NULL, ?, toUUID(?), toDateTime(0)",
            row ->
                String.join(
                    "|",
                    row.text(1),
                    row.text(2),
                    String.valueOf(row.text(3)),
                    row.text(4),
                    row.uuid(5).toString()),
            odd,
            42L,
            new UUID(1, 2));

    assertThat(read).containsExactly(odd + "|?|null|42|00000000-0000-0001-0000-000000000002");
  }

  @Test
  void aFaultOfTheReaderIsNoFailureOfTheServer() {
    IllegalStateException fault = new IllegalStateException("no such thing");

    assertThatThrownBy(
            () ->
                clickhouse.query(
                    "SELECT 1",
                    row -> {
                      throw fault;
                    }))
        .isSameAs(fault);
  }

  @Test
  void textOfTimesIsUtc() {
    assertThat(
            clickhouse.query(
                "SELECT toString(toDateTime(0)), timezone()", row -> row.text(1) + row.text(2)))
        .containsExactly("1970-01-01 00:00:00UTC");
  }

  /** Case 64. */
  @Test
  void aStatementWhoseAnswerIsLostIsAskedForAndNotSentAgain() {
    TargetTable table = table("n UInt64");
    String queryId = id();
    try (ClickHouse impatient =
        new ClickHouse(TestDatabase.settings().withSocketTimeout(Duration.ofSeconds(2)))) {
      long start = System.nanoTime();

      impatient.execute(
          "INSERT INTO %s SELECT number + sleepEachRow(0.5) FROM numbers(20) SETTINGS max_block_size = 2"
              .formatted(table.sql()),
          queryId,
          MINUTE);

      assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofSeconds(9));
    }

    assertThat(count(table)).isEqualTo(20);
    assertThat(starts(queryId)).isEqualTo(1);
  }

  private static long starts(String queryId) {
    clickhouse.await(queryId, MINUTE);
    return clickhouse
        .query(
            "SELECT count() FROM system.query_log WHERE query_id = ? AND type = 'QueryStart'",
            row -> row.number(1),
            queryId)
        .get(0);
  }

  @Test
  void aStatementThatFailsAfterItsAnswerWasLostFailsWithTheServersReason() {
    try (ClickHouse impatient =
        new ClickHouse(TestDatabase.settings().withSocketTimeout(Duration.ofSeconds(1)))) {
      assertThatThrownBy(
              () ->
                  impatient.execute(
                      "INSERT INTO %s SELECT throwIf(number + sleepEachRow(0.5) = 5, 'five') FROM numbers(9) SETTINGS max_block_size = 1"
                          .formatted(numbers.sql()),
                      id(),
                      MINUTE))
          .isInstanceOfSatisfying(
              MillraceException.class,
              e -> {
                assertThat(e.code()).isEqualTo(ErrorCode.CLICKHOUSE_ERROR);
                assertThat(e.answer().orElseThrow().code()).isEqualTo("395");
                assertThat(e).hasMessageContaining("five");
              });
    }
  }

  @Test
  void aStatementIsEndedAtItsLimit() {
    String queryId = id();

    assertThatThrownBy(
            () ->
                clickhouse.execute(
                    "INSERT INTO %s SELECT number + sleepEachRow(0.1) FROM numbers(1000) SETTINGS max_block_size = 1"
                        .formatted(numbers.sql()),
                    queryId,
                    Duration.ofSeconds(1)))
        .isInstanceOfSatisfying(
            MillraceException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.TIMEOUT));

    assertThat(clickhouse.running(queryId)).isEmpty();
  }

  @Test
  void aStatementThatTheServerDoesNotEndAtItsLimitIsKilled() {
    String queryId = id();

    assertThatThrownBy(
            () ->
                clickhouse.execute(
                    "INSERT INTO %s SELECT number + sleepEachRow(0.1) FROM numbers(1000) SETTINGS max_block_size = 1, max_execution_time = 0"
                        .formatted(numbers.sql()),
                    queryId,
                    Duration.ofSeconds(1)))
        .isInstanceOfSatisfying(
            MillraceException.class,
            e -> {
              assertThat(e.code()).isEqualTo(ErrorCode.TIMEOUT);
              assertThat(e).hasMessageContaining(queryId).hasMessageContaining("was ended");
            });

    assertThat(clickhouse.running(queryId)).isEmpty();
  }

  @Test
  void aStatementThatNeverArrivedHasNoKnownEnd() {
    assertThat(clickhouse.await(id(), MINUTE).state()).isEqualTo(QueryEnd.State.UNKNOWN);
  }

  @Test
  void onlyTheStatementOfThatIdIsKilled() {
    String mine = id();
    String other = id();
    CompletableFuture<Void> first = sleeping(mine);
    CompletableFuture<Void> second = sleeping(other);

    assertThat(clickhouse.kill(mine, MINUTE)).isTrue();

    assertThat(clickhouse.await(mine, MINUTE).state()).isEqualTo(QueryEnd.State.FAILED);
    assertThat(clickhouse.running(other)).isPresent();
    assertThat(clickhouse.runningWhere("startsWith(query_id, ?)", other)).hasSize(1);
    clickhouse.kill(other, MINUTE);
    assertThat(first).failsWithin(MINUTE);
    assertThat(second).failsWithin(MINUTE);
  }

  private static CompletableFuture<Void> sleeping(String queryId) {
    CompletableFuture<Void> statement =
        CompletableFuture.runAsync(
            () ->
                clickhouse.execute(
                    "INSERT INTO %s SELECT sleepEachRow(0.1) FROM numbers(1000) SETTINGS max_block_size = 1"
                        .formatted(numbers.sql()),
                    queryId,
                    MINUTE));
    Await.until("the statement runs", () -> clickhouse.running(queryId).isPresent());
    return statement;
  }

  @Test
  void aBodyIsStreamedIntoTheTable() {
    TargetTable table = table("n UInt64, s String");

    clickhouse.insert(
        table.sql() + " (n, s)",
        id(),
        MINUTE,
        out -> {
          RowBinary rows = new RowBinary(out);
          for (int n = 0; n < 100_000; n++) {
            rows.int64(n);
            rows.string("\u017eodis " + n);
          }
          rows.flush();
        });

    assertThat(
            clickhouse.query(
                "SELECT count(), sum(n), countIf(s = 'žodis ' || toString(n)) FROM " + table.sql(),
                row -> row.text(1) + " " + row.text(2) + " " + row.text(3)))
        .containsExactly("100000 4999950000 100000");
  }

  @Test
  void aBodyCanPassThroughASelect() {
    TargetTable table = table("d Date32");

    clickhouse.insert(
        table.sql() + " (d) SELECT toDate32(s) FROM input('s String')",
        id(),
        MINUTE,
        out -> {
          RowBinary rows = new RowBinary(out);
          rows.string("2024-02-29");
          rows.flush();
        });

    assertThat(clickhouse.query("SELECT toString(d) FROM " + table.sql(), row -> row.text(1)))
        .containsExactly("2024-02-29");
  }

  /** Case 66. */
  @Test
  void equalRowsAreNeverTakenForRepeatedOnes() {
    TargetTable table = table("n UInt64");
    ClickHouse.Body equal =
        out -> {
          RowBinary rows = new RowBinary(out);
          for (int n = 0; n < 1_000_000; n++) {
            rows.int64(7);
          }
          rows.flush();
        };
    String select = "INSERT INTO %s SELECT 7 FROM numbers(1000000)".formatted(table.sql());

    clickhouse.insert(table.sql(), id(), MINUTE, equal);
    clickhouse.insert(table.sql(), id(), MINUTE, equal);
    assertThat(count(table)).isEqualTo(2_000_000);
    clickhouse.execute("TRUNCATE TABLE " + table.sql(), id(), MINUTE);
    clickhouse.execute(select, id(), MINUTE);
    clickhouse.execute(select, id(), MINUTE);
    assertThat(count(table)).isEqualTo(2_000_000);
  }

  @Test
  void aBodyThatFailsBreaksTheInsertOffAndItsFailureIsTold() {
    TargetTable table = table("n UInt64");
    String queryId = id();
    IllegalStateException gone = new IllegalStateException("the source went away");

    assertThatThrownBy(
            () ->
                clickhouse.insert(
                    table.sql(),
                    queryId,
                    MINUTE,
                    out -> {
                      RowBinary rows = new RowBinary(out);
                      for (int n = 0; n < 1000; n++) {
                        rows.int64(n);
                      }
                      rows.flush();
                      throw gone;
                    }))
        .isSameAs(gone);

    assertThat(clickhouse.await(queryId, MINUTE).state()).isNotEqualTo(QueryEnd.State.FINISHED);
    assertThat(count(table)).isZero();
  }

  @Test
  void aBodyThatTheServerRefusesFailsWithTheServersReason() {
    TargetTable table = table("n UInt64, CONSTRAINT small CHECK n < 10");

    MillraceException failure =
        catchThrowableOfType(
            MillraceException.class,
            () ->
                clickhouse.insert(
                    table.sql(),
                    id(),
                    MINUTE,
                    out -> {
                      RowBinary rows = new RowBinary(out);
                      for (int n = 0; n < 20_000_000; n++) {
                        rows.int64(n);
                      }
                      rows.flush();
                    }));

    assertThat(failure.code()).isEqualTo(ErrorCode.CLICKHOUSE_ERROR);
    assertThat(failure).hasMessageContaining("small");
  }

  @Test
  void anInsertWhoseAnswerIsLostIsAskedFor() {
    TargetTable table = table("n UInt64");
    AtomicInteger bodies = new AtomicInteger();
    try (ClickHouse impatient =
        new ClickHouse(TestDatabase.settings().withSocketTimeout(Duration.ofSeconds(2)))) {
      impatient.insert(
          table.sql() + " SELECT n + sleepEachRow(0.2) FROM input('n UInt64')",
          id(),
          MINUTE,
          out -> {
            bodies.incrementAndGet();
            RowBinary rows = new RowBinary(out);
            for (int n = 0; n < 14; n++) {
              rows.int64(n);
            }
            rows.flush();
          });
    }

    assertThat(bodies).hasValue(1);
    assertThat(count(table)).isEqualTo(14);
  }

  @Test
  void aServerThatIsNotThereIsUnavailable() throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0)) {
      port = free.getLocalPort();
    }
    ClickHouseSettings here = TestDatabase.settings();
    try (ClickHouse nobody =
        new ClickHouse(
            new ClickHouseSettings(
                "away",
                "127.0.0.1",
                port,
                false,
                here.user(),
                here.password(),
                Duration.ofSeconds(1),
                Duration.ofSeconds(1),
                Duration.ofSeconds(1)))) {
      assertThatThrownBy(() -> nobody.query("SELECT 1", row -> row.number(1)))
          .isInstanceOfSatisfying(
              MillraceException.class,
              e -> {
                assertThat(e.code()).isEqualTo(ErrorCode.CLICKHOUSE_UNAVAILABLE);
                assertThat(e)
                    .hasMessageContaining("away")
                    .hasMessageContaining("127.0.0.1:" + port);
              });
    }
  }

  @Test
  void aWrongPasswordIsRefusedAndNotShown() {
    ClickHouseSettings here = TestDatabase.settings();
    try (ClickHouse refused =
        new ClickHouse(
            new ClickHouseSettings(
                "wrong",
                here.host(),
                here.port(),
                false,
                here.user(),
                "not-the-password",
                here.connectTimeout(),
                here.socketTimeout(),
                here.statementTimeout()))) {
      assertThatThrownBy(() -> refused.query("SELECT 1", row -> row.number(1)))
          .isInstanceOfSatisfying(
              MillraceException.class,
              e -> {
                assertThat(e.code()).isEqualTo(ErrorCode.CLICKHOUSE_REFUSED);
                assertThat(e)
                    .hasMessageContaining(here.user())
                    .hasMessageNotContaining("not-the-password");
              });
    }
  }

  @Test
  void aMissingTableIsAMissingTarget() {
    assertThatThrownBy(() -> count(numbers.sibling("nowhere")))
        .isInstanceOfSatisfying(
            MillraceException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.TARGET_MISSING));
  }
}
