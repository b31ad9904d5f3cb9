package dev.millrace.run;

import dev.millrace.control.ControlDatabase;
import dev.millrace.control.ControlSchema;
import dev.millrace.control.RunQueue;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Postgres;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityInfo;
import java.time.Duration;
import java.util.function.Consumer;

/** The state at the start of a run. Stateless. */
public final class StateAtStart {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private StateAtStart() {}

  /**
   * Makes the schemas of the state where they are missing: those that all runs need, then more.
   *
   * @param own makes those of a kind of run
   */
  public static void ensure(Postgres state, Consumer<ControlDatabase> own) {
    ControlDatabase database = new StateDatabase(state);
    ControlSchema.ensure(database);
    ControlSchema.ensure(database, RunQueue.class, "queue.sql", "millrace.queue");
    own.accept(database);
  }

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
