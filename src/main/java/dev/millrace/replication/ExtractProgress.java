package dev.millrace.replication;

/**
 * How far an extract is: the details of its heartbeats.
 *
 * @param rows rows so far
 * @param bytes bytes of the object so far
 * @param rowsPerSecond since it began
 */
public record ExtractProgress(long rows, long bytes, long rowsPerSecond) {

  @Override
  public String toString() {
    return "%,d rows so far, %,d rows per second, %,d bytes".formatted(rows, rowsPerSecond, bytes);
  }
}
