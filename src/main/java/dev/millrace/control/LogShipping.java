package dev.millrace.control;

import dev.millrace.failure.MillraceException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ships the logs of a host in the background: each that is told of soon, and every now and then
 * whatever any run has left. A database that is away is waited for. Thread-safe.
 */
public final class LogShipping implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LogShipping.class);

  private static final Duration REPLAY = Duration.ofMinutes(5);
  private static final Duration SHORTEST_WAIT = Duration.ofSeconds(1);
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);
  private static final Duration LAST_SHIPMENT = Duration.ofSeconds(5);

  private final ControlDatabase database;
  private final Path walFolder;
  private final Retention retention;
  private final Shipper shipper;
  private final Map<Path, WalFile> waiting = new LinkedHashMap<>();
  private final Thread thread = new Thread(this::run, "log-shipping");
  private final CountDownLatch ended = new CountDownLatch(1);
  private boolean closing;
  private boolean away;

  private LogShipping(ControlDatabase database, Path walFolder, Retention retention) {
    this.database = database;
    this.walFolder = walFolder;
    this.retention = retention;
    this.shipper = new Shipper(database);
    thread.setDaemon(true);
  }

  /**
   * Starts to ship, with what is left of earlier runs first.
   *
   * @param walFolder where this host's logs are
   * @param retention what is removed every now and then
   */
  public static LogShipping start(ControlDatabase database, Path walFolder, Retention retention) {
    LogShipping shipping = new LogShipping(database, walFolder, retention);
    shipping.thread.start();
    return shipping;
  }

  /** Asks that a log is shipped soon; returns at once. */
  public void soon(WalFile log) {
    synchronized (waiting) {
      waiting.put(log.path(), log);
      waiting.notifyAll();
    }
  }

  /**
   * Ships now what this host holds of an extractor's runs; what can't be shipped is told and kept.
   *
   * @throws MillraceException with {@code POSTGRES_UNAVAILABLE} and the like
   */
  public void replay(String extractor) {
    Recovery.replay(database, shipper, WalFile.of(walFolder, extractor), Instant.MAX);
  }

  private void run() {
    Duration wait = SHORTEST_WAIT;
    long replay = System.nanoTime();
    Instant anewSince = retention.runs().map(keep -> Instant.now().minus(keep)).orElse(Instant.MIN);
    try {
      while (true) {
        try {
          if (System.nanoTime() - replay >= 0) {
            replayAll(anewSince);
            anewSince = Instant.MAX;
            replay = System.nanoTime() + REPLAY.toNanos();
          }
          if (!shipNext(replay)) {
            return;
          }
          told(null);
          wait = SHORTEST_WAIT;
        } catch (RuntimeException exception) {
          told(exception);
          if (pause(wait)) {
            return;
          }
          Duration longer = wait.multipliedBy(2);
          wait = longer.compareTo(LONGEST_WAIT) < 0 ? longer : LONGEST_WAIT;
        }
      }
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
    } finally {
      ended.countDown();
    }
  }

  private void replayAll(Instant anewSince) {
    ControlSchema.ensure(database);
    Recovery.replay(database, shipper, WalFile.in(walFolder), anewSince);
    retention.logs().ifPresent(keep -> Retention.removeLogs(walFolder, Instant.now().minus(keep)));
    retention
        .runs()
        .ifPresent(keep -> database.transact(connection -> Retention.removeRuns(connection, keep)));
  }

  /** Ships what waits; returns false when that was the last. */
  private boolean shipNext(long until) throws InterruptedException {
    List<WalFile> logs;
    boolean last;
    synchronized (waiting) {
      long left = until - System.nanoTime();
      while (waiting.isEmpty() && !closing && left > 0) {
        TimeUnit.NANOSECONDS.timedWait(waiting, left);
        left = until - System.nanoTime();
      }
      logs = List.copyOf(waiting.values());
      last = closing;
    }
    for (WalFile log : logs) {
      synchronized (waiting) {
        // Before it is read: what is appended from here on asks again.
        waiting.remove(log.path());
      }
      try {
        shipper.ship(log);
      } catch (MillraceException exception) {
        if (exception.code().retryable()) {
          soon(log);
        }
        throw exception;
      }
    }
    return !last;
  }

  /** Tells the first of a row of failures, and its end. */
  private void told(RuntimeException failure) {
    if (failure != null && !away) {
      LOG.warn("records of runs are kept in {} for now: {}", walFolder, failure.getMessage());
    } else if (failure == null && away) {
      LOG.info("records of runs are shipped again");
    }
    away = failure != null;
  }

  private boolean pause(Duration wait) throws InterruptedException {
    long until = System.nanoTime() + wait.toNanos();
    synchronized (waiting) {
      // Records that come in the meantime are no reason to ask sooner.
      for (long left = wait.toNanos(); !closing && left > 0; left = until - System.nanoTime()) {
        TimeUnit.NANOSECONDS.timedWait(waiting, left);
      }
      return closing;
    }
  }

  /** Ships what waits, for some seconds at most; what is left is shipped by the next worker. */
  @Override
  public void close() {
    synchronized (waiting) {
      closing = true;
      waiting.notifyAll();
    }
    try {
      if (!ended.await(LAST_SHIPMENT.toSeconds(), TimeUnit.SECONDS)) {
        LOG.warn("records of runs are left in {}; the next worker ships them", walFolder);
        thread.interrupt();
      }
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
    }
  }
}
