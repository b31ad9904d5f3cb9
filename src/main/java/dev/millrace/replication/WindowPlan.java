package dev.millrace.replication;

import dev.millrace.postgres.Catalogue;
import dev.millrace.postgres.Identifiers;
import dev.millrace.postgres.OpenTransaction;
import dev.millrace.postgres.Partition;
import dev.millrace.postgres.SeenIds;
import dev.millrace.postgres.SelectQuery;
import dev.millrace.postgres.ServerMoment;
import dev.millrace.postgres.Snapshot;
import dev.millrace.postgres.TableFiles;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * What one attempt reads, decided in the snapshot that it reads in.
 *
 * @param window what is read; it may end before the run's window does
 * @param more whether the rest of the run's window is to be read after it
 * @param selects the rows, in parts; empty when there is nothing to read
 * @param files those of the snapshot; null where rows have no versions
 * @param reading what the next window has to know; null when the watermark must stay. Its set of
 *     ids is filled while the rows come
 * @param withIds whether the rows come with their transactions
 * @param lateAbove late rows come, too, whose key is above this; null where none are looked for
 * @param wholePartitions names of partitions whose rows all come
 * @param warnings what a person should know
 * @param longTransaction one that has been open for long; null for none
 */
record WindowPlan(
    Window window,
    boolean more,
    List<String> selects,
    TableFiles files,
    Reading reading,
    boolean withIds,
    String lateAbove,
    List<String> wholePartitions,
    List<String> warnings,
    LongTransaction longTransaction) {

  /** A warning holds two, and results hold a sentence. */
  private static final int MOST_FILTER = 200;

  WindowPlan {
    selects = List.copyOf(selects);
    wholePartitions = List.copyOf(wholePartitions);
    warnings = List.copyOf(warnings);
  }

  /**
   * Plans the next window of a table.
   *
   * @param connection in the transaction that will read the rows
   * @param last the last reading; null for none
   * @param attempt the id of the attempt
   */
  static WindowPlan of(
      Connection connection,
      TableTask task,
      Prepared prepared,
      SourceTable table,
      Reading last,
      String attempt)
      throws SQLException {
    return new Planner(connection, task, prepared, table, last, attempt).plan();
  }

  private record Planner(
      Connection connection,
      TableTask task,
      Prepared prepared,
      SourceTable table,
      Reading last,
      String attempt) {

    private WindowPlan plan() throws SQLException {
      if (table.relation() == null) {
        return windowOnly(prepared.window(), List.of());
      }
      ServerMoment now = ServerMoment.look(connection);
      TableFiles files = TableFiles.inSnapshot(connection, table.relation());
      Exactness exactness =
          Exactness.of(
              table.relation().kind(),
              now,
              files,
              last,
              prepared.window().initialLoad(),
              lookBack().toString());
      List<String> warnings = new ArrayList<>();
      if (last != null && !Objects.equals(last.filter(), table.filter().text())) {
        warnings.add(otherFilter());
      }
      if (exactness.reason() != null) {
        warnings.add(fallback(exactness));
      }
      return switch (exactness.kind()) {
        case WAIT -> waiting(warnings);
        case FIRST, EXACT -> versioned(now, files, prepared.window(), exactness, warnings);
        case WINDOW_ONLY -> {
          Window held = held(warnings);
          yield exactness.versioned()
              ? versioned(now, files, held, exactness, warnings)
              : windowOnly(held, warnings);
        }
      };
    }

    /** Rows that were left out and pass now are below the watermark, where no window looks. */
    private String otherFilter() {
      return "its row filter was %s and is %s: rows up to %s that only pass now are not fetched, and copies of rows that no longer pass stay in the lake; `millrace state reset --pipeline %s --table '%s'` loads all rows again"
          .formatted(
              shown(last.filter()),
              shown(table.filter().text()),
              prepared.window().low(),
              task.pipeline(),
              table.name());
    }

    private static String shown(String filter) {
      if (filter == null) {
        return "none";
      }
      return filter.length() <= MOST_FILTER ? filter : filter.substring(0, MOST_FILTER) + "…";
    }

    private static String fallback(Exactness exactness) {
      return switch (exactness.kind()) {
        case WAIT -> "it " + exactness.reason();
        case FIRST, EXACT, WINDOW_ONLY ->
            "it %s; this time rows that came late are not looked for".formatted(exactness.reason());
      };
    }

    private WindowPlan waiting(List<String> warnings) {
      String low = prepared.window().low();
      return new WindowPlan(
          new Window(table.keyKind(), low, low),
          false,
          List.of(),
          null,
          null,
          false,
          null,
          List.of(),
          warnings,
          null);
    }

    private WindowPlan windowOnly(Window reach, List<String> warnings) throws SQLException {
      Window window = cut(reach);
      List<String> selects =
          window.rangeEmpty() ? List.of() : List.of(table.select(condition(window), false));
      return new WindowPlan(
          window,
          !window.high().equals(reach.high()),
          selects,
          null,
          Reading.unversioned(attempt, lookBack(), table.filter().text()),
          false,
          null,
          List.of(),
          warnings,
          null);
    }

    private WindowPlan versioned(
        ServerMoment now,
        TableFiles files,
        Window reach,
        Exactness exactness,
        List<String> warnings)
        throws SQLException {
      Snapshot snapshot = now.snapshot();
      boolean exact = exactness.kind() == Exactness.Kind.EXACT;
      boolean withIds = !snapshot.quiet();
      Window window = cut(reach);
      SeenIds seen = new SeenIds(snapshot);
      Set<Long> added =
          last == null || last.files() == null ? Set.of() : files.addedSince(last.files());
      String lateAbove = exact ? lookBack().below(window.low()) : null;
      List<String> selects = new ArrayList<>();
      if (exact) {
        seen.carry(last.seen());
        String unseen = UnseenRows.condition(connection, last.snapshot(), last.seen(), added);
        selects.addAll(
            parts(
                files,
                Bounds.conditionWithLate(
                    window, lateAbove, unseen, table.key().name(), task.zone()),
                withIds));
      } else {
        if (!window.initialLoad() && withIds) {
          noteLookBack(window, snapshot, seen);
        }
        if (!window.rangeEmpty()) {
          selects.addAll(parts(files, condition(window), withIds));
        }
      }
      List<Partition> partitions =
          added.isEmpty() ? List.of() : new Catalogue().partitions(connection, added);
      if (!partitions.isEmpty()) {
        warnings.add("partitions that were not there before are read whole: " + partitions);
        partitions.forEach(partition -> selects.add(whole(window, partition, withIds)));
      }
      Instant since = since(snapshot);
      LongTransaction longTransaction = longTransaction(snapshot, since);
      return new WindowPlan(
          window,
          !window.high().equals(reach.high()),
          selects,
          files,
          new Reading(
              attempt,
              snapshot,
              now.timeline(),
              lookBack().toString(),
              files,
              seen,
              since,
              longTransaction != null,
              table.filter().text()),
          withIds,
          lateAbove,
          partitions.stream().map(Partition::toString).toList(),
          warnings,
          longTransaction);
    }

    private List<String> parts(TableFiles files, String condition, boolean withIds)
        throws SQLException {
      return task.connections() > 1
          ? BlockRanges.split(connection, table, files.nodes().keySet(), condition, withIds)
          : List.of(table.select(condition, withIds));
    }

    private LookBack lookBack() {
      return task.lookBack(table.keyKind());
    }

    private String condition(Window window) {
      return Bounds.condition(window, table.key().name(), task.zone(), prepared.includeNullKeys());
    }

    /** Rows of a partition that was attached have old ids, and none of them was read before. */
    private String whole(Window window, Partition partition, boolean withIds) {
      String below = Bounds.conditionBelow(window, table.key().name(), task.zone());
      // Rights may be given on the parent only.
      return partition.readable()
          ? SelectQuery.text(
              table.relation(),
              partition.name(),
              table.columns(),
              table.filter().and(below),
              withIds)
          : table.select("%s AND tableoid = %d".formatted(below, partition.oid()), withIds);
    }

    /**
     * Notes what is visible in the look-back, which this window does not read; also of rows that
     * the filter leaves out, since another one may have let them through before, and may again.
     */
    private void noteLookBack(Window window, Snapshot snapshot, SeenIds seen) throws SQLException {
      Window below = new Window(window.kind(), lookBack().below(window.low()), window.low());
      String sql =
          "SELECT DISTINCT xmin::text::int8 FROM %s WHERE %s AND %s"
              .formatted(
                  Identifiers.quote(table.name()),
                  Bounds.condition(below, table.key().name(), task.zone(), false),
                  UnseenRows.since(connection, snapshot));
      try (Statement statement = connection.createStatement();
          ResultSet row = statement.executeQuery(sql)) {
        while (row.next()) {
          seen.add((int) row.getLong(1));
        }
      }
    }

    /** Ends the window before the oldest open transaction, whose rows may still come. */
    private Window held(List<String> warnings) throws SQLException {
      Window window = prepared.window();
      if (window.kind() == KeyKind.NUMBER) {
        return window;
      }
      Optional<Instant> oldest = OpenTransaction.oldestStart(connection);
      if (oldest.isEmpty()) {
        return window;
      }
      String held = Watermark.of(oldest.get().minus(1, ChronoUnit.MICROS));
      if (Watermark.compare(window.kind(), held, window.high()) >= 0) {
        return window;
      }
      String high =
          window.low() != null && Watermark.compare(window.kind(), held, window.low()) < 0
              ? window.low()
              : held;
      warnings.add(
          "its window ends at %s, before the oldest open transaction, instead of at %s"
              .formatted(high, window.high()));
      return new Window(window.kind(), window.low(), high);
    }

    /** Ends a window of many rows where it has its share of them. */
    private Window cut(Window window) throws SQLException {
      if (!table.keyIndexed() || table.relation() == null || window.rangeEmpty()) {
        return window;
      }
      return WindowCut.of(connection, table, window, task.windowRows(), task.zone());
    }

    /** Returns when a run first met the oldest transaction in progress. */
    private Instant since(Snapshot snapshot) {
      if (snapshot.quiet()) {
        return null;
      }
      return knownOldest(snapshot) ? last.openSince() : task.runInstant();
    }

    private boolean knownOldest(Snapshot snapshot) {
      return last != null && last.hasOldest(snapshot);
    }

    private LongTransaction longTransaction(Snapshot snapshot, Instant met) throws SQLException {
      if (snapshot.quiet()) {
        return null;
      }
      OpenTransaction open = OpenTransaction.oldestOf(connection, snapshot);
      Instant since = open.started() == null ? met : open.started();
      Duration age = Duration.between(since, Instant.now());
      if (age.compareTo(task.longTransactionDuration()) < 0) {
        return null;
      }
      boolean told = knownOldest(snapshot) && last.openTold();
      return new LongTransaction(open.id(), since.toString(), open.session(), !told);
    }
  }
}
