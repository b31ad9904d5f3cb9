package dev.millrace.clickhouse;

/**
 * A table that could not be cleaned up. It does no harm but takes room.
 *
 * @param table its name
 * @param reason what forbids it
 * @param wayOut what to do, and what the server or the holders are
 */
public record Pending(TargetTable table, Reason reason, String wayOut) {

  /** Why a table stays. */
  public enum Reason {
    /** It is larger than the server lets anybody drop (code 359). */
    SIZE_LIMIT,
    /** Something, such as a dictionary, depends on its name (code 630). */
    DEPENDANTS,
    /** Queries still read or write it; the server drops it when they have ended. */
    READERS
  }
}
