package dev.millrace.run;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.control.EventStatus;
import dev.millrace.control.WalFormat;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.ServerAnswer;

/** The control plane's words for failures of Millrace. Pure. */
public final class FailureWords {
  private FailureWords() {}

  /** Returns the text of a failure as a record may hold it. */
  public static String detail(String code, String message) {
    return WalFormat.cut(WalFormat.printable(code + ": " + message));
  }

  /** Returns the server's own code, for {@code extra}; null where it gave none. */
  public static ObjectNode extra(ServerAnswer answer) {
    if (answer == null || answer.code().isEmpty()) {
      return null;
    }
    return JsonNodeFactory.instance.objectNode().put(answer.kind().field(), answer.code());
  }

  /** Returns the control plane's word for a failure of Millrace. */
  public static EventStatus status(String code) {
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
          TABLE_REWRITTEN,
          SOURCE_CHANGED,
          POSTGRES_UNAVAILABLE,
          POSTGRES_REFUSED,
          POSTGRES_ERROR,
          EMPTY_SOURCE ->
          EventStatus.SOURCE_ERROR;
      case LAKE_CHANGED,
          FOLDER_TAKEN,
          STAGED_OBJECT_LOST,
          LAKE_UNAVAILABLE,
          LAKE_REFUSED,
          CREDENTIALS_EXPIRED,
          CLICKHOUSE_UNAVAILABLE,
          CLICKHOUSE_REFUSED,
          CLICKHOUSE_ERROR,
          TARGET_MISSING,
          TARGET_UNSUPPORTED,
          ENGINE_UNSUPPORTED,
          COLUMN_MISMATCH,
          TYPE_UNSUPPORTED ->
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
          ATTEMPT_OVERTAKEN,
          INTENT_CONFLICT,
          WATERMARK_CONFLICT,
          TEMPORAL_UNAVAILABLE,
          NOTIFICATION_FAILED,
          NOTIFICATION_REFUSED,
          BAD_RECORD,
          WAL_UNWRITABLE,
          RUN_OPEN,
          LIVE_CHANGING,
          SHADOW_CHANGED,
          APPROVAL_TIMEOUT,
          DECISION_REFUSED,
          ROLLED_BACK,
          PARITY_MISMATCH,
          TABLES_FAILED,
          WORKER_STOPPED,
          CANCELLED,
          STACK_FAILED,
          INTERNAL ->
          EventStatus.ERROR;
    };
  }
}
