package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.testing.Await;
import dev.millrace.testing.TestPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rows that commit after the run that passed their key, and what stands in the way of them. */
class LateRowsIT {
  @TempDir private static Path folder;

  private static DirectRuns runs;

  @BeforeAll
  static void start() {
    runs = new DirectRuns(TestPostgres.createDatabase(), folder);
    runs.execute("CREATE SCHEMA late");
  }

  @AfterAll
  static void stop() {
    runs.close();
  }

  private static DirectRuns.Asked table(String name) {
    runs.execute(
        """
        CREATE TABLE late.%1$s (id int PRIMARY KEY, note text, updated_at timestamptz NOT NULL);
        CREATE INDEX ON late.%1$s (updated_at)"""
            .formatted(name));
    return DirectRuns.Asked.of(name, "late." + name, "updated_at");
  }

  private static void insert(Statement statement, String table, int id) throws Exception {
    statement.execute("INSERT INTO late.%s VALUES (%d, 'late', now())".formatted(table, id));
  }

  /** Case 1 (airbyte#9668, dlt#2269). */
  @Test
  void aRowThatCommitsAfterTheRunThatPassedItsKeyComesOnce() throws Exception {
    DirectRuns.Asked parcel = table("parcel");
    runs.execute("INSERT INTO late.parcel SELECT i, '', now() FROM generate_series(1, 6) AS i");
    try (Connection session = runs.session();
        Statement statement = session.createStatement()) {
      session.setAutoCommit(false);
      insert(statement, "parcel", 7);
      runs.execute("INSERT INTO late.parcel VALUES (8, 'later', clock_timestamp())");
      assertThat(runs.run(parcel).result().rows()).isEqualTo(7);
      session.commit();
    }
    assertThat(runs.run(parcel).result().rows()).isEqualTo(1);
    assertThat(runs.run(parcel).result().rows()).isZero();
    assertThat(runs.values("late.parcel", "id"))
        .containsExactly("1", "2", "3", "4", "5", "6", "7", "8");
  }

  @Test
  void rowsOfSavepointsAndExceptionBlocksComeOnce() throws Exception {
    DirectRuns.Asked sub = table("sub");
    try (Connection session = runs.session();
        Statement statement = session.createStatement()) {
      session.setAutoCommit(false);
      insert(statement, "sub", 1);
      statement.execute("SAVEPOINT one");
      insert(statement, "sub", 2);
      statement.execute(
          "DO $$ BEGIN INSERT INTO late.sub VALUES (3, '', now()); EXCEPTION WHEN others THEN NULL; END $$");
      runs.execute("INSERT INTO late.sub VALUES (4, '', clock_timestamp())");
      assertThat(runs.run(sub).result().rows()).isEqualTo(1);
      assertThat(runs.run(sub).result().rows()).isZero();
      session.commit();
    }
    assertThat(runs.run(sub).result().rows()).isEqualTo(3);
    assertThat(runs.run(sub).result().rows()).isZero();
    assertThat(runs.values("late.sub", "id")).containsExactly("1", "2", "3", "4");
  }

  @Test
  void anUpdateThatLeavesTheKeyAloneComes() {
    DirectRuns.Asked kept = table("kept");
    runs.execute("INSERT INTO late.kept VALUES (1, 'first', now())");
    runs.run(kept);
    runs.execute("UPDATE late.kept SET note = 'second'");

    assertThat(runs.run(kept).result().rows()).isEqualTo(1);
    assertThat(runs.values("late.kept", "note")).containsExactly("first", "second");
  }

  @Test
  void lateNumberKeysComeThoughTheGreatestKeyStays() throws Exception {
    runs.execute("CREATE TABLE late.numbers (id bigint PRIMARY KEY, note text)");
    DirectRuns.Asked numbers = DirectRuns.Asked.of("numbers", "late.numbers", "id");
    try (Connection session = runs.session();
        Statement statement = session.createStatement()) {
      session.setAutoCommit(false);
      statement.execute("INSERT INTO late.numbers VALUES (5, 'late')");
      runs.execute("INSERT INTO late.numbers VALUES (6, '')");
      assertThat(runs.run(numbers).result().high()).isEqualTo("6");
      session.commit();
    }
    TableResult second = runs.run(numbers).result();

    assertThat(second.rows()).isEqualTo(1);
    assertThat(second.low()).isEqualTo("6");
    assertThat(second.high()).isEqualTo("6");
    assertThat(runs.run(numbers).result().rows()).isZero();
    assertThat(runs.values("late.numbers", "id")).containsExactly("5", "6");
  }

