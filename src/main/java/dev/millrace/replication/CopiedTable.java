package dev.millrace.replication;

/**
 * What a child workflow did to its table, and what it took.
 *
 * @param result what a run tells of the table; null before its first window
 * @param extractAttempts most attempts that an {@code extract} took; null when the window was empty
 * @param writeAttempts most attempts that a {@code write} took
 * @param extractMillis time of all {@code extract} with their retries; null when the window was
 *     empty
 * @param writeMillis time of all {@code write} with their retries
 */
public record CopiedTable(
    TableResult result,
    Integer extractAttempts,
    int writeAttempts,
    Long extractMillis,
    long writeMillis) {
  static final CopiedTable NOTHING = new CopiedTable(null, null, 0, null, 0);

  /** Returns the rows so far. */
  long rows() {
    return result == null ? 0 : result.rows();
  }

  /**
   * Returns this and one window more.
   *
   * @param extracted null where the window was empty
   * @param beforeExtract milliseconds of the epoch
   * @param beforeWrite milliseconds of the epoch
   * @param now milliseconds of the epoch
   */
  CopiedTable with(
      Written written, Extracted extracted, long beforeExtract, long beforeWrite, long now) {
    long writing = writeMillis + now - beforeWrite;
    int writeMost = Math.max(writeAttempts, written.attempt());
    TableResult total = result == null ? written.result() : result.then(written.result());
    if (extracted == null) {
      return new CopiedTable(total, extractAttempts, writeMost, extractMillis, writing);
    }
    int extractMost = Math.max(extractAttempts == null ? 0 : extractAttempts, extracted.attempt());
    long extracting = (extractMillis == null ? 0 : extractMillis) + beforeWrite - beforeExtract;
    return new CopiedTable(total, extractMost, writeMost, extracting, writing);
  }
}
