package dev.millrace.run;

import dev.millrace.control.RunQueue;
import dev.millrace.failure.MillraceException;

/**
 * A lease in the hands of one attempt at {@code holdLease}. Two attempts are never equal: the next
 * one may come to the same worker. Thread-safe.
 */
final class HeldLease {
  private final byte[] taskToken;
  private final String pipeline;
  private final String runId;
  private final String workflowId;
  private volatile MillraceException loss;

  /**
   * Begins to be held.
   *
   * @param taskToken of the attempt
   * @param pipeline whose lease it is
   * @param runId which run holds it
   * @param workflowId the run's workflow
   */
  HeldLease(byte[] taskToken, String pipeline, String runId, String workflowId) {
    this.taskToken = taskToken.clone();
    this.pipeline = pipeline;
    this.runId = runId;
    this.workflowId = workflowId;
  }

  byte[] taskToken() {
    return taskToken.clone();
  }

  RunQueue.Held held() {
    return new RunQueue.Held(pipeline, runId);
  }

  String pipeline() {
    return pipeline;
  }

  String runId() {
    return runId;
  }

  String workflowId() {
    return workflowId;
  }

  /** Notes that another run has it, or that its own run has ended. */
  void lose(MillraceException why) {
    loss = why;
  }

  /** Returns why it is lost; null while it is not. */
  MillraceException loss() {
    return loss;
  }
}