  @Test
  void aKeyBelowTheLookBackIsOutOfReach() {
    DirectRuns.Asked old = table("old").lookingBack("PT1H", 10);
    runs.run(old);
    runs.execute(
        "INSERT INTO late.old VALUES (1, '', now() - interval '2 hours'), (2, '', now() - interval '30 minutes')");

    assertThat(runs.run(old).result().rows()).isEqualTo(1);
    assertThat(runs.values("late.old", "id")).containsExactly("2");
  }

  @Test
  void vacuumFreezeLeavesTheIdsReadable() {
    DirectRuns.Asked frozen = table("frozen");
    runs.execute("INSERT INTO late.frozen SELECT i, '', now() FROM generate_series(1, 9) AS i");
    runs.run(frozen);
    runs.execute("VACUUM (FREEZE) late.frozen");

    TableResult second = runs.run(frozen).result();

    assertThat(second.rows()).isZero();
    assertThat(second.warning()).isNull();
  }

  /** {@code VACUUM FULL} keeps the ids and a rewrite does not; both give another file. */
  @Test
  void aRewrittenTableIsReadByItsWindowOnceAndSaysSo() throws Exception {
    DirectRuns.Asked full = table("full");
    runs.execute("INSERT INTO late.full SELECT i, '', now() FROM generate_series(1, 9) AS i");
    runs.run(full);
    runs.execute("ALTER TABLE late.full ALTER id TYPE bigint");

    TableResult second = runs.run(full).result();

    assertThat(second.rows()).isZero();
    assertThat(second.warning()).contains("rewritten").contains("not looked for");
    try (Connection session = runs.session();
        Statement statement = session.createStatement()) {
      session.setAutoCommit(false);
      insert(statement, "full", 10);
      assertThat(runs.run(full).result().warning()).isNull();
      session.commit();
    }
    assertThat(runs.run(full).result().rows()).isEqualTo(1);
    assertThat(runs.values("late.full", "id")).hasSize(10);
  }

  /** What was visible in the look-back has to be known after a run that did not read it. */
  @Test
  void theRunAfterAFallbackIsExactAgainBesideALongTransaction() throws Exception {
    DirectRuns.Asked again = table("again");
    try (Connection other = runs.session();
        Statement holding = other.createStatement();
        Connection session = runs.session();
        Statement statement = session.createStatement()) {
      other.setAutoCommit(false);
      holding.execute("SELECT pg_current_xact_id()");
      runs.execute("INSERT INTO late.again VALUES (1, '', now())");
      runs.run(again);
      session.setAutoCommit(false);
      insert(statement, "again", 2);
      runs.execute("INSERT INTO late.again VALUES (3, '', now())");
      runs.run(again);
      assertThat(runs.run(again.lookingBack("PT12H", 1)).result().warning())
          .contains("look-back PT12H");
      session.commit();
      TableResult fourth = runs.run(again.lookingBack("PT12H", 1)).result();
      assertThat(fourth.warning()).isNull();
      assertThat(fourth.rows()).isEqualTo(1);
    }
    assertThat(runs.values("late.again", "id")).containsExactly("1", "2", "3");
  }

  @Test
  void anAttachedPartitionIsReadWhole() {
    runs.execute(
        """
        CREATE TABLE late.parts (id int, region text, updated_at timestamptz)
          PARTITION BY LIST (region);
        CREATE TABLE late.parts_a PARTITION OF late.parts FOR VALUES IN ('a');
        CREATE INDEX ON late.parts (updated_at);
        CREATE TABLE late.parts_b (region text, updated_at timestamptz, id int);
        INSERT INTO late.parts VALUES (1, 'a', now());
        INSERT INTO late.parts_b VALUES ('b', now() - interval '3 days', 2)""");
    DirectRuns.Asked parts = DirectRuns.Asked.of("parts", "late.parts", "updated_at");
    runs.run(parts);
    runs.execute("ALTER TABLE late.parts ATTACH PARTITION late.parts_b FOR VALUES IN ('b')");

    TableResult second = runs.run(parts).result();

    assertThat(second.rows()).isEqualTo(1);
    assertThat(second.warning()).contains("late.parts_b");
    TableResult third = runs.run(parts).result();
    assertThat(third.rows()).isZero();
    assertThat(third.warning()).isNull();
    assertThat(runs.values("late.parts", "id")).containsExactly("1", "2");
  }

