package dev.millrace.replication;

import dev.millrace.postgres.Relation;
import dev.millrace.postgres.SeenIds;
import dev.millrace.postgres.ServerMoment;
import dev.millrace.postgres.TableFiles;

/**
 * Whether a window can tell late rows from those that were read before, and why not.
 *
 * @param kind what can be done
 * @param reason the rest of a sentence that begins with the table; null where all is well
 * @param versioned whether the rows have versions, so that the next window may be exact
 */
record Exactness(Kind kind, String reason, boolean versioned) {

  /** What can be done. */
  enum Kind {
    /** Nothing was read before, so all rows up to the window's end are new. */
    FIRST,
    /** Late rows are known by the transactions that wrote them. */
    EXACT,
    /** Late rows can't be known: the window alone is read, behind the oldest open transaction. */
    WINDOW_ONLY,
    /** Reading now could lose rows: the window is left to the next run. */
    WAIT
  }

  /** Transactions are told apart by 32 bits, half of which are the past. */
  private static final long DISTINCT_IDS = 1L << 31;

  /**
   * Decides.
   *
   * @param kind what is read
   * @param now the server and the snapshot
   * @param files the snapshot's files; null without a snapshot
   * @param last the last reading; null for none
   * @param first whether the watermark is unset
   * @param lookBack how far below the watermark this run looks
   */
  static Exactness of(
      Relation.Kind kind,
      ServerMoment now,
      TableFiles files,
      Reading last,
      boolean first,
      String lookBack) {
    String never = never(kind, now, files);
    if (never != null) {
      return new Exactness(Kind.WINDOW_ONLY, never, false);
    }
    if (first) {
      return new Exactness(Kind.FIRST, null, true);
    }
    String once = thisTime(now, files, last, lookBack);
    if (once != null) {
      return new Exactness(Kind.WINDOW_ONLY, once, true);
    }
    if (now.snapshot().xmax() < last.snapshot().xmax()
        || now.snapshot().xmin() < last.snapshot().xmin()) {
      return new Exactness(
          Kind.WAIT,
          "is read on a server that is behind the last run's snapshot (%s, now %s), such as a standby that lags; nothing is read until it has caught up"
              .formatted(last.snapshot(), now.snapshot()),
          true);
    }
    if (now.snapshot().xmax() - last.snapshot().xmin() >= DISTINCT_IDS) {
      return new Exactness(
          Kind.WINDOW_ONLY,
          "had two thousand million transactions since the last run's snapshot",
          true);
    }
    return new Exactness(Kind.EXACT, null, true);
  }

  private static String never(Relation.Kind kind, ServerMoment now, TableFiles files) {
    return switch (kind) {
      case VIEW, MATERIALIZED_VIEW -> "is a view, whose rows have no versions";
      case FOREIGN_TABLE -> "is a foreign table, whose rows have no versions here";
      case TABLE, PARTITIONED_TABLE -> {
        if (now.snapshot() == null) {
          yield "is on Postgres %d, which is older than 13 and can't tell its snapshots"
              .formatted(now.version() / 10_000);
        }
        if (files.foreign()) {
          yield "has foreign tables below it, whose rows have no versions here";
        }
        yield now.timeline() == 0 ? "is on a standby that can't tell its timeline" : null;
      }
    };
  }

  private static String thisTime(
      ServerMoment now, TableFiles files, Reading last, String lookBack) {
    if (last == null || last.snapshot() == null) {
      return "has no snapshot of the last window";
    }
    if (last.timeline() != now.timeline()) {
      return "is on timeline %d of its cluster, and was on %d (a failover)"
          .formatted(now.timeline(), last.timeline());
    }
    if (last.seen() == null) {
      return "met more than %,d transactions beside one that was open for long"
          .formatted(SeenIds.MOST);
    }
    if (!last.lookBack().equals(lookBack)) {
      return "is read with the look-back %s, and was with %s".formatted(lookBack, last.lookBack());
    }
    if (!files.rewrittenSince(last.files()).isEmpty()) {
      return "was rewritten or truncated since the last window (another file node)";
    }
    return null;
  }
}
