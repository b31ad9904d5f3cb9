package dev.millrace.verify;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Compares what the lake's objects hold with a table's rows, both as hashes of 128 bits.
 *
 * <p>A row of the lake is {@code identity (2 numbers), content (2), object and lateness (1)}. A row
 * of the table is {@code identity (2), state (1), transaction (1), content (2) for each shape}. The
 * identity is the hash of the primary key; where there is none, of all values, and then older
 * versions can't be told from deleted rows.
 *
 * <p>Not thread-safe.
 */
final class RowComparison {
  /** Numbers of a lake's record. */
  static final int LAKE_WIDTH = 5;

  /** Numbers of a table's record, before its contents. */
  static final int SOURCE_HEAD = 4;

  /** So many rows of each difference are shown. */
  static final int SHOWN = 5;

  private static final int LAKE_CONTENT = 2;
  private static final int LAKE_PLACE = 4;
  private static final int SOURCE_STATE = 2;
  private static final int SOURCE_ID = 3;
  private static final long LATE = 1;

  /** Ids below are those of rows that were there from the beginning. */
  private static final int FIRST_TRANSACTION = 3;

  /** Where a row of the table is to be; records hold the number, the least one first. */
  enum State {
    /** In the lake. */
    COMMITTED(0),
    /** Up to the watermark, and the next run takes it. */
    PENDING(1),
    /** Above the watermark. */
    ABOVE(2),
    /** It has no key, so no window takes it. */
    WITHOUT_KEY(3);

    private final int number;

    State(int number) {
      this.number = number;
    }

    int number() {
      return number;
    }

    static State of(long number) {
      for (State state : values()) {
        if (state.number == number) {
          return state;
        }
      }
      throw new IllegalArgumentException("no state has the number " + number);
    }
  }

  /**
   * What a comparison has to know of an object; objects are in the order of their windows, and
   * those that belong to no window come last.
   *
   * @param shape which of a row's contents is that of its columns
   * @param stray whether it belongs to no window
   * @param snapshotXmin of the snapshot that it was read in: all ids below it were visible; 0 where
   *     rows have no versions
   */
  record ComparedObject(int shape, boolean stray, long snapshotXmin) {}

  /** What a row that is shown has to do with the other side. */
  enum Difference {
    /** It is in no object. */
    MISSING,
    /** Only other versions of it are in the lake, and no run takes it. */
    STALE,
    /** It is in the lake more often than the source can have had it. */
    TWICE,
    /** It is in the lake and no longer in the table. */
    GONE
  }

  /**
   * A row to show.
   *
   * @param object that holds it; -1 where the table is to be asked
   */
  record Sample(Difference difference, long identityHigh, long identityLow, int object) {}

  /**
   * Figures.
   *
   * @param equal rows of the table that are in the lake as they are
   * @param missing rows of the table that are in no object
   * @param stale rows of the table of which the lake has other versions only
   * @param twice rows of the lake beyond what the source can have had
   * @param again rows of the lake that look like an earlier one and may be versions of their own:
   *     they came late, as an UPDATE that changes nothing makes them
   * @param older rows of the lake that are older versions of rows of the table
   * @param goneRows rows that were in the table and are no more; 0 where they can't be counted
   * @param goneVersions rows of the lake of which the table has no version
   * @param pending rows of the table that the next run takes
   * @param above rows of the table above the watermark
   * @param withoutKey rows of the table without a key that are not in the lake
   * @param samples some of what differs
   */
  record Result(
      long equal,
      long missing,
      long stale,
      long twice,
      long again,
      long older,
      long goneRows,
      long goneVersions,
      long pending,
      long above,
      long withoutKey,
      List<Sample> samples) {}

  private record Content(long high, long low) {}

  private final boolean identified;
  private final List<ComparedObject> objects;
  private final List<Sample> samples = new ArrayList<>();
  private final Map<Difference, Integer> shown = new EnumMap<>(Difference.class);

