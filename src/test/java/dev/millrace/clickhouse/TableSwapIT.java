package dev.millrace.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TableSwapIT {
  private static TestDatabase database;
  private static ClickHouse clickhouse;
  private TargetTable live;
  private ShadowTables tables;
  private UUID before;
  private UUID after;
  private String runId;

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
  void makeTables() {
    runId = "20260101T000000Z-products-" + token().substring(0, 6);
    live = database.create("t" + token(), "n UInt64");
    tables = tables(point -> {});
    before = tables.uuid(live).orElseThrow();
    after = shadow();
  }

  private UUID shadow() {
    String token = token();
    tables.createLoad(token);
    return tables.promoteLoad(token);
  }

  private ShadowTables tables(Consumer<String> points) {
    return new ShadowTables(
        clickhouse,
        new ShadowStatements(live, "Atomic", null),
        runId,
        Duration.ofSeconds(30),
        points);
  }

  private static String token() {
    return TestDatabase.token();
  }

  private void assertLive(UUID uuid) {
    assertThat(tables.uuid(live)).contains(uuid);
  }

  private void assertShadow(UUID uuid) {
    assertThat(tables.uuid(tables.names().shadow())).contains(uuid);
  }

  private void assertOnlyTables(TargetTable... expected) {
    assertThat(tables.tables().keySet())
        .containsExactlyInAnyOrderElementsOf(
            List.of(expected).stream().map(TargetTable::table).toList());
  }

  private long exchanges() {
    clickhouse.await("none", Duration.ofMinutes(1));
    return clickhouse
        .query(
            "SELECT count() FROM system.query_log WHERE startsWith(query_id, ?)"
                + " AND startsWith(query, 'EXCHANGE') AND type = 'QueryFinish'",
            row -> row.number(1),
            "millrace-" + runId + "-")
        .get(0);
  }

  /** An attempt that stops at a point, as a frozen worker does, until it is released. */
  private final class Frozen {
    private final CountDownLatch stopped = new CountDownLatch(1);
    private final CountDownLatch released = new CountDownLatch(1);
    private final CompletableFuture<Swapped> attempt;

    Frozen(String point, Function<ShadowTables, Swapped> act) throws InterruptedException {
      ShadowTables late = tables(passed -> stopAt(point, passed));
      attempt =
          CompletableFuture.supplyAsync(() -> act.apply(late))
              .whenComplete((swapped, failure) -> stopped.countDown());
      assertThat(stopped.await(1, TimeUnit.MINUTES)).isTrue();
      assertThat(attempt).as("the attempt passes " + point).isNotDone();
    }

    private void stopAt(String point, String passed) {
      if (passed.equals(point)) {
        stopped.countDown();
        try {
          assertThat(released.await(2, TimeUnit.MINUTES)).isTrue();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    }

    /** Lets it go on; returns what it failed with, or null. */
    MillraceException release() throws InterruptedException {
      released.countDown();
      try {
        attempt.get();
        return null;
      } catch (ExecutionException e) {
        assertThat(e.getCause()).isInstanceOf(MillraceException.class);
        return (MillraceException) e.getCause();
      }
    }
  }

  @Test
  void theShadowBecomesLiveAndTheOldTableTheShadow() {
    Swapped swapped = tables.swap(token(), after, before);

    assertThat(swapped).isEqualTo(new Swapped(tables.names().shadow(), List.of()));
    assertLive(after);
    assertShadow(before);
    assertOnlyTables(live, tables.names().shadow());
  }

  @Test
  void aSwapThatIsDoneIsNotDoneAgain() {
    tables.swap(token(), after, before);

    Swapped again = tables.swap(token(), after, before);

    assertThat(again.other()).isEqualTo(tables.names().shadow());
    assertLive(after);
    assertShadow(before);
    assertThat(exchanges()).isEqualTo(1);
  }

  @Test
  void aLiveTableThatIsAnotherOneIsNotReplaced() {
    assertThatThrownBy(() -> tables.swap(token(), after, UUID.randomUUID()))
        .isInstanceOfSatisfying(
            MillraceException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.ATTEMPT_OVERTAKEN));

    assertLive(before);
    assertShadow(after);
  }

  @Test
  void aShadowThatIsAnotherOneIsNotPublished() {
    assertThatThrownBy(() -> tables.swap(token(), UUID.randomUUID(), before))
        .isInstanceOfSatisfying(
            MillraceException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.ATTEMPT_OVERTAKEN));

    assertLive(before);
    assertShadow(after);
  }

  @Test
  void aRollbackMakesTheOldTableLiveAgainAndKeepsTheOtherOne() {
    tables.swap(token(), after, before);
    String token = token();

    Swapped back = tables.rollBack(token, after, before);

    assertLive(before);
    assertThat(back.other()).isEqualTo(tables.names().back(token));
    assertThat(tables.uuid(back.other())).contains(after);
    assertThat(tables.rollBack(token(), after, before)).isEqualTo(back);
    assertThat(exchanges()).isEqualTo(2);
    assertThat(tables.discardLeftovers(token(), Set.of())).isEmpty();
    assertOnlyTables(live);
  }

  /** The worker freezes at each point of a swap; another one does it; then it wakes up. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "swap.before-rename",
        "swap.after-rename",
        "swap.before-exchange",
        "swap.after-exchange",
        "swap.after-rename-back"
      })
  void aLateSwapDoesNoHarm(String point) throws InterruptedException {
    Frozen late = new Frozen(point, frozen -> frozen.swap(token(), after, before));

    tables.swap(token(), after, before);
    assertLive(after);
    late.release();

    assertLive(after);
    assertShadow(before);
    assertOnlyTables(live, tables.names().shadow());
    assertThat(exchanges()).isEqualTo(1);
  }

  /** As before, and what the other one published is taken back before the late one wakes up. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "swap.before-rename",
        "swap.after-rename",
        "swap.before-exchange",
        "swap.after-exchange",
        "swap.after-rename-back"
      })
  void aLateSwapDoesNotPublishAgainWhatWasRolledBack(String point) throws InterruptedException {
    Frozen late = new Frozen(point, frozen -> frozen.swap(token(), after, before));

    tables.swap(token(), after, before);
    Swapped back = tables.rollBack(token(), after, before);
    late.release();

    assertLive(before);
    assertThat(tables.uuid(back.other())).contains(after);
    assertThat(exchanges()).isEqualTo(2);
    assertThatThrownBy(() -> tables.swap(token(), after, before))
        .isInstanceOf(MillraceException.class);
    assertLive(before);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "rollback.before-rename",
        "rollback.after-rename",
        "rollback.before-exchange",
        "rollback.after-exchange"
      })
  void aLateRollbackDoesNoHarm(String point) throws InterruptedException {
    tables.swap(token(), after, before);
    Frozen late = new Frozen(point, frozen -> frozen.rollBack(token(), after, before));

    tables.rollBack(token(), after, before);
    assertLive(before);
    late.release();

    assertLive(before);
    assertThat(exchanges()).isEqualTo(2);
  }

  /** A rollback that froze wakes up while the next run has published, and after it has. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "rollback.before-rename",
        "rollback.after-rename",
        "rollback.before-exchange",
        "rollback.after-exchange"
      })
  void aLateRollbackDoesNotTakeBackTheNextRun(String point) throws InterruptedException {
    tables.swap(token(), after, before);
    Frozen late = new Frozen(point, frozen -> frozen.rollBack(token(), after, before));
    tables.rollBack(token(), after, before);
    tables.discardLeftovers(token(), Set.of());
    UUID next = shadow();
    tables.swap(token(), next, before);

    late.release();

    assertLive(next);
    assertThat(exchanges()).isEqualTo(3);
  }

  /** A run ends in the middle of a swap; its attempt wakes up when the next run has begun. */
  @ParameterizedTest
  @ValueSource(strings = {"swap.before-rename", "swap.after-rename", "swap.before-exchange"})
  void aSwapOfARunThatEndedDoesNotPublishAfterTheNextRunBegan(String point)
      throws InterruptedException {
    Frozen late = new Frozen(point, frozen -> frozen.swap(token(), after, before));

    tables.discardShadow(token(), after);
    tables.discardLeftovers(token(), Set.of());
    UUID next = shadow();
    late.release();

    assertLive(before);
    tables.swap(token(), next, before);
    assertLive(next);
    assertThat(exchanges()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"swap.before-rename", "swap.after-rename", "swap.before-exchange"})
  void whatIsWithdrawnIsNotPublishedByALateSwap(String point) throws InterruptedException {
    Frozen late = new Frozen(point, frozen -> frozen.swap(token(), after, before));
    String token = token();

    assertThat(tables.withdraw(token, after)).contains(tables.names().back(token));
    assertThat(tables.withdraw(token(), after)).contains(tables.names().back(token));

    assertThat(late.release()).isNotNull();
    assertLive(before);
    assertThat(exchanges()).isZero();
  }

  @Test
  void whatIsLiveCanNotBeWithdrawn() {
    tables.swap(token(), after, before);

    assertThat(tables.withdraw(token(), after)).contains(live);

    assertLive(after);
    assertShadow(before);
  }

  @Test
  void aTableThatTookTheShadowsNameIsThrownAway() {
    ShadowTables disturbed =
        tables(
            point -> {
              if (point.equals("swap.after-exchange")) {
                shadow();
              }
            });

    Swapped swapped = disturbed.swap(token(), after, before);

    assertThat(swapped.pending()).isEmpty();
    assertLive(after);
    assertShadow(before);
    assertOnlyTables(live, tables.names().shadow());
  }

  @Test
  void theOldTableIsNotThrownAwayByAnAttemptThatFoundTheNameTaken() throws InterruptedException {
    Frozen late =
        new Frozen(
            "swap.name-taken",
            frozen -> {
              CountDownLatch once = new CountDownLatch(1);
              ShadowTables disturbed =
                  tables(
                      point -> {
                        if (point.equals("swap.after-exchange") && once.getCount() > 0) {
                          once.countDown();
                          shadow();
                        }
                        frozen.pass(point);
                      });
              return disturbed.swap(token(), after, before);
            });

    tables.swap(token(), after, before);
    assertShadow(before);
    late.release();

    assertLive(after);
    assertShadow(before);
    assertOnlyTables(live, tables.names().shadow());
  }

  /** Case 56: views and dictionaries stay with the name. */
  @Test
  void aDictionaryOverTheTargetIsNoObstacle() {
    TargetTable dictionary = database.table("d" + token());
    database.run(
        "CREATE DICTIONARY %s (n UInt64) PRIMARY KEY n SOURCE(CLICKHOUSE(DB '%s' TABLE '%s')) LAYOUT(FLAT()) LIFETIME(0)"
            .formatted(dictionary.sql(), live.database(), live.table()));

    tables.swap(token(), after, before);
    assertThat(tables.discardShadow(token(), before)).isEmpty();

    assertLive(after);
    assertThat(Catalogue.dependants(clickhouse, live).dictionaries().names())
        .containsExactly(dictionary.toString());
    database.run("DROP DICTIONARY " + dictionary.sql());
  }

  /** Case 55. */
  @Test
  void aMaterializedViewOnTheTargetStillFires() {
    TargetTable counted = database.create("c" + token(), "n UInt64");
    TargetTable view = database.table("v" + token());
    database.run(
        "CREATE MATERIALIZED VIEW %s TO %s AS SELECT n FROM %s"
            .formatted(view.sql(), counted.sql(), live.sql()));

    tables.swap(token(), after, before);
    database.run("INSERT INTO %s VALUES (1)".formatted(live.sql()));

    assertThat(database.count(counted)).isEqualTo(1);
    database.run("DROP TABLE " + view.sql());
  }
}
