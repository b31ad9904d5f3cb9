package dev.millrace.replication;

import dev.millrace.parquet.ParquetTable;
import io.temporal.activity.ActivityExecutionContext;
import io.temporal.client.WorkflowException;
import io.temporal.client.WorkflowTargetOptions;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far an extract is: told with each heartbeat, and to the workflow's current details less and
 * less often, since each telling is an event of its history.
 *
 * <p>Thread-safe: the extract sets the file, the heartbeat looks.
 */
final class Progress {
  private static final Logger LOG = LoggerFactory.getLogger(Progress.class);
  private static final Duration FIRST_TELLING = Duration.ofSeconds(4);
  private static final Duration LONGEST_WAIT = Duration.ofMinutes(5);

  private final ActivityExecutionContext context;
  private final long started = System.nanoTime();
  private volatile ParquetTable file;
  private volatile Staging staging;

  private Duration wait = FIRST_TELLING;
  private long nextTelling = started + FIRST_TELLING.toNanos();

  Progress(ActivityExecutionContext context) {
    this.context = context;
  }

  /** Says which file is being made, and where it is staged. */
  void of(ParquetTable made, Staging staged) {
    staging = staged;
    file = made;
  }

  /** Returns the details of a heartbeat. */
  synchronized ExtractProgress look() {
    ParquetTable current = file;
    if (current == null) {
      return new ExtractProgress(0, 0, 0);
    }
    long now = System.nanoTime();
    long rows = current.rows();
    ExtractProgress progress =
        new ExtractProgress(rows, staging.bytes(), Math.round(rows / ((now - started) / 1e9)));
    if (now - nextTelling >= 0) {
      tell(progress);
      wait = wait.multipliedBy(2).compareTo(LONGEST_WAIT) < 0 ? wait.multipliedBy(2) : LONGEST_WAIT;
      nextTelling = now + wait.toNanos();
    }
    return progress;
  }

  private void tell(ExtractProgress progress) {
    try {
      context
          .getWorkflowClient()
          .newUntypedWorkflowStub(
              WorkflowTargetOptions.newBuilder()
                  .setWorkflowId(context.getInfo().getWorkflowId())
                  .setRunId(context.getInfo().getWorkflowRunId())
                  .build())
          .signal("progress", progress);
    } catch (WorkflowException exception) {
      LOG.debug("progress was not told", exception);
    }
  }
}
