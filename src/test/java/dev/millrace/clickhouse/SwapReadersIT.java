package dev.millrace.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What readers see while a table is swapped again and again. */
class SwapReadersIT {
  private static final int SWAPS = 200;
  private static final int READERS = 4;
  private static final int ROWS = 20_000;

  private static TestDatabase database;
  private static ClickHouse clickhouse;

  @BeforeAll
  static void makeDatabase() {
    database = TestDatabase.create();
    clickhouse = database.clickhouse();
  }

  @AfterAll
  static void dropDatabase() {
    database.close();
  }

  private static String hash(TargetTable table) {
    return "SELECT toString(count()), toString(sum(cityHash64(*))) FROM " + table.sql();
  }

  private static String read(String sql) {
    return clickhouse.query(sql, row -> row.text(1) + " " + row.text(2)).get(0);
  }

  @Test
  void aQueryThatNamesTheTableOnceSeesOneWholeVersion()
      throws InterruptedException, ExecutionException {
    TargetTable live = database.create("dimension", "id UInt64, version UInt64");
    ShadowTables tables =
        new ShadowTables(
            clickhouse,
            new ShadowStatements(live, "Atomic", null),
            "20260101T000000Z-dimension-0a1b2c",
            Duration.ofSeconds(30),
            point -> {});
    String token = TestDatabase.token();
    tables.createLoad(token);
    UUID shadow = tables.promoteLoad(token);
    fill(live, 1);
    fill(tables.names().shadow(), 2);
    Set<String> versions = Set.of(read(hash(live)), read(hash(tables.names().shadow())));
    assertThat(versions).hasSize(2);
    String twice =
        "SELECT (SELECT min(version) FROM %1$s), (SELECT sleep(0.02)), (SELECT max(version) FROM %1$s)"
            .formatted(live.sql());

    Set<String> seen = ConcurrentHashMap.newKeySet();
    AtomicLong reads = new AtomicLong();
    AtomicLong torn = new AtomicLong();
    AtomicBoolean over = new AtomicBoolean();
    ExecutorService readers = Executors.newFixedThreadPool(READERS + 1);
    List<Future<?>> reading = new ArrayList<>();
    for (int reader = 0; reader < READERS; reader++) {
      reading.add(
          readers.submit(
              () -> {
                while (!over.get()) {
                  seen.add(read(hash(live)));
                  reads.incrementAndGet();
                }
              }));
    }
    reading.add(
        readers.submit(
            () -> {
              while (!over.get()) {
                if (!clickhouse
                    .query(twice, row -> row.number(1) == row.number(3))
                    .equals(List.of(true))) {
                  torn.incrementAndGet();
                }
              }
            }));

    UUID current = tables.uuid(live).orElseThrow();
    for (int swap = 0; swap < SWAPS; swap++) {
      tables.swap(TestDatabase.token(), shadow, current);
      UUID published = shadow;
      shadow = current;
      current = published;
    }
    over.set(true);
    readers.shutdown();
    for (Future<?> each : reading) {
      each.get();
    }

    assertThat(seen).isEqualTo(versions);
    assertThat(reads.get()).isGreaterThan(SWAPS);
    assertThat(torn.get()).as("readers that named the table twice and met both").isPositive();
    System.out.printf(
        "%d swaps, %d whole reads of 2 versions, %d reads that met both%n",
        SWAPS, reads.get(), torn.get());
  }

  private static void fill(TargetTable table, int version) {
    database.run(
        "INSERT INTO %s SELECT number, %d FROM numbers(%d)".formatted(table.sql(), version, ROWS));
  }
}
