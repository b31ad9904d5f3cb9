package dev.millrace.replication;

import io.temporal.activity.ActivityInterface;

/** The steps of a table. Errors: {@code ApplicationFailure} with a code as type. */
@ActivityInterface(namePrefix = "Table")
public interface TableActivities {

  /**
   * Decides what an earlier run left half published, refuses what can't be copied, and cuts the
   * window.
   */
  Prepared prepare(TableTask task);

  /**
   * Reads the window, or its next part, in one snapshot and stages its rows as one object that
   * nobody sees.
   */
  Extracted extract(TableTask task, Prepared prepared);

  /**
   * Publishes the staged object, then moves the watermark.
   *
   * @param extracted null where the window is empty: nothing moves, the result is recorded
   * @param runRows rows of the table in the run, with these
   */
  Written write(
      TableTask task, Prepared prepared, Extracted extracted, long runRows, boolean spike);

  /** Throws away what was staged and will not be published. */
  void abandon(TableTask task, Extracted extracted);
}
