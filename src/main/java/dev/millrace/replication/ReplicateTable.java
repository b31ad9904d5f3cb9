package dev.millrace.replication;

import io.temporal.common.converter.RawValue;
import io.temporal.workflow.SignalMethod;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;

/** Workflow {@code ReplicateTable}: one table of a run; {@link Replicate} starts it. */
@WorkflowInterface
public interface ReplicateTable {
  /** The workflow's type. */
  String TYPE = "ReplicateTable";

  /**
   * Copies what has changed in the table.
   *
   * @param task a {@link TableTask}
   * @param unexpected must not be given
   */
  @WorkflowMethod(name = TYPE)
  CopiedTable replicate(RawValue task, RawValue unexpected);

  /** Tells how far {@code extract} is, for the current details in the UI. */
  @SignalMethod(name = "progress")
  void progress(ExtractProgress progress);
}
