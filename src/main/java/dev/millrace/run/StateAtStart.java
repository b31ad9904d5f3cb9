package dev.millrace.run;

import dev.millrace.failure.MillraceException;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityInfo;
import java.time.Duration;

/** The state at the start of a run. Stateless. */
public final class StateAtStart {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private StateAtStart() {}

  /**
   * Prepares the state. A run without it would wait without a word; somebody has to be told soon,
   * so the activity that calls this fails for good when the state was away for 30 seconds.
   *
   * @param prepare makes what is missing in it
   */
  public static void reach(Runnable prepare) {
    try {
      prepare.run();
    } catch (MillraceException exception) {
      ActivityInfo step = Activity.getExecutionContext().getInfo();
      long waited = System.currentTimeMillis() - step.getScheduledTimestamp();
      if (exception.code().retryable() && waited < PATIENCE.toMillis()) {
        throw exception;
      }
      throw Failures.last(exception, step);
    }
  }
}
