package dev.millrace.postgres;

/**
 * The two bounds of a <a
 * href="https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT">{@code
 * pg_snapshot}</a>; its list of transactions in progress says nothing of subtransactions, and
 * nothing at all on a standby, so it is not kept.
 *
 * @param xmin the oldest transaction that was in progress; all ids below it had ended
 * @param xmax the first id that was not yet assigned; no id from there on is visible
 */
public record Snapshot(long xmin, long xmax) {
  public Snapshot {
    if (xmin <= 0 || xmax < xmin) {
      throw new IllegalArgumentException("a snapshot from " + xmin + " to " + xmax);
    }
  }

  /**
   * Reads Postgres' text form, {@code xmin:xmax:ids}, or the one of {@link #toString}.
   *
   * @throws IllegalArgumentException when it is none
   */
  public static Snapshot parse(String text) {
    String[] parts = text.split(":", 3);
    if (parts.length < 2) {
      throw new IllegalArgumentException("'" + text + "' is no snapshot");
    }
    return new Snapshot(Long.parseLong(parts[0]), Long.parseLong(parts[1]));
  }

  /** Returns whether nothing was in progress: what is not visible had not begun. */
  public boolean quiet() {
    return xmin == xmax;
  }

  /** Returns {@code xmin:xmax}. */
  @Override
  public String toString() {
    return xmin + ":" + xmax;
  }
}
