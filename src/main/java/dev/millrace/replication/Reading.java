package dev.millrace.replication;

import dev.millrace.postgres.SeenIds;
import dev.millrace.postgres.Snapshot;
import dev.millrace.postgres.TableFiles;
import java.time.Instant;

/**
 * What a table's last window was read in; it tells the next one which rows it could not see.
 *
 * @param attempt the attempt that read it
 * @param snapshot null where the rows have no versions that could be told apart
 * @param timeline of the server; 0 where it can't be told
 * @param lookBack how far below the watermark was looked, as text
 * @param files that held the rows; null without a snapshot
 * @param seen transactions whose rows were visible; null when there were too many, or without a
 *     snapshot
 * @param openSince when a run first met the snapshot's oldest transaction in progress; null when
 *     none was
 * @param openTold whether a person was told of it
 * @param filter which rows were read, in SQL; null for all
 */
record Reading(
    String attempt,
    Snapshot snapshot,
    int timeline,
    String lookBack,
    TableFiles files,
    SeenIds seen,
    Instant openSince,
    boolean openTold,
    String filter) {

  /** Returns the reading of rows that have no versions: it only fences the watermark. */
  static Reading unversioned(String attempt, LookBack lookBack, String filter) {
    return new Reading(attempt, null, 0, lookBack.toString(), null, null, null, false, filter);
  }

  /** Returns whether its oldest transaction in progress still is the oldest one. */
  boolean hasOldest(Snapshot now) {
    return openSince != null && snapshot.xmin() == now.xmin();
  }
}