  @Test
  void aServerBehindTheLastSnapshotIsWaitedFor() {
    DirectRuns.Asked behind = table("behind");
    runs.execute("INSERT INTO late.behind VALUES (1, '', now())");
    TableResult first = runs.run(behind).result();
    String snapshot = runs.value("SELECT snapshot FROM millrace.reading WHERE pipeline = 'behind'");
    String ahead = "%1$s:%1$s".formatted(Long.MAX_VALUE >> 20);
    runs.execute(
        "UPDATE millrace.reading SET snapshot = '%s' WHERE pipeline = 'behind'".formatted(ahead));
    runs.execute("INSERT INTO late.behind VALUES (2, '', now())");

    TableResult second = runs.run(behind).result();

    assertThat(second.rows()).isZero();
    assertThat(second.high()).isEqualTo(first.high());
    assertThat(second.warning()).contains("behind the last run's snapshot");
    runs.execute(
        "UPDATE millrace.reading SET snapshot = '%s' WHERE pipeline = 'behind'"
            .formatted(snapshot));
    assertThat(runs.run(behind).result().rows()).isEqualTo(1);
  }

  @Test
  void anotherTimelineIsReadByItsWindow() {
    DirectRuns.Asked failover = table("failover");
    runs.run(failover);
    runs.execute("UPDATE millrace.reading SET timeline = 77 WHERE pipeline = 'failover'");

    assertThat(runs.run(failover).result().warning()).contains("timeline 1").contains("77");
    assertThat(runs.run(failover).result().warning()).isNull();
  }

  @Test
  void aViewEndsBeforeTheOldestOpenTransaction() throws Exception {
    table("base");
    runs.execute("CREATE VIEW late.shown AS SELECT * FROM late.base");
    DirectRuns.Asked shown = DirectRuns.Asked.of("shown", "late.shown", "updated_at");
    assertThat(runs.run(shown).result().warning()).contains("is a view");
    try (Connection session = runs.session();
        Statement statement = session.createStatement()) {
      session.setAutoCommit(false);
      insert(statement, "base", 1);
      runs.execute("INSERT INTO late.base VALUES (2, '', clock_timestamp())");
      TableResult held = runs.run(shown).result();
      assertThat(held.rows()).isZero();
      assertThat(held.warning()).contains("before the oldest open transaction");
      session.commit();
    }
    assertThat(runs.run(shown).result().rows()).isEqualTo(2);
    assertThat(runs.values("late.shown", "id")).containsExactly("1", "2");
  }

  @Test
  void aLongTransactionIsNamedAndHoldsNothingBack() throws Exception {
    DirectRuns.Asked open = table("open").noticing("PT0S");
    try (Connection session = runs.session();
        Statement statement = session.createStatement()) {
      session.setAutoCommit(false);
      statement.execute("SET application_name = 'nightly'");
      insert(statement, "open", 1);
      runs.execute("INSERT INTO late.open VALUES (2, '', now())");

      TableResult first = runs.run(open).result();
      TableResult second = runs.run(open).result();

      assertThat(first.rows()).isEqualTo(1);
      assertThat(first.longTransaction().id())
          .isEqualTo(Long.parseLong(oneValue(statement, "SELECT pg_current_xact_id()")));
      assertThat(first.longTransaction().session()).contains("nightly");
      assertThat(first.longTransaction().first()).isTrue();
      assertThat(second.longTransaction().first()).isFalse();
    }
  }

  private static String oneValue(Statement statement, String sql) throws Exception {
    try (ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    }
  }

