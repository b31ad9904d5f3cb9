package dev.millrace.run;

import dev.millrace.postgres.Postgres;

/** Millrace's own memory; {@link Postgres#transact} is one, {@link PatientState} another. */
@FunctionalInterface
public interface State {
  /** Runs work in one transaction. */
  <T> T transact(Postgres.Work<T> work);
}
