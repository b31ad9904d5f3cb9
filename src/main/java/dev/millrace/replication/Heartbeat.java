package dev.millrace.replication;

import io.temporal.activity.ActivityExecutionContext;
import io.temporal.client.ActivityCompletionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Beats for an activity from a thread of its own: a scan may find its first row after minutes, and
 * the server must not take that for a death.
 *
 * <p>Thread-safe.
 */
final class Heartbeat implements AutoCloseable {
  private static final long SECONDS = 2;

  private final ActivityExecutionContext context;
  private final Supplier<?> details;
  private final ScheduledExecutorService thread;
  private volatile RuntimeException ended;

  private Heartbeat(ActivityExecutionContext context, Supplier<?> details) {
    this.context = context;
    this.details = details;
    this.thread =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread beating = new Thread(task, "heartbeat");
              beating.setDaemon(true);
              return beating;
            });
  }

  /**
   * Starts to beat.
   *
   * @param details of each beat
   */
  static Heartbeat start(ActivityExecutionContext context, Supplier<?> details) {
    Heartbeat heartbeat = new Heartbeat(context, details);
    heartbeat.thread.scheduleWithFixedDelay(heartbeat::beat, 0, SECONDS, TimeUnit.SECONDS);
    return heartbeat;
  }

  private void beat() {
    try {
      context.heartbeat(details.get());
    } catch (ActivityCompletionException exception) {
      // Cancelled, timed out, or the workflow is gone: the work stops where it looks next.
      ended = exception;
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
    thread.shutdownNow();
  }
}