  /** Case 19 (sling#41, #464), 14 (sling#672) and 15 (connector-x#313). */
  @Test
  void aLargeLoadIsCutByKeyIntoWindowsOfTheirOwn() {
    DirectRuns.Asked large = table("large").cutAt(100);
    runs.execute(
        """
        INSERT INTO late.large SELECT i, '', now() - interval '1 year' + i * interval '1 second'
        FROM generate_series(1, 500) AS i;
        INSERT INTO late.large SELECT i, '', now() - interval '1 minute'
        FROM generate_series(501, 950) AS i;
        ANALYZE late.large""");

    DirectRuns.Run run = runs.run(large);

    // 450 rows have one key, which no window divides.
    assertThat(run.extracted())
        .extracting(Extracted::rowsEncoded)
        .containsExactly(100L, 100L, 100L, 100L, 100L, 450L, 0L);
    assertThat(run.result().rows()).isEqualTo(950);
    assertThat(run.result().objects()).isEqualTo(6);
    assertThat(run.result().initialLoad()).isTrue();
    assertThat(runs.objects("late.large")).hasSize(6);
    assertThat(runs.values("late.large", "id")).hasSize(950).doesNotHaveDuplicates();
    assertThat(runs.run(large).result().rows()).isZero();
  }

  /** Case 12 (PeerDB#3998). */
  @Test
  void aPartitionedTableIsCutThoughItsParentHasNoSize() {
    runs.execute(
        """
        CREATE TABLE late.levels (id bigint, part int) PARTITION BY RANGE (part);
        CREATE INDEX ON late.levels (id);
        CREATE TABLE late.levels_a PARTITION OF late.levels FOR VALUES FROM (0) TO (10)
          PARTITION BY HASH (id);
        CREATE TABLE late.levels_a0 PARTITION OF late.levels_a FOR VALUES WITH (MODULUS 2, REMAINDER 0);
        CREATE TABLE late.levels_a1 PARTITION OF late.levels_a FOR VALUES WITH (MODULUS 2, REMAINDER 1);
        CREATE TABLE late.levels_b PARTITION OF late.levels FOR VALUES FROM (10) TO (20);
        INSERT INTO late.levels SELECT i, i % 20 FROM generate_series(1, 30000) AS i""");
    DirectRuns.Asked levels = DirectRuns.Asked.of("levels", "late.levels", "id").cutAt(5000);

    DirectRuns.Run run = runs.run(levels);

    assertThat(run.extracted().size()).isGreaterThanOrEqualTo(6);
    assertThat(run.result().rows()).isEqualTo(30_000);
    assertThat(runs.values("late.levels", "id")).hasSize(30_000).doesNotHaveDuplicates();
    runs.execute("CREATE TABLE late.bare (id bigint) PARTITION BY HASH (id)");
    assertThat(runs.run(DirectRuns.Asked.of("bare", "late.bare", "id")).result().rows()).isZero();
  }

  /** A truncation between the snapshot and the read would look like an empty table. */
  @Test
  void aTruncationAfterTheSnapshotIsNoticed() throws Exception {
    DirectRuns.Asked cut = table("cut");
    runs.execute("INSERT INTO late.cut SELECT i, '', now() FROM generate_series(1, 9) AS i");
    try (Connection session = runs.session();
        Statement statement = session.createStatement()) {
      session.setAutoCommit(false);
      CompletableFuture<Void> truncated =
          CompletableFuture.runAsync(
              () -> {
                Await.until(
                    "the read waits for the lock",
                    () ->
                        !"0"
                            .equals(
                                runs.value(
                                    "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'late.cut'::regclass")));
                commitTruncation(session, statement);
              });
      assertThatThrownBy(
              () ->
                  runs.run(
                      cut,
                      () -> execute(statement, "LOCK TABLE late.cut IN ACCESS EXCLUSIVE MODE")))
          .hasMessageContaining("was rewritten, truncated");
      truncated.join();
    }
    assertThat(runs.run(cut).result().rows()).isEqualTo(1);
    assertThat(runs.values("late.cut", "id")).containsExactly("100");
  }

  private static void commitTruncation(Connection session, Statement statement) {
    execute(statement, "TRUNCATE late.cut");
    execute(statement, "INSERT INTO late.cut VALUES (100, '', now())");
    try {
      session.commit();
    } catch (SQLException exception) {
      throw new IllegalStateException(exception);
    }
  }

  private static void execute(Statement statement, String sql) {
    try {
      statement.execute(sql);
    } catch (SQLException exception) {
      throw new IllegalStateException(sql, exception);
    }
  }
}
