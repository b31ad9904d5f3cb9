package dev.millrace.replication;

import io.temporal.common.converter.RawValue;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;

/** Workflow {@code Replicate}: one run of a pipeline over all its tables. */
@WorkflowInterface
public interface Replicate {
  /** The task queue that workers listen to unless the configuration names another. */
  String TASK_QUEUE = "millrace";

  /**
   * Copies what has changed in each table.
   *
   * <p>The input is read by {@link ReplicateInputParser}, not by the data converter: a typed
   * argument that can't be converted would fail the workflow task again and again, for ever.
   *
   * @param input a JSON object; see {@code docs/replication.md}
   * @param unexpected must not be given
   */
  @WorkflowMethod(name = "Replicate")
  RunResult replicate(RawValue input, RawValue unexpected);
}
