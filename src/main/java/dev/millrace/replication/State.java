package dev.millrace.replication;

import dev.millrace.postgres.Postgres;

/** Millrace's own memory; {@link Postgres#transact} is one, {@link PatientState} another. */
@FunctionalInterface
interface State {
  /** Runs work in one transaction. */
  <T> T transact(Postgres.Work<T> work);
}
