package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.parquet.FileFormat;
import dev.millrace.parquet.ParquetTable;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.RowFilter;
import dev.millrace.postgres.TableFiles;
import dev.millrace.postgres.TableName;
import dev.millrace.testing.TestPostgres;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Windows that several connections read in one snapshot. */
class SharedReadIT {
  private static final int ROWS = 20_000;

  @TempDir private static Path folder;

  private static String database;
  private static DirectRuns runs;

  @BeforeAll
  static void start() {
    database = TestPostgres.createDatabase();
    runs = new DirectRuns(database, folder);
    runs.execute(
        """
        CREATE TABLE account (
          id int, balance int NOT NULL, padding text NOT NULL, updated_at timestamptz NOT NULL)
        PARTITION BY RANGE (id);
        CREATE TABLE account_few PARTITION OF account FOR VALUES FROM (0) TO (100);
        CREATE TABLE account_many PARTITION OF account FOR VALUES FROM (100) TO (1000000);
        CREATE TABLE account_none PARTITION OF account DEFAULT;
        ALTER TABLE account_few ALTER padding SET STORAGE PLAIN;
        ALTER TABLE account_many ALTER padding SET STORAGE PLAIN;
        CREATE INDEX ON account (updated_at)""");
    // Two rows to a block: 10,000 blocks.
    runs.execute(
        "INSERT INTO account SELECT i, 100, repeat('x', 3900), now() FROM generate_series(1, %d) AS i"
            .formatted(ROWS));
    runs.execute("ANALYZE account");
  }

  @AfterAll
  static void stop() {
    runs.close();
  }

  private static SourceTable find(Connection connection, String name) throws SQLException {
    return SourceTable.find(
        connection,
        new TableRequest(TableName.parse("public." + name), "updated_at", List.of(), List.of()),
        RowFilter.NONE);
  }

  private static List<String> split(Connection connection, String name, String condition)
      throws SQLException {
    SourceTable table = find(connection, name);
    return BlockRanges.split(
        connection,
        table,
        TableFiles.inSnapshot(connection, table.relation()).nodes().keySet(),
        condition,
        false);
  }

  @Test
  void whatIsReadBlockByBlockIsSplitSoThatEachRowIsInOnePart() {
    try (Postgres source = TestPostgres.connect(database)) {
      List<String> parts =
          source.read(connection -> split(connection, "account", "updated_at <= now()"));
      assertThat(parts).hasSize(3);
      long rows =
          parts.stream()
              .map(part -> runs.value("SELECT count(*) FROM (%s) AS part".formatted(part)))
              .mapToLong(Long::parseLong)
              .sum();
      assertThat(rows).isEqualTo(ROWS);
    }
  }

  @Test
  void whatAnIndexFindsOrHasNoBlocksOrHasFewOfThemIsReadAtOnce() {
    runs.execute(
        """
        CREATE VIEW seen AS SELECT * FROM account;
        CREATE TABLE few AS SELECT * FROM account_few""");
    try (Postgres source = TestPostgres.connect(database)) {
      source.read(
          connection -> {
            assertThat(split(connection, "account", "updated_at > now() + interval '1 day'"))
                .hasSize(1);
            assertThat(split(connection, "few", "updated_at <= now()")).hasSize(1);
            SourceTable view = find(connection, "seen");
            assertThat(BlockRanges.split(connection, view, List.of(), "true", false)).hasSize(1);
            return null;
          });
    }
  }

  /** Money moves from row to row all the time: only one snapshot has the right sum. */
  @Test
  void allConnectionsReadTheSameSnapshot() throws Exception {
    AtomicBoolean stopped = new AtomicBoolean();
    CountDownLatch moving = new CountDownLatch(50);
    Thread writer = new Thread(() -> moveMoney(stopped, moving));
    writer.start();
    try {
      assertThat(moving.await(1, TimeUnit.MINUTES)).isTrue();
      DirectRuns.Asked account = DirectRuns.Asked.of("account", "public.account", "updated_at");
      assertThat(runs.run(account.over(3)).result().rows()).isEqualTo(ROWS);
    } finally {
      stopped.set(true);
      writer.join();
    }
    List<String> balances = runs.values("public.account", "balance");
    assertThat(balances.stream().map(BigDecimal::new).reduce(BigDecimal.ZERO, BigDecimal::add))
        .isEqualByComparingTo(BigDecimal.valueOf(100L * ROWS));
    assertThat(runs.values("public.account", "id")).doesNotHaveDuplicates().hasSize(ROWS);
  }

  private static void moveMoney(AtomicBoolean stopped, CountDownLatch moving) {
    try (Connection session = runs.session();
        Statement statement = session.createStatement()) {
      for (int i = 0; !stopped.get(); i++) {
        int from = 1 + i * 7919 % ROWS;
        statement.execute(
            "UPDATE account SET balance = balance + CASE id WHEN %1$d THEN -1 ELSE 1 END WHERE id IN (%1$d, %2$d)"
                .formatted(from, ROWS + 1 - from));
        moving.countDown();
      }
    } catch (SQLException exception) {
      throw new IllegalStateException(exception);
    }
  }

  @Test
  void aPartIsTakenByWhicheverConnectionIsFree() {
    Set<Thread> threads = ConcurrentHashMap.newKeySet();
    CountDownLatch both = new CountDownLatch(2);
    try (Postgres source = TestPostgres.connect(database)) {
      assertThat(
              read(
                  source,
                  3,
                  () -> {
                    if (threads.add(Thread.currentThread())) {
                      both.countDown();
                    }
                    // Nobody goes on before there are two at work.
                    await(both);
                  }))
          .isEqualTo(ROWS);
    }
    assertThat(threads).hasSizeGreaterThan(1);
  }

  @Test
  void oneConnectionIsEnoughWhenNoMoreAreFree() {
    Set<Thread> threads = ConcurrentHashMap.newKeySet();
    try (Postgres source = new Postgres(TestPostgres.settings(database).withMaxConnections(1))) {
      assertThat(read(source, 3, () -> threads.add(Thread.currentThread()))).isEqualTo(ROWS);
    }
    assertThat(threads).hasSize(1);
  }

  @Test
  void theFailureOfOneConnectionStopsAll() {
    Thread caller = Thread.currentThread();
    CountDownLatch failed = new CountDownLatch(1);
    try (Postgres source = TestPostgres.connect(database)) {
      assertThatThrownBy(
              () ->
                  read(
                      source,
                      2,
                      () -> {
                        if (Thread.currentThread() != caller) {
                          failed.countDown();
                          throw new UnsupportedOperationException("on purpose");
                        }
                        await(failed);
                      }))
          .isInstanceOf(UnsupportedOperationException.class)
          .hasMessage("on purpose");
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(exception);
    }
  }

  private static long read(Postgres source, int connections, Runnable check) {
    return source.read(
        connection -> {
          SourceTable table = find(connection, "account");
          try (ParquetTable file =
              new ParquetTable(table.columns(), 0, Map.of(), FileFormat.DEFAULT, bytes -> {})) {
            long rows =
                new SharedRead(source, file, split(connection, "account", "true"), check)
                    .run(connection, connections);
            assertThat(file.finish().rowsInFooter()).isEqualTo(rows);
            return rows;
          }
        });
  }
}
