package dev.millrace.run;

import dev.millrace.control.ControlDatabase;
import dev.millrace.postgres.Postgres;

/**
 * The control database of a worker: the one that its configuration names as {@code state}.
 * Thread-safe.
 *
 * @param state its pool
 */
public record StateDatabase(Postgres state) implements ControlDatabase {
  /**
   * {@inheritDoc}
   *
   * @throws dev.millrace.failure.MillraceException as {@link Postgres#transact}
   */
  @Override
  public <T> T transact(Work<T> work) {
    return state.transact(work::run);
  }
}
