package dev.millrace.run;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Postgres;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state for a step whose attempts are counted: while it is away the step waits, instead of
 * throwing away what it has read. Not thread-safe.
 *
 * <p>Work may run twice when the answer to a commit got lost, so it has to be idempotent.
 */
public final class PatientState implements State {
  private static final Logger LOG = LoggerFactory.getLogger(PatientState.class);
  private static final Duration WAIT = Duration.ofSeconds(1);

  private final Postgres state;
  private final Heartbeat heartbeat;

  /**
   * Makes the state of one attempt.
   *
   * @param heartbeat ends the wait with the attempt
   */
  public PatientState(Postgres state, Heartbeat heartbeat) {
    this.state = state;
    this.heartbeat = heartbeat;
  }

  @Override
  public <T> T transact(Postgres.Work<T> work) {
    boolean told = false;
    while (true) {
      try {
        return state.transact(work);
      } catch (MillraceException exception) {
        if (exception.code() != ErrorCode.POSTGRES_UNAVAILABLE || heartbeat.isOver()) {
          throw exception;
        }
        if (!told) {
          LOG.warn("waiting for the state: {}", exception.getMessage());
        }
        told = true;
      }
      pause();
    }
  }

  private static void pause() {
    try {
      Thread.sleep(WAIT.toMillis());
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
      throw new MillraceException(
          ErrorCode.WORKER_STOPPED, "the worker was stopped; another one goes on", exception);
    }
  }
}
