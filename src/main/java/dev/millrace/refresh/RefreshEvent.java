package dev.millrace.refresh;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.control.EventStatus;
import dev.millrace.control.WalRecord;
import dev.millrace.failure.ServerAnswer;
import dev.millrace.run.FailedStep;
import dev.millrace.run.FailureWords;
import dev.millrace.run.StepFailure;
import java.time.Instant;
import java.time.LocalDate;

/**
 * The rules by which a step of a refresh becomes an event of the control plane.
 *
 * @param pipeline the control plane's extractor
 * @param runId the run
 * @param target {@code database.table}
 * @param businessDate the business's date of the run; null where no zone is configured
 */
record RefreshEvent(String pipeline, String runId, String target, LocalDate businessDate) {

  /**
   * Returns the event of a step that went well.
   *
   * @param rows rows that it saw or moved; null where it has none
   * @param pullMillis what reading took; null where nothing was read
   * @param loadMillis what writing took; null where nothing was written
   * @param extra more of it; null for nothing
   */
  WalRecord.Event done(
      long sequence,
      Instant at,
      RefreshStep step,
      Long rows,
      Long pullMillis,
      Long loadMillis,
      ObjectNode extra) {
    return new WalRecord.Event(
        pipeline,
        runId,
        sequence,
        at,
        target,
        step.word(),
        businessDate,
        rows != null && rows == 0 ? EventStatus.ZERO_ROWS : EventStatus.OK,
        null,
        rows,
        null,
        null,
        milliseconds(pullMillis),
        milliseconds(loadMillis),
        null,
        extra);
  }

  /**
   * Returns the event of a step that failed, or of the run itself.
   *
   * @param step the step; null for none
   * @param known what is known of the failed activity; null for nothing
   */
  WalRecord.Event failed(
      long sequence, Instant at, RefreshStep step, StepFailure failure, FailedStep known) {
    ServerAnswer answer = known == null ? null : known.answer();
    Integer attempts = known == null ? null : known.attempt();
    boolean reading = step == RefreshStep.AUDIT_SOURCE;
    return new WalRecord.Event(
        pipeline,
        runId,
        sequence,
        at,
        target,
        step == null ? null : step.word(),
        businessDate,
        FailureWords.status(failure.code()),
        answer == null ? null : answer.httpStatus(),
        null,
        reading ? attempts : null,
        reading ? null : attempts,
        null,
        null,
        FailureWords.detail(failure.code(), failure.message()),
        FailureWords.extra(answer));
  }

  private static Integer milliseconds(Long value) {
    return value == null ? null : (int) Math.min(value, Integer.MAX_VALUE);
  }
}
