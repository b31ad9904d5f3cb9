package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.postgres.Relation;
import dev.millrace.postgres.SeenIds;
import dev.millrace.postgres.ServerMoment;
import dev.millrace.postgres.Snapshot;
import dev.millrace.postgres.TableFiles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ExactnessTest {
  private static final TableFiles FILES = TableFiles.parse("100:7,200:8");

  private static Reading last(String snapshot, int timeline, String lookBack, String files) {
    Snapshot read = Snapshot.parse(snapshot);
    return new Reading(
        "a",
        read,
        timeline,
        lookBack,
        TableFiles.parse(files),
        new SeenIds(read),
        null,
        false,
        null);
  }

  private static ServerMoment now(String snapshot, int timeline) {
    return new ServerMoment(180_000, Snapshot.parse(snapshot), timeline, false);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "10:12 | 1 | PT24H | 100:7,200:8 | 10:12 | EXACT       |",
        "10:12 | 1 | PT24H | 100:7,200:8 | 15:20 | EXACT       |",
        // A partition that came or went says nothing of the rows of the others.
        "10:12 | 1 | PT24H | 100:7       | 15:20 | EXACT       |",
        "10:12 | 1 | PT24H | 100:7,300:9 | 15:20 | EXACT       |",
        "10:12 | 2 | PT24H | 100:7,200:8 | 15:20 | WINDOW_ONLY | timeline 1",
        "10:12 | 1 | PT12H | 100:7,200:8 | 15:20 | WINDOW_ONLY | look-back PT24H, and was with PT12H",
        "10:12 | 1 | PT24H | 100:7,200:9 | 15:20 | WINDOW_ONLY | rewritten",
        "10:12 | 1 | PT24H | 100:7,200:8 | 9:20  | WAIT        | behind",
        "10:12 | 1 | PT24H | 100:7,200:8 | 10:11 | WAIT        | behind",
        // An older snapshot shows an older file, and may not become the basis of the next run.
        "10:12 | 1 | PT24H | 100:7,200:9 | 9:11  | WAIT        | behind",
        "10:12 | 1 | PT12H | 100:7,200:8 | 9:11  | WAIT        | behind",
        "10:12 | 1 | PT24H | 100:7,200:8 | 2147483657:2147483657 | EXACT       |",
        "10:12 | 1 | PT24H | 100:7,200:8 | 2147483658:2147483658 | WINDOW_ONLY | two thousand million",
      })
  void lateRowsAreKnownOnlyWhereTheLastReadingStillHolds(
      String snapshot,
      int timeline,
      String lookBack,
      String files,
      String current,
      Exactness.Kind kind,
      String reason) {
    Exactness exactness =
        Exactness.of(
            Relation.Kind.TABLE,
            now(current, 1),
            FILES,
            last(snapshot, timeline, lookBack, files),
            false,
            "PT24H");

    assertThat(exactness.kind()).isEqualTo(kind);
    assertThat(exactness.versioned()).isTrue();
    if (reason == null) {
      assertThat(exactness.reason()).isNull();
    } else {
      assertThat(exactness.reason()).contains(reason);
    }
  }

  @Test
  void aFirstLoadNeedsNoLastReading() {
    assertThat(
            Exactness.of(Relation.Kind.TABLE, now("10:12", 1), FILES, null, true, "PT24H").kind())
        .isEqualTo(Exactness.Kind.FIRST);
  }

  @Test
  void aWatermarkWithoutASnapshotIsReadByItsWindowOnce() {
    Exactness exactness =
        Exactness.of(Relation.Kind.TABLE, now("10:12", 1), FILES, null, false, "PT24H");

    assertThat(exactness.kind()).isEqualTo(Exactness.Kind.WINDOW_ONLY);
    assertThat(exactness.reason()).contains("no snapshot");
  }

  @Test
  void tooManyIdsOfTheLastReadingAreNotTrusted() {
    Reading last = last("10:12", 1, "PT24H", "100:7,200:8");
    Reading overflowed =
        new Reading("a", last.snapshot(), 1, "PT24H", last.files(), null, null, false, null);

    assertThat(
            Exactness.of(Relation.Kind.TABLE, now("15:20", 1), FILES, overflowed, false, "PT24H")
                .reason())
        .contains("1,000,000 transactions");
  }

  @ParameterizedTest
  @EnumSource(
      value = Relation.Kind.class,
      names = {"VIEW", "MATERIALIZED_VIEW", "FOREIGN_TABLE"})
  void rowsWithoutVersionsAreReadByTheirWindow(Relation.Kind kind) {
    Exactness exactness = Exactness.of(kind, now("10:12", 1), FILES, null, true, "PT24H");

    assertThat(exactness.kind()).isEqualTo(Exactness.Kind.WINDOW_ONLY);
    assertThat(exactness.versioned()).isFalse();
  }

  @Test
  void aServerThatCantTellIsReadByItsWindow() {
    assertThat(
            Exactness.of(
                    Relation.Kind.TABLE,
                    new ServerMoment(120_022, null, 0, false),
                    FILES,
                    null,
                    true,
                    "PT24H")
                .reason())
        .contains("Postgres 12");
    assertThat(
            Exactness.of(Relation.Kind.TABLE, now("10:12", 0), FILES, null, true, "PT24H").reason())
        .contains("standby that can't tell");
    assertThat(
            Exactness.of(
                    Relation.Kind.PARTITIONED_TABLE,
                    now("10:12", 1),
                    new TableFiles(FILES.nodes(), true),
                    null,
                    true,
                    "PT24H")
                .reason())
        .contains("foreign");
  }
}
