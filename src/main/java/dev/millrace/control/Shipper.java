package dev.millrace.control;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings write-ahead logs into Postgres: what a log has gained since the last time, in one
 * transaction, and then its offset. A crash in between ships lines again, which changes nothing.
 *
 * <p>Thread-safe; in one process a log is shipped by one thread at a time.
 */
public final class Shipper {
  private static final Logger LOG = LoggerFactory.getLogger(Shipper.class);
  private static final PathLocks LOCKS = new PathLocks();
  private static final int MOST_TIDIED = 10_000;

  private final ControlDatabase database;
  private final Target target;

  /** The logs beside which crashes of earlier processes need not be looked for again. */
  private final Set<Path> tidied = ConcurrentHashMap.newKeySet();

  /**
   * What became of one call.
   *
   * @param records the lines that are in Postgres now
   * @param rejected the lines that were set aside; {@link RejectedLines} has them
   * @param offset how far the log is shipped, in bytes
   */
  public record Shipped(long records, long rejected, long offset) {}

  /** What brings lines into Postgres; another one than {@link Projection} in tests of failures. */
  @FunctionalInterface
  interface Target {
    /** As {@link Projection#apply}. */
    List<WalLine.Refused> apply(Connection connection, List<WalLine> lines) throws SQLException;
  }

  private record Shipment(long records, long offset, List<WalLine.Refused> refused) {}

  /**
   * Makes a shipper.
   *
   * @param database where to
   */
  public Shipper(ControlDatabase database) {
    this(database, Projection::apply);
  }

  Shipper(ControlDatabase database, Target target) {
    this.database = database;
    this.target = target;
  }

  /**
   * Ships what a log has gained. Without any, the database is not asked.
   *
   * @return what became of it
   * @throws dev.millrace.failure.MillraceException with {@code WAL_UNWRITABLE} when the log can't
   *     be read or its offset not be written, with {@code RUN_ID_TAKEN} when another extractor has
   *     the run's id, and with the errors of {@link ControlDatabase#transact}; the offset is
   *     unchanged then, and all of it is shipped the next time
   */
  public Shipped ship(WalFile file) {
    return ship(file, false);
  }

  /** Ships a log, from its beginning when the database is to get all of it anew. */
  Shipped ship(WalFile file, boolean anew) {
    Path key = LineFile.key(file.path());
    LOCKS.lock(key);
    try {
      return shipLocked(file, key, anew);
    } finally {
      LOCKS.unlock(key);
    }
  }

  /**
   * Returns how many bytes of whole lines are yet to be shipped. The database is not asked.
   *
   * @throws dev.millrace.failure.MillraceException with {@code WAL_UNWRITABLE} when the log can't
   *     be read
   */
  public static long unshipped(WalFile file) {
    long offset = ShippedOffset.read(file);
    try (LineReader reader = LineReader.open(file.path())) {
      return Math.max(0, reader.lastBorder() - offset);
    }
  }

  private Shipped shipLocked(WalFile file, Path key, boolean anew) {
    long start = anew ? 0 : ShippedOffset.mend(file);
    if (!hasLines(file, start)) {
      return new Shipped(0, 0, start);
    }
    tidyOnce(file, key);
    Shipment shipment = database.transact(connection -> project(connection, file, start));
    for (WalLine.Refused line : RejectedLines.note(file, shipment.refused())) {
      LOG.warn(
          "the line of {} bytes at {} of {} can't be shipped and is set aside in {}: {}",
          line.bytes(),
          line.offset(),
          file.path(),
          file.rejectedPath(),
          line.reason());
    }
    ShippedOffset.write(file, shipment.offset());
    return new Shipped(shipment.records(), shipment.refused().size(), shipment.offset());
  }

  private Shipment project(Connection connection, WalFile file, long start) throws SQLException {
    List<WalLine.Refused> refused = new ArrayList<>();
    long records = 0;
    WalTail tail = WalTail.open(file.path(), start);
    try (WalBatches batches = new WalBatches(tail)) {
      Optional<WalBatch> next = batches.next();
      while (next.isPresent()) {
        WalBatch batch = next.get();
        refused.addAll(batch.refused());
        if (!batch.lines().isEmpty()) {
          List<WalLine.Refused> poison = target.apply(connection, batch.lines());
          records += batch.lines().size() - poison.size();
          refused.addAll(poison);
        }
        next = batches.next();
      }
      refused.sort(Comparator.comparingLong(WalLine.Refused::offset));
      return new Shipment(records, tail.position(), refused);
    }
  }

  private static boolean hasLines(WalFile file, long start) {
    try (LineReader reader = LineReader.open(file.path())) {
      return reader.lastBorder() > start;
    }
  }

  private void tidyOnce(WalFile file, Path key) {
    if (tidied.size() >= MOST_TIDIED) {
      tidied.clear();
    }
    if (tidied.add(key)) {
      ShippedOffset.tidy(file);
    }
  }
}