  private long equal;
  private long missing;
  private long stale;
  private long twice;
  private long again;
  private long older;
  private long goneRows;
  private long goneVersions;
  private long pending;
  private long above;
  private long withoutKey;

  private long[] lake;
  private long[] source;
  private int sourceWidth;

  private RowComparison(boolean identified, List<ComparedObject> objects) {
    this.identified = identified;
    this.objects = objects;
  }

  /** Returns what a lake's record says of its object. */
  static long place(int object, boolean late) {
    return (long) object << 1 | (late ? LATE : 0);
  }

  /**
   * Compares.
   *
   * @param identified whether a row is known by its primary key
   */
  static Result compare(
      HashRecords lake, HashRecords source, boolean identified, List<ComparedObject> objects)
      throws IOException {
    RowComparison comparison = new RowComparison(identified, objects);
    for (int part = 0; part < HashRecords.PARTS; part++) {
      comparison.compare(lake.part(part), source.part(part), source.width());
    }
    return comparison.result();
  }

  private Result result() {
    return new Result(
        equal,
        missing,
        stale,
        twice,
        again,
        older,
        goneRows,
        goneVersions,
        pending,
        above,
        withoutKey,
        List.copyOf(samples));
  }

  private void compare(long[] lakeRecords, long[] sourceRecords, int width) {
    lake = lakeRecords;
    source = sourceRecords;
    sourceWidth = width;
    int lakeAt = 0;
    int sourceAt = 0;
    while (lakeAt < lake.length || sourceAt < source.length) {
      int order = order(lakeAt, sourceAt);
      int lakeEnd = order > 0 ? lakeAt : groupEnd(lake, lakeAt, LAKE_WIDTH);
      int sourceEnd = order < 0 ? sourceAt : groupEnd(source, sourceAt, sourceWidth);
      if (identified && sourceEnd - sourceAt <= sourceWidth) {
        compareIdentified(lakeAt, lakeEnd, sourceAt, sourceEnd);
      } else {
        compareCounts(lakeAt, lakeEnd, sourceAt, sourceEnd);
      }
      lakeAt = lakeEnd;
      sourceAt = sourceEnd;
    }
  }

  private int order(int lakeAt, int sourceAt) {
    if (lakeAt == lake.length) {
      return 1;
    }
    return sourceAt == source.length ? -1 : HashRecords.compare(lake, lakeAt, source, sourceAt, 2);
  }

  private static int groupEnd(long[] records, int start, int width) {
    int end = start + width;
    while (end < records.length && HashRecords.compare(records, start, records, end, 2) == 0) {
      end += width;
    }
    return end;
  }

  /** Compares a row of the table, or none, with the rows of the lake that have its key. */
  private void compareIdentified(int from, int to, int row, int rowEnd) {
    boolean there = row < rowEnd;
    if (!there) {
      goneRows++;
      show(Difference.GONE, lake, from, object(from));
    }
    boolean current = false;
    int start = from;
    while (start < to) {
      int end = contentEnd(start, to);
      boolean same = there && isContent(start, row);
      int versions =
          (end - start) / LAKE_WIDTH - judge(start, end, same ? source[row + SOURCE_ID] : -1);
      if (same) {
        current = true;
      } else if (there) {
        older += versions;
      } else {
        goneVersions += versions;
      }
      start = end;
    }
    if (there) {
      count(row, current, from < to);
    }
  }

  private void count(int row, boolean current, boolean known) {
    if (current) {
      equal++;
      return;
    }
    switch (State.of(source[row + SOURCE_STATE])) {
      case COMMITTED -> {
        if (known) {
          stale++;
          show(Difference.STALE, source, row, -1);
        } else {
          missing++;
          show(Difference.MISSING, source, row, -1);
        }
      }
      case PENDING -> pending++;
      case ABOVE -> above++;
      case WITHOUT_KEY -> withoutKey++;
    }
  }

