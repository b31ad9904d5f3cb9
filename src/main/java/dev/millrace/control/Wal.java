package dev.millrace.control;

/**
 * The write-ahead log of a run: what happened is in it before anybody is told over the network.
 *
 * <p>Thread-safe; several processes may append to one log, too.
 */
public final class Wal implements AutoCloseable {
  private final LineFile lines;

  private Wal(LineFile lines) {
    this.lines = lines;
  }

  /**
   * Makes the log's folder where it is missing; the first record makes the file.
   *
   * @throws dev.millrace.failure.MillraceException with {@code WAL_UNWRITABLE} when the folder
   *     can't be made
   */
  public static Wal open(WalFile file) {
    return new Wal(LineFile.open(file.path()));
  }

  /**
   * Appends a record, which is durable on return. What an earlier crash left half-written is cut
   * off first. A thread's interrupt is kept for later.
   *
   * @throws dev.millrace.failure.MillraceException with {@code BAD_RECORD} when the record can't be
   *     stored, and with {@code WAL_UNWRITABLE} when the disk is full or the like; the log then
   *     ends with the last record that was appended
   */
  public void append(WalRecord record) {
    lines.append(WalFormat.line(record));
  }

  /** Closes the file; nothing is written by it. */
  @Override
  public void close() {
    lines.close();
  }
}
