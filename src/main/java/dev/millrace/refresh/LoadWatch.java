package dev.millrace.refresh;

import dev.millrace.clickhouse.ClickHouse;
import dev.millrace.failure.MillraceException;
import dev.millrace.run.Heartbeat;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a load on the server when its attempt was cancelled or is no longer the current one.
 * Thread-safe.
 */
final class LoadWatch {
  private static final Logger LOG = LoggerFactory.getLogger(LoadWatch.class);
  private static final Duration KILL = Duration.ofSeconds(20);
  private static final long MILLIS = 500;

  private final ClickHouse clickHouse;
  private final String queryId;
  private final Heartbeat heartbeat;
  private final CountDownLatch closed = new CountDownLatch(1);

  private LoadWatch(ClickHouse clickHouse, String queryId, Heartbeat heartbeat) {
    this.clickHouse = clickHouse;
    this.queryId = queryId;
    this.heartbeat = heartbeat;
  }

  /** Begins to watch, until it is closed. */
  static LoadWatch start(ClickHouse clickHouse, String queryId, Heartbeat heartbeat) {
    LoadWatch watch = new LoadWatch(clickHouse, queryId, heartbeat);
    Thread thread = new Thread(watch::run, "load-watch");
    thread.setDaemon(true);
    thread.start();
    return watch;
  }

  private void run() {
    try {
      while (!closed.await(MILLIS, TimeUnit.MILLISECONDS)) {
        if (heartbeat.isOver()) {
          LOG.info("query {} is ended, since its attempt is over", queryId);
          clickHouse.kill(queryId, KILL);
          return;
        }
      }
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
    } catch (MillraceException exception) {
      LOG.warn("query {} could not be ended: {}", queryId, exception.getMessage());
    }
  }

  /** Watches no longer. */
  void close() {
    closed.countDown();
  }
}
