package dev.millrace.run;

import io.temporal.activity.ActivityInterface;

/** The turn and the lease of a run. Errors: {@code ApplicationFailure} with a code as type. */
@ActivityInterface(namePrefix = "Run")
public interface TurnActivities {

  /** What a run does that finds its pipeline at work. */
  enum Policy {
    /** It waits; the oldest workflow goes first. */
    QUEUE,
    /** It fails with {@code LEASE_HELD}. */
    FAIL
  }

  /**
   * A run that wants its turn.
   *
   * @param pipeline its pipeline
   * @param runId its id
   * @param workflowId its workflow
   * @param startedAt when the workflow started, an ISO-8601 instant
   * @param policy what it does when it is not its turn
   */
  record Turn(String pipeline, String runId, String workflowId, String startedAt, Policy policy) {}

  /**
   * Takes the lease. While it is not our turn it fails: with {@code QUEUED}, to be asked again, or
   * with {@code LEASE_HELD}.
   */
  void takeTurn(Turn turn);

  /**
   * Renews the lease until it is cancelled, beside the worker's activities and without a slot of
   * theirs; fails with {@code LEASE_LOST}.
   */
  void holdLease(String pipeline, String runId);
}
