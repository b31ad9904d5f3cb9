package dev.millrace.replication;

import io.temporal.workflow.SignalMethod;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;

/** A workflow of tests: a run that does nothing but take its turn and hold its lease. */
@WorkflowInterface
public interface Holding {

  /**
   * What it does.
   *
   * @param pipeline whose lease it takes
   * @param runId its run
   * @param activityQueue whose workers hold the lease; null for those that run the workflow
   * @param heartbeatSeconds the heartbeat timeout of the lease
   * @param hold whether it holds the lease once it has its turn
   */
  record Order(
      String pipeline, String runId, String activityQueue, int heartbeatSeconds, boolean hold) {}

  /** Returns {@code ended}, or the code and message with which the lease ended before that. */
  @WorkflowMethod(name = "Holding")
  String hold(Order order);

  /** Lets it close its run. */
  @SignalMethod
  void end();

  /** Cancels the holding alone. */
  @SignalMethod
  void cancelLease();

  /** Continues as new on another task queue. */
  @SignalMethod
  void move(String taskQueue);
}
