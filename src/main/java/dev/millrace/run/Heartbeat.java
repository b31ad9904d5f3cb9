package dev.millrace.run;

import io.temporal.activity.ActivityExecutionContext;
import io.temporal.client.ActivityCompletionException;
import io.temporal.client.ActivityCompletionFailureException;
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
public final class Heartbeat implements AutoCloseable {
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
   * Starts to beat. The first beat is answered before this returns: a task that was handed to a
   * worker which froze is long another attempt's when the worker wakes up, and must touch nothing.
   *
   * @param details of each beat
   * @throws ActivityCompletionException when the attempt is not the current one
   */
  public static Heartbeat start(ActivityExecutionContext context, Supplier<?> details) {
    Heartbeat heartbeat = new Heartbeat(context, details);
    heartbeat.beat();
    heartbeat.check();
    Thread thread = new Thread(heartbeat::run, "heartbeat");
    thread.setDaemon(true);
    thread.start();
    return heartbeat;
  }

  private void run() {
    try {
      while (ended == null && !closed.await(SECONDS, TimeUnit.SECONDS)) {
        beat();
      }
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

  /** Returns whether the attempt was cancelled, or is no longer the current one. */
  public boolean isOver() {
    return ended != null;
  }

  /**
   * Looks whether the attempt may go on.
   *
   * @throws ActivityCompletionException when it was cancelled, or is no longer the current one
   */
  public void check() {
    RuntimeException reason = ended;
    if (reason != null) {
      throw reason;
    }
  }

  /**
   * Asks the server whether the attempt may go on, for what a late attempt must not do. {@link
   * #check} knows it only some seconds after a frozen process woke up.
   *
   * @throws ActivityCompletionException when it was cancelled, or is no longer the current one
   */
  public void confirm() {
    check();
    try {
      context
          .getWorkflowClient()
          .newActivityCompletionClient()
          .heartbeat(context.getTaskToken(), details.get());
    } catch (ActivityCompletionFailureException exception) {
      LOG.debug("the server did not say whether the attempt is the current one", exception);
    }
  }

  @Override
  public void close() {
    closed.countDown();
  }
}
