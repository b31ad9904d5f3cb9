package dev.millrace.replication;

import dev.millrace.postgres.TableName;
import dev.millrace.run.Admission;
import io.temporal.activity.ActivityInterface;

/** What a run does beside its tables. Errors: {@code ApplicationFailure} with a code as type. */
@ActivityInterface(namePrefix = "Run")
public interface RunActivities {

  /**
   * What a run wants of the worker's configuration.
   *
   * @param demo whether it is a demo run
   * @param source the configured Postgres connection; null in demo mode
   * @param lake the configured lake; null in demo mode
   * @param notifySlack whether a webhook is needed
   */
  record Request(boolean demo, String source, String lake, boolean notifySlack) {}

  /**
   * What tells the run's end.
   *
   * @param pipeline its pipeline
   * @param runId its id
   * @param demo whether it is a demo run
   * @param tables tables that were asked for
   * @param timeIsUp whether the run's time was over before all tables were copied
   */
  record Closing(String pipeline, String runId, boolean demo, int tables, boolean timeIsUp) {}

  /** Checks the request against the configuration. */
  Admission admit(Request request);

  /** Records that a table failed. */
  void recordFailure(
      String pipeline, String runId, int position, TableName table, TableFailure failure);

  /** Releases the lease, or the place in the queue, and returns the run's result. */
  RunResult close(Closing closing);
}
