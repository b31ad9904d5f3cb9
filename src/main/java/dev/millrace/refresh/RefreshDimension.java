package dev.millrace.refresh;

import io.temporal.common.converter.RawValue;
import io.temporal.workflow.QueryMethod;
import io.temporal.workflow.SignalMethod;
import io.temporal.workflow.UpdateMethod;
import io.temporal.workflow.UpdateValidatorMethod;
import io.temporal.workflow.WorkflowInterface;
import io.temporal.workflow.WorkflowMethod;

/** Workflow {@code RefreshDimension}: one refresh of one ClickHouse table. */
@WorkflowInterface
public interface RefreshDimension {
  /**
   * Rebuilds the table from its source, proves it, and publishes it.
   *
   * <p>Inputs are read by {@link RefreshInputParser} and {@link DecisionParser}, not by the data
   * converter: what can't be converted would fail the workflow task for ever, or be dropped without
   * a word.
   *
   * @param input a JSON object; see {@code docs/refresh.md}
   * @param unexpected must not be given
   */
  @WorkflowMethod(name = "RefreshDimension")
  RefreshResult refresh(RawValue input, RawValue unexpected);

  /**
   * Answers the question that waits, if one does; what can't be used is visible in {@link #status}.
   *
   * @param decision {@code {"approved": …, "reason": …, "by": …, "digest": …}}
   */
  @SignalMethod(name = "approve")
  void approve(RawValue decision);

  /**
   * Answers the question that waits, or is refused with the reason.
   *
   * @param decision as {@link #approve}, with the digest of the question
   * @return what was decided, for people
   */
  @UpdateMethod(name = "decide")
  String decide(RawValue decision);

  /** Refuses a decision that can't be used; changes nothing. */
  @UpdateValidatorMethod(updateName = "decide")
  void checkDecision(RawValue decision);

  /** Returns what the refresh is at. */
  @QueryMethod(name = "status")
  RefreshStatus status();
}
