package dev.millrace.replication;

import io.temporal.activity.ActivityExecutionContext;
import io.temporal.client.ActivityCompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Beats for an activity from a thread of its own: a scan may find its first row after minutes, and
 * the server must not take that for a death.
 *
 * <p>Thread-safe.
 */
final class Heartbeat implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Heartbeat.class);
  private static final long SECONDS = 2;

  private final ActivityExecutionContext context;
  private final Supplier<?> details;
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile RuntimeException ended;

  private Heartbeat(ActivityExecutionContext context, Supplier<?> details) {
    this.context = context;
    this.details = details;
  }

  /**
   * Starts to beat.
   *
   * @param details of each beat
   */
  static Heartbeat start(ActivityExecutionContext context, Supplier<?> details) {
    Heartbeat heartbeat = new Heartbeat(context, details);
    Thread thread = new Thread(heartbeat::run, "heartbeat");
    thread.setDaemon(true);
    thread.start();
    return heartbeat;
  }

  private void run() {
    try {
      do {
        beat();
      } while (ended == null && !closed.await(SECONDS, TimeUnit.SECONDS));
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
    }
  }

  private void beat() {
    try {
      context.heartbeat(details.get());
    } catch (ActivityCompletionException exception) {
      // Cancelled, timed out, or the workflow is gone: the work stops where it looks next.
      ended = exception;
    } catch (RuntimeException exception) {
      // The server may be away for a moment; it decides by its own clock whether that was too long.
      LOG.debug("a heartbeat was not delivered", exception);
    }
  }

  /**
   * Looks whether the attempt may go on.
   *
   * @throws ActivityCompletionException when it was cancelled, or is no longer the current one
   */
  void check() {
    RuntimeException reason = ended;
    if (reason != null) {
      throw reason;
    }
  }

  @Override
  public void close() {
    closed.countDown();
  }
}
