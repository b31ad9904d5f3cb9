package dev.millrace.replication;

import dev.millrace.control.EventStatus;
import dev.millrace.control.WalRecord;
import dev.millrace.failure.ServerAnswer;
import dev.millrace.run.FailedStep;
import dev.millrace.run.FailureWords;
import java.time.Instant;
import java.time.LocalDate;

/**
 * The rules by which a table's end becomes an event of the control plane.
 *
 * @param pipeline the control plane's extractor
 * @param runId the run
 * @param businessDate the business's date of the run; null where no zone is configured
 */
record TableEvent(String pipeline, String runId, LocalDate businessDate) {

  /** Returns the event of a table that was copied. */
  WalRecord.Event copied(long sequence, Instant at, CopiedTable table) {
    TableResult result = table.result();
    return new WalRecord.Event(
        pipeline,
        runId,
        sequence,
        at,
        result.table(),
        "(%s, %s]".formatted(shown(result.low()), shown(result.high())),
        businessDate,
        result.rows() > 0 ? EventStatus.OK : EventStatus.ZERO_ROWS,
        null,
        result.rows(),
        table.extractAttempts(),
        table.writeAttempts(),
        table.extractMillis() == null ? null : milliseconds(table.extractMillis()),
        milliseconds(table.writeMillis()),
        null,
        null);
  }

  /**
   * Returns the event of a table, or of the run, that failed.
   *
   * @param table the table; null for the run itself
   * @param step the step that failed; null where it is not known
   */
  WalRecord.Event failed(
      long sequence, Instant at, String table, TableFailure failure, FailedStep step) {
    boolean writing = step != null && step.step().equals("TableWrite");
    Integer attempts = step == null ? null : step.attempt();
    ServerAnswer answer = step == null ? null : step.answer();
    return new WalRecord.Event(
        pipeline,
        runId,
        sequence,
        at,
        table,
        null,
        businessDate,
        FailureWords.status(failure.code()),
        answer == null ? null : answer.httpStatus(),
        null,
        writing ? null : attempts,
        writing ? attempts : null,
        null,
        null,
        FailureWords.detail(failure.code(), failure.message()),
        FailureWords.extra(answer));
  }

  private static int milliseconds(long value) {
    return (int) Math.min(value, Integer.MAX_VALUE);
  }

  private static String shown(String watermark) {
    return watermark == null ? "" : watermark;
  }
}
