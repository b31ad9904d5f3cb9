package dev.millrace.run;

import dev.millrace.control.WalRecord;
import io.temporal.activity.ActivityInterface;

/**
 * Records of a run in the write-ahead log of the worker's host. The same record may be written
 * twice, on two hosts, too: the projection keeps one. Errors: {@code ApplicationFailure} with a
 * code as type.
 */
@ActivityInterface(namePrefix = "Record")
public interface RecordActivities {

  /**
   * A run that begins.
   *
   * @param pipeline its pipeline
   * @param runId its id
   * @param mode {@code replicate}, {@code refresh} or {@code demo}
   * @param startedAt the run's instant, an ISO-8601 instant
   * @param temporal where its history is
   */
  record Opening(
      String pipeline, String runId, String mode, String startedAt, TemporalRun temporal) {}

  /** Records that a run begins. */
  void start(Opening opening);

  /** Records what became of a table. */
  void event(WalRecord.Event event);

  /** Records how much of a budget is used. */
  void budget(WalRecord.Budget budget);

  /** Records that a run ended. */
  void finish(WalRecord.RunFinish finish);
}
