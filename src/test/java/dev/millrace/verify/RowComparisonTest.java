package dev.millrace.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.verify.RowComparison.ComparedObject;
import dev.millrace.verify.RowComparison.Difference;
import dev.millrace.verify.RowComparison.Result;
import dev.millrace.verify.RowComparison.Sample;
import dev.millrace.verify.RowComparison.State;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RowComparisonTest {
  private static final boolean LATE = true;

  /** Two windows of one shape, and an object that belongs to none. */
  private static final List<ComparedObject> OBJECTS =
      List.of(
          new ComparedObject(0, false, 100),
          new ComparedObject(0, false, 200),
          new ComparedObject(0, true, 0));

  @TempDir private Path folder;
  private HashRecords lake;
  private HashRecords table;

  @BeforeEach
  void makeRecords() {
    lake = new HashRecords(RowComparison.LAKE_WIDTH, folder, "lake", 1_000);
    table = new HashRecords(RowComparison.SOURCE_HEAD + 2, folder, "table", 1_000);
  }

  private void inLake(long key, long content, int object, boolean late) throws IOException {
    lake.add(new long[] {key << 56, key, content, content, RowComparison.place(object, late)});
  }

  private void inTable(long key, long content, State state, long id) throws IOException {
    table.add(new long[] {key << 56, key, state.number(), id, content, content});
  }

  private Result compare(boolean identified) throws IOException {
    return RowComparison.compare(lake, table, identified, OBJECTS);
  }

  @Test
  void eachRowOfTheTableIsLookedFor() throws IOException {
    inTable(1, 10, State.COMMITTED, 50);
    inTable(2, 20, State.COMMITTED, 50);
    inTable(3, 30, State.COMMITTED, 50);
    inTable(4, 40, State.PENDING, 250);
    inTable(5, 50, State.ABOVE, 250);
    inTable(6, 60, State.WITHOUT_KEY, 50);
    inLake(1, 10, 0, !LATE);
    inLake(3, 29, 0, !LATE);

    Result result = compare(true);

    assertThat(result.equal()).isEqualTo(1);
    assertThat(result.missing()).isEqualTo(1);
    assertThat(result.stale()).isEqualTo(1);
    assertThat(result.pending()).isEqualTo(1);
    assertThat(result.above()).isEqualTo(1);
    assertThat(result.withoutKey()).isEqualTo(1);
    assertThat(result.samples())
        .containsExactlyInAnyOrder(
            new Sample(Difference.MISSING, 2L << 56, 2, -1),
            new Sample(Difference.STALE, 3L << 56, 3, -1));
  }

  @Test
  void olderVersionsAreToldFromDeletedRows() throws IOException {
    inTable(1, 12, State.COMMITTED, 150);
    inTable(2, 22, State.ABOVE, 250);
    inLake(1, 10, 0, !LATE);
    inLake(1, 11, 1, LATE);
    inLake(1, 12, 1, !LATE);
    inLake(2, 20, 0, !LATE);
    inLake(3, 30, 0, !LATE);
    inLake(3, 31, 1, !LATE);

    Result result = compare(true);

    assertThat(result.equal()).isEqualTo(1);
    assertThat(result.older()).isEqualTo(3);
    assertThat(result.goneRows()).isEqualTo(1);
    assertThat(result.goneVersions()).isEqualTo(2);
    assertThat(result.twice()).isZero();
    assertThat(result.samples()).containsExactly(new Sample(Difference.GONE, 3L << 56, 3, 0));
  }

  @Test
  void aRowOfOneSnapshotIsThereOnce() throws IOException {
    inTable(1, 10, State.COMMITTED, 50);
    inLake(1, 10, 0, !LATE);
    inLake(1, 10, 0, !LATE);

    Result result = compare(true);

    assertThat(result.twice()).isEqualTo(1);
    assertThat(result.equal()).isEqualTo(1);
    assertThat(result.older()).isZero();
  }

  @Test
  void aRowIsInTheRangeOfOneWindowOnly() throws IOException {
    inLake(1, 10, 0, !LATE);
    inLake(1, 10, 1, !LATE);

    Result result = compare(true);

    assertThat(result.twice()).isEqualTo(1);
    assertThat(result.goneVersions()).isEqualTo(1);
  }

  @Test
  void aStrayObjectMakesDoubles() throws IOException {
    inTable(1, 10, State.COMMITTED, 50);
    inTable(2, 20, State.COMMITTED, 50);
    inLake(1, 10, 0, !LATE);
    inLake(1, 10, 2, !LATE);
    inLake(2, 20, 2, !LATE);

    Result result = compare(true);

    assertThat(result.twice()).isEqualTo(1);
    assertThat(result.equal()).isEqualTo(2);
  }

  @Test
  void aLateRowOfAVersionThatWasVisibleBeforeIsADouble() throws IOException {
    inTable(1, 10, State.COMMITTED, 99);
    inTable(2, 20, State.COMMITTED, 2);
    inLake(1, 10, 0, !LATE);
    inLake(1, 10, 1, LATE);
    inLake(2, 20, 0, !LATE);
    inLake(2, 20, 1, LATE);

    assertThat(compare(true).twice()).isEqualTo(2);
  }

  @Test
  void aLateRowMayBeAVersionThatChangedNothing() throws IOException {
    // Not visible to the first window's snapshot; or another version has come since.
    inTable(1, 10, State.COMMITTED, 100);
    inTable(2, 21, State.COMMITTED, 50);
    inLake(1, 10, 0, !LATE);
    inLake(1, 10, 1, LATE);
    inLake(2, 20, 0, !LATE);
    inLake(2, 20, 1, LATE);
    inLake(2, 21, 1, !LATE);

    Result result = compare(true);

    assertThat(result.twice()).isZero();
    assertThat(result.again()).isEqualTo(2);
    assertThat(result.older()).isEqualTo(1);
    assertThat(result.equal()).isEqualTo(2);
  }

  @Test
  void idsOfTransactionsGoAround() throws IOException {
    List<ComparedObject> around =
        List.of(
            new ComparedObject(0, false, (1L << 32) + 10),
            new ComparedObject(0, false, (1L << 32) + 20));
    inTable(1, 10, State.COMMITTED, 0xffff_fff0L);
    inTable(2, 20, State.COMMITTED, 15);
    for (long key = 1; key <= 2; key++) {
      inLake(key, key * 10, 0, !LATE);
      inLake(key, key * 10, 1, LATE);
    }

    Result result = RowComparison.compare(lake, table, true, around);

    assertThat(result.twice()).isEqualTo(1);
    assertThat(result.again()).isEqualTo(1);
  }

  @Test
  void rowsWithoutAPrimaryKeyAreCounted() throws IOException {
    for (int i = 0; i < 3; i++) {
      inTable(1, 10, State.COMMITTED, 50);
      inLake(1, 10, 0, !LATE);
    }
    inTable(2, 20, State.COMMITTED, 50);
    inTable(2, 20, State.COMMITTED, 50);
    inTable(2, 20, State.PENDING, 250);
    inLake(2, 20, 0, !LATE);
    inLake(3, 30, 0, !LATE);
    inLake(4, 40, 0, !LATE);
    inLake(4, 40, 1, !LATE);

    Result result = compare(false);

    assertThat(result.equal()).isEqualTo(4);
    assertThat(result.missing()).isEqualTo(1);
    assertThat(result.pending()).isEqualTo(1);
    assertThat(result.goneVersions()).isEqualTo(2);
    assertThat(result.twice()).isEqualTo(1);
  }

  @Test
  void objectsOfOtherColumnsHaveOtherContents() throws IOException {
    table = new HashRecords(RowComparison.SOURCE_HEAD + 4, folder, "shapes", 1_000);
    table.add(new long[] {1L << 56, 1, State.COMMITTED.number(), 50, 10, 10, 77, 77});
    table.add(new long[] {2L << 56, 2, State.COMMITTED.number(), 50, 20, 20, 88, 88});
    lake.add(new long[] {1L << 56, 1, 77, 77, RowComparison.place(1, !LATE)});
    // The content of the other shape is none of this object's.
    lake.add(new long[] {2L << 56, 2, 20, 20, RowComparison.place(1, !LATE)});

    Result result =
        RowComparison.compare(
            lake,
            table,
            true,
            List.of(new ComparedObject(0, false, 100), new ComparedObject(1, false, 200)));

    assertThat(result.equal()).isEqualTo(1);
    assertThat(result.stale()).isEqualTo(1);
  }

  @Test
  void aFewOfManyAreShown() throws IOException {
    for (long key = 1; key <= 100; key++) {
      inTable(key, key, State.COMMITTED, 50);
    }

    Result result = compare(true);

    assertThat(result.missing()).isEqualTo(100);
    assertThat(result.samples()).hasSize(RowComparison.SHOWN);
  }
}
