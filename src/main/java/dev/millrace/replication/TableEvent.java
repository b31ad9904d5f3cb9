package dev.millrace.replication;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.control.EventStatus;
import dev.millrace.control.WalFormat;
import dev.millrace.control.WalRecord;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.ServerAnswer;
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
        status(failure.code()),
        answer == null ? null : answer.httpStatus(),
        null,
        writing ? null : attempts,
        writing ? attempts : null,
        null,
        null,
        WalFormat.cut(WalFormat.printable(failure.code() + ": " + failure.message())),
        extra(answer));
  }

  private static ObjectNode extra(ServerAnswer answer) {
    if (answer == null || answer.code().isEmpty()) {
      return null;
    }
    return JsonNodeFactory.instance.objectNode().put(answer.kind().field(), answer.code());
  }

  /** Returns the control plane's word for a failure of Millrace. */
  static EventStatus status(String code) {
    for (ErrorCode known : ErrorCode.values()) {
      if (known.name().equals(code)) {
        return status(known);
      }
    }
    return EventStatus.ERROR;
  }

  private static EventStatus status(ErrorCode code) {
    return switch (code) {
      case TABLE_MISSING,
          COLUMN_MISSING,
          KEY_MISSING,
          KEY_TYPE_UNSUPPORTED,
          NULL_KEYS,
          NO_PRIVILEGE,
          ROWS_HIDDEN,
          VALUE_OUT_OF_RANGE,
          SOURCE_CHANGED,
          EMPTY_SOURCE,
          POSTGRES_UNAVAILABLE,
          POSTGRES_REFUSED,
          POSTGRES_ERROR ->
          EventStatus.SOURCE_ERROR;
      case LAKE_CHANGED,
          FOLDER_TAKEN,
          STAGED_OBJECT_LOST,
          CLICKHOUSE_UNAVAILABLE,
          CLICKHOUSE_REFUSED,
          CLICKHOUSE_ERROR,
          TARGET_MISSING,
          TARGET_UNSUPPORTED,
          ENGINE_UNSUPPORTED,
          COLUMN_MISMATCH,
          TYPE_UNSUPPORTED,
          LAKE_UNAVAILABLE,
          LAKE_REFUSED,
          CREDENTIALS_EXPIRED ->
          EventStatus.SINK_ERROR;
      case TIMEOUT -> EventStatus.TIMEOUT;
      case BAD_INPUT,
          BAD_CONFIGURATION,
          UNKNOWN_CONNECTION,
          DEMO_REFUSED,
          SLACK_NOT_CONFIGURED,
          QUEUED,
          LEASE_HELD,
          LEASE_LOST,
          RUN_ID_TAKEN,
          AUDIT_FAILED,
          PARITY_MISMATCH,
          ATTEMPT_OVERTAKEN,
          INTENT_CONFLICT,
          WATERMARK_CONFLICT,
          TEMPORAL_UNAVAILABLE,
          NOTIFICATION_FAILED,
          NOTIFICATION_REFUSED,
          BAD_RECORD,
          WAL_UNWRITABLE,
          RUN_OPEN,
          TABLES_FAILED,
          WORKER_STOPPED,
          CANCELLED,
          STACK_FAILED,
          INTERNAL ->
          EventStatus.ERROR;
    };
  }

  private static int milliseconds(long value) {
    return (int) Math.min(value, Integer.MAX_VALUE);
  }

  private static String shown(String watermark) {
    return watermark == null ? "" : watermark;
  }
}