  /** Records of one content lie side by side, in the order of their objects. */
  private int contentEnd(int start, int to) {
    int end = start + LAKE_WIDTH;
    while (end < to
        && HashRecords.compare(lake, start + LAKE_CONTENT, lake, end + LAKE_CONTENT, 2) == 0) {
      end += LAKE_WIDTH;
    }
    return end;
  }

  private boolean isContent(int record, int row) {
    int content = row + SOURCE_HEAD + 2 * objects.get(object(record)).shape();
    return HashRecords.compare(lake, record + LAKE_CONTENT, source, content, 2) == 0;
  }

  private int object(int record) {
    return (int) (lake[record + LAKE_PLACE] >>> 1);
  }

  private boolean late(int record) {
    return (lake[record + LAKE_PLACE] & LATE) != 0;
  }

  /**
   * Judges rows of the lake with one key and one content.
   *
   * <p>One snapshot shows a row once, and windows do not overlap; so another one of the same
   * content is a version of its own only when it came late. When the table's row has that content,
   * and its transaction was visible to the snapshot of the object before, then that object has this
   * very version, and the other one has it a second time.
   *
   * @param id the transaction of the table's row; -1 when that has another content, or there is
   *     none
   * @return how many are too many, or may be
   */
  private int judge(int start, int end, long id) {
    int more = 0;
    for (int record = start + LAKE_WIDTH; record < end; record += LAKE_WIDTH) {
      ComparedObject before = objects.get(object(record - LAKE_WIDTH));
      boolean proven =
          object(record) == object(record - LAKE_WIDTH)
              || objects.get(object(record)).stray()
              || !late(record)
              || (id >= 0 && wasVisible(id, before.snapshotXmin()));
      more++;
      if (proven) {
        twice++;
        show(Difference.TWICE, lake, record, object(record));
      } else {
        again++;
      }
    }
    return more;
  }

  /** Ids have 32 bits and go around; those of a window's rows are near its snapshot. */
  private static boolean wasVisible(long id, long snapshotXmin) {
    return snapshotXmin > 0 && (id < FIRST_TRANSACTION || (int) snapshotXmin - (int) id > 0);
  }

  /** Compares rows that can't be told apart, by their number. */
  private void compareCounts(int from, int to, int row, int rowEnd) {
    Map<Content, Integer> unmatched = new HashMap<>();
    int start = from;
    while (start < to) {
      int end = contentEnd(start, to);
      int doubles = doublesOfWindows(start, end);
      unmatched.put(content(lake, start + LAKE_CONTENT), (end - start) / LAKE_WIDTH - doubles);
      start = end;
    }
    // First what has to be there: COMMITTED is the least.
    for (int at = row; at < rowEnd; at += sourceWidth) {
      count(at, take(unmatched, at), false);
    }
    int left = unmatched.values().stream().mapToInt(Integer::intValue).sum();
    goneVersions += left;
    if (left > 0) {
      show(Difference.GONE, lake, from, object(from));
    }
  }

  /** The key is part of the content, and is in the range of one window only. */
  private int doublesOfWindows(int start, int end) {
    int doubles = 0;
    int first = -1;
    for (int record = start; record < end; record += LAKE_WIDTH) {
      if (late(record)) {
        continue;
      }
      first = first < 0 ? object(record) : first;
      if (object(record) != first) {
        doubles++;
        twice++;
        show(Difference.TWICE, lake, record, object(record));
      }
    }
    return doubles;
  }

  private boolean take(Map<Content, Integer> unmatched, int row) {
    for (int at = row + SOURCE_HEAD; at < row + sourceWidth; at += 2) {
      Content wanted = content(source, at);
      Integer left = unmatched.get(wanted);
      if (left != null && left > 0) {
        unmatched.put(wanted, left - 1);
        return true;
      }
    }
    return false;
  }

  private static Content content(long[] records, int at) {
    return new Content(records[at], records[at + 1]);
  }

  private void show(Difference difference, long[] records, int at, int object) {
    if (shown.merge(difference, 1, Integer::sum) <= SHOWN) {
      samples.add(new Sample(difference, records[at], records[at + 1], object));
    }
  }
}
