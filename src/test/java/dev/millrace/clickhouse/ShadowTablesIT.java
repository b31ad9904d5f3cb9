package dev.millrace.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.testing.Await;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ShadowTablesIT {
  private static final String RUN = "20260101T000000Z-products-0a1b2c";

  private static TestDatabase database;
  private static ClickHouse clickhouse;
  private TargetTable live;
  private ShadowTables tables;

  @BeforeAll
  static void makeDatabase() {
    database = TestDatabase.create();
    clickhouse = database.clickhouse();
  }

  @AfterAll
  static void dropDatabase() {
    database.close();
  }

  @BeforeEach
  void makeTarget() {
    live = database.create("t" + TestDatabase.token(), "n UInt64, s String COMMENT 'text'");
    tables = tables(clickhouse, Duration.ofSeconds(30));
  }

  private ShadowTables tables(ClickHouse server, Duration patience) {
    return new ShadowTables(
        server, new ShadowStatements(live, "Atomic", null), RUN, patience, point -> {});
  }

  private static String token() {
    return TestDatabase.token();
  }

  private Set<String> all() {
    return tables.tables().keySet();
  }

  private UUID shadow() {
    String token = token();
    tables.createLoad(token);
    return tables.promoteLoad(token);
  }

  private CompletableFuture<Void> insertSlowly(TargetTable table, String queryId) {
    CompletableFuture<Void> insert =
        CompletableFuture.runAsync(
            () ->
                clickhouse.execute(
                    "INSERT INTO %s (n) SELECT number + sleepEachRow(0.1) FROM numbers(600) SETTINGS max_block_size = 1"
                        .formatted(table.sql()),
                    queryId,
                    TestDatabase.MINUTE));
    Await.until("the insert runs", () -> clickhouse.running(queryId).isPresent());
    return insert;
  }

  private static void assertCode(ErrorCode code, Runnable call) {
    assertThatThrownBy(call::run)
        .isInstanceOfSatisfying(
            MillraceException.class, e -> assertThat(e.code()).as(e.getMessage()).isEqualTo(code));
  }

  @Test
  void aLoadIsMadeLikeTheLiveTableAndBecomesTheShadow() {
    String token = token();

    UUID made = tables.createLoad(token);
    UUID promoted = tables.promoteLoad(token);

    assertThat(promoted).isEqualTo(made);
    assertThat(tables.uuid(tables.names().shadow())).contains(made);
    assertThat(all()).containsExactlyInAnyOrder(live.table(), live.table() + "__refresh");
    assertThat(Catalogue.columns(clickhouse, tables.names().shadow()))
        .isEqualTo(Catalogue.columns(clickhouse, live));
  }

  @Test
  void aShadowInTheWayIsNotReplaced() {
    UUID first = shadow();
    String late = token();
    tables.createLoad(late);

    assertCode(ErrorCode.ATTEMPT_OVERTAKEN, () -> tables.promoteLoad(late));

    assertThat(tables.uuid(tables.names().shadow())).contains(first);
  }

  @Test
  void aLoadThatStillRunsIsNotPromoted() {
    String token = token();
    tables.createLoad(token);
    String queryId = tables.loadQueryId(token);
    CompletableFuture<Void> insert = insertSlowly(tables.names().load(token), queryId);

    assertCode(
        ErrorCode.CLICKHOUSE_UNAVAILABLE,
        () -> tables(clickhouse, Duration.ofSeconds(1)).promoteLoad(token));

    assertThat(tables.discardLoads(token())).isEmpty();
    assertThat(insert).failsWithin(TestDatabase.MINUTE);
    assertThat(all()).containsExactly(live.table());
    assertCode(ErrorCode.ATTEMPT_OVERTAKEN, () -> tables.promoteLoad(token));
  }

  @Test
  void loadsOfARunThatDiedAreEndedToo() {
    ShadowTables earlier =
        new ShadowTables(
            clickhouse,
            new ShadowStatements(live, "Atomic", null),
            "20250101T000000Z-products-ffffff",
            Duration.ofSeconds(30),
            point -> {});
    String token = token();
    earlier.createLoad(token);
    String queryId = earlier.loadQueryId(token);
    CompletableFuture<Void> insert = insertSlowly(earlier.names().load(token), queryId);

    assertThat(tables.discardLoads(token())).isEmpty();

    assertThat(clickhouse.running(queryId)).isEmpty();
    assertThat(insert).failsWithin(TestDatabase.MINUTE);
    assertThat(all()).containsExactly(live.table());
  }

  @Test
  void loadsOfOtherRunsAndTargetsGoOn() {
    TargetTable other = database.create("o" + token(), "n UInt64");
    String queryId = "millrace-20260101T000000Z-products-0a1b2cd-load-" + token() + "-1";
    CompletableFuture<Void> insert = insertSlowly(other, queryId);

    tables.discardLoads(token());

    assertThat(clickhouse.running(queryId)).isPresent();
    clickhouse.kill(queryId, TestDatabase.MINUTE);
    assertThat(insert).failsWithin(TestDatabase.MINUTE);
  }

  @Test
  void aShadowIsOnlyDroppedWhenItIsTheOneThatIsMeant() {
    UUID shadow = shadow();

    assertCode(ErrorCode.ATTEMPT_OVERTAKEN, () -> tables.discardShadow(token(), UUID.randomUUID()));
    assertThat(tables.uuid(tables.names().shadow())).contains(shadow);

    assertThat(tables.discardShadow(token(), shadow)).isEmpty();
    assertThat(tables.discardShadow(token(), shadow)).isEmpty();
    assertThat(all()).containsExactly(live.table());
  }

  @Test
  void aShadowThatWasReplacedBetweenLookAndRenameGetsItsNameBack() {
    UUID old = shadow();
    UUID[] later = new UUID[1];
    ShadowTables late =
        new ShadowTables(
            clickhouse,
            new ShadowStatements(live, "Atomic", null),
            RUN,
            Duration.ofSeconds(30),
            point -> {
              if (point.equals("discard.before-rename")) {
                tables.discardShadow(token(), old);
                later[0] = shadow();
              }
            });

    assertCode(ErrorCode.ATTEMPT_OVERTAKEN, () -> late.discardShadow(token(), old));

    assertThat(tables.uuid(tables.names().shadow())).contains(later[0]);
  }

  /** Case 58. */
  @Test
  void aTableThatIsTooLargeToDropIsPending() {
    UUID shadow = shadow();
    database.run(
        "INSERT INTO %s (n) SELECT number FROM numbers(1000)"
            .formatted(tables.names().shadow().sql()));
    String token = token();
    try (ClickHouse limited =
        new ClickHouse(TestDatabase.settings(), Map.of("max_table_size_to_drop", "1"))) {
      assertThat(tables(limited, Duration.ofSeconds(30)).discardShadow(token, shadow))
          .hasValueSatisfying(
              pending -> {
                assertThat(pending.reason()).isEqualTo(Pending.Reason.SIZE_LIMIT);
                assertThat(pending.table()).isEqualTo(tables.names().drop(token));
                assertThat(pending.wayOut()).contains("max_table_size_to_drop = 0");
              });
      assertThat(tables(limited, Duration.ofSeconds(30)).discardLeftovers(token(), Set.of()))
          .hasSize(1);
    }

    assertThat(tables.discardLeftovers(token(), Set.of())).isEmpty();
    assertThat(all()).containsExactly(live.table());
  }

  /** Case 56. */
  @Test
  void aTableThatADictionaryDependsOnIsPending() {
    String token = token();
    TargetTable dropped = tables.names().drop(token);
    database.run("CREATE TABLE %s AS %s".formatted(dropped.sql(), live.sql()));
    database.run(
        "CREATE DICTIONARY %s (n UInt64) PRIMARY KEY n SOURCE(CLICKHOUSE(DB '%s' TABLE '%s')) LAYOUT(FLAT()) LIFETIME(0)"
            .formatted(database.table("d" + token).sql(), dropped.database(), dropped.table()));

    List<Pending> pending = tables.discardLeftovers(token(), Set.of());

    assertThat(pending)
        .singleElement()
        .satisfies(
            one -> {
              assertThat(one.reason()).isEqualTo(Pending.Reason.DEPENDANTS);
              assertThat(one.table()).isEqualTo(dropped);
              assertThat(one.wayOut()).contains("d" + token);
            });
    database.run("DROP DICTIONARY " + database.table("d" + token).sql());
    assertThat(tables.discardLeftovers(token(), Set.of())).isEmpty();
  }

  @Test
  void aTableThatIsReadIsPendingAndNamesItsReader() {
    UUID shadow = shadow();
    TargetTable table = tables.names().shadow();
    database.run("INSERT INTO %s (n) SELECT number FROM numbers(1000)".formatted(table.sql()));
    String reader = TestDatabase.id();
    CompletableFuture<Void> reading =
        CompletableFuture.runAsync(
            () ->
                clickhouse.execute(
                    "INSERT INTO FUNCTION null('x UInt64') SELECT n + sleepEachRow(0.05) FROM %s SETTINGS max_threads = 1, function_sleep_max_microseconds_per_block = 100000000"
                        .formatted(table.sql()),
                    reader,
                    TestDatabase.MINUTE));
    Await.until("the reader runs", () -> clickhouse.running(reader).isPresent());

    assertThat(tables(clickhouse, Duration.ofSeconds(2)).discardShadow(token(), shadow))
        .hasValueSatisfying(
            pending -> {
              assertThat(pending.reason()).isEqualTo(Pending.Reason.READERS);
              assertThat(pending.wayOut())
                  .contains(reader)
                  .contains(TestDatabase.settings().user());
            });

    assertThat(all()).containsExactly(live.table());
    clickhouse.kill(reader, TestDatabase.MINUTE);
    assertThat(reading).failsWithin(TestDatabase.MINUTE);
    Await.until(
        "the server drops it by itself",
        () ->
            clickhouse
                .query(
                    "SELECT count() FROM system.dropped_tables WHERE uuid = ?",
                    row -> row.number(1),
                    shadow)
                .equals(List.of(0L)));
  }

  @Test
  void leftoversOfSwapsGoUnlessTheyAreNeeded() {
    UUID needed = shadow();
    TargetTable kept = tables.names().swap(token());
    database.run("RENAME TABLE %s TO %s".formatted(tables.names().shadow().sql(), kept.sql()));
    for (TargetTable leftover :
        List.of(
            tables.names().swap(token()),
            tables.names().back(token()),
            tables.names().drop(token()))) {
      database.run("CREATE TABLE %s AS %s".formatted(leftover.sql(), live.sql()));
    }

    assertThat(tables.discardLeftovers(token(), Set.of(needed))).isEmpty();

    assertThat(all()).containsExactlyInAnyOrder(live.table(), kept.table());
  }

  @Test
  void aServerThatCanExchangePassesTheProbe() {
    tables.probeExchange(token());

    assertThat(all()).containsExactly(live.table());
  }

  @Test
  void writersAreThoseWhoInsertOrAlterAndNotThoseWhoRead() {
    String token = token();
    tables.createLoad(token);
    TargetTable load = tables.names().load(token);
    String writer = TestDatabase.id();
    String reader = TestDatabase.id();
    CompletableFuture<Void> writing = insertSlowly(load, writer);
    CompletableFuture<Void> reading =
        CompletableFuture.runAsync(
            () ->
                clickhouse.execute(
                    "INSERT INTO FUNCTION null('x UInt64') SELECT sleepEachRow(0.1) FROM numbers(600) WHERE number NOT IN (SELECT n FROM %s) SETTINGS max_block_size = 1"
                        .formatted(load.sql()),
                    reader,
                    TestDatabase.MINUTE));
    Await.until("the reader runs", () -> clickhouse.running(reader).isPresent());

    assertThat(tables.writersOf(load)).extracting(RunningQuery::queryId).containsExactly(writer);
    assertThat(tables.writersOf(live)).isEmpty();

    clickhouse.kill(writer, TestDatabase.MINUTE);
    clickhouse.kill(reader, TestDatabase.MINUTE);
    assertThat(writing).failsWithin(TestDatabase.MINUTE);
    assertThat(reading).failsWithin(TestDatabase.MINUTE);
  }

  @Test
  void aReplicatedTableGetsItsOwnPath() {
    TargetTable replicated = database.table("r" + token());
    database.run(
        "CREATE TABLE %s (id UInt64) ENGINE = ReplicatedMergeTree('/lit/%s', '{replica}') ORDER BY id"
            .formatted(replicated.sql(), replicated.table()));
    ShadowTables shadows =
        new ShadowTables(
            clickhouse,
            new ShadowStatements(replicated, "Atomic", null),
            RUN,
            Duration.ofSeconds(30),
            point -> {});
    String token = token();

    UUID load = shadows.createLoad(token);
    UUID before = shadows.uuid(replicated).orElseThrow();
    shadows.promoteLoad(token);
    shadows.swap(token(), load, before);

    assertThat(
            clickhouse.query(
                "SELECT zookeeper_path FROM system.replicas WHERE database = ? AND table = ?",
                row -> row.text(1),
                replicated.database(),
                replicated.table()))
        .containsExactly("/clickhouse/tables/%s/1".formatted(load));
  }

  /** Statements for clusters can't be run here, but the server can read them. */
  @Test
  void statementsForAClusterAreSoundSql() {
    ShadowStatements statements = new ShadowStatements(live, "Atomic", "all");
    TableFacts facts =
        new TableFacts(
            UUID.randomUUID(),
            "ReplicatedMergeTree",
            "ReplicatedMergeTree('/literal', '{replica}') PARTITION BY n ORDER BY n SETTINGS index_granularity = 1024",
            "n",
            "n",
            "");
    TargetTable table = tables.names().load(token());

    for (String sql :
        List.of(
            statements.create(facts, table, UUID.randomUUID()),
            statements.createTiny(table),
            statements.rename(table, live),
            statements.exchange(table, live),
            statements.drop(table),
            statements.syncReplica(table),
            statements.replicaHosts("all"),
            statements.replicaUuids("all", table),
            statements.replicaRows("all", table))) {
      assertThat(clickhouse.query("EXPLAIN AST " + sql, row -> row.text(1))).as(sql).isNotEmpty();
    }
  }
}
