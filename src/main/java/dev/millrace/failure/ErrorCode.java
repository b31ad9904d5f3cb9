package dev.millrace.failure;

/**
 * The stable code of each failure; {@code docs/errors.md} says what each means and what to do.
 *
 * <p>A code becomes the type of the {@code ApplicationFailure} in a workflow's history.
 */
public enum ErrorCode {
  /** A workflow's input or an argument of a command is not what it has to be. */
  BAD_INPUT(false),
  /** The configuration file is missing, unreadable, or holds a setting that can't be used. */
  BAD_CONFIGURATION(false),
  /** The input names a connection or a lake that the worker's configuration does not have. */
  UNKNOWN_CONNECTION(false),
  /** {@code demo_mode} where the configuration has {@code allow_demo: false}. */
  DEMO_REFUSED(false),
  /** {@code notify_slack} without a webhook in the configuration. */
  SLACK_NOT_CONFIGURED(false),
  /** Another run of the pipeline holds the lease; the server asks again. */
  QUEUED(true),
  /** Another run holds the lease, and this one may not wait for it. */
  LEASE_HELD(false),
  /** This run no longer holds the lease of its pipeline, so it may not publish. */
  LEASE_LOST(false),
  /** Another extractor has a run of the same id in the control plane. */
  RUN_ID_TAKEN(false),
  /** The table does not exist, or its kind can't be read. */
  TABLE_MISSING(false),
  /** A column that the input or a row filter names does not exist. */
  COLUMN_MISSING(false),
  /** The update key does not exist in the table. */
  KEY_MISSING(false),
  /** The update key has a type that has no window. */
  KEY_TYPE_UNSUPPORTED(false),
  /** Rows without an update key, and {@code null_keys} is {@code refuse}. */
  NULL_KEYS(false),
  /** The user may not read the table or a column of it, or may not use the state. */
  NO_PRIVILEGE(false),
  /** Row-level security hides rows from the user. */
  ROWS_HIDDEN(false),
  /** A value that its type in Parquet or ClickHouse can't hold. */
  VALUE_OUT_OF_RANGE(false),
  /** A table was rewritten, or its partitions changed, while it was read. */
  TABLE_REWRITTEN(true),
  /** The table is not the one whose watermark is kept. */
  SOURCE_CHANGED(false),
  /** The lake or its prefix is not the one that the watermark belongs to. */
  LAKE_CHANGED(false),
  /** Another pipeline publishes into the same folder of the same lake. */
  FOLDER_TAKEN(false),
  /** Rows read, rows encoded and rows in the footer are not the same number. */
  AUDIT_FAILED(false),
  /** Another attempt at the same step took over; what this one staged is thrown away. */
  ATTEMPT_OVERTAKEN(true),
  /** An intent changed hands; another attempt or run decides it. */
  INTENT_CONFLICT(false),
  /** The staged object is gone, or another object has its name: the table is extracted again. */
  STAGED_OBJECT_LOST(false),
  /** The watermark was moved by somebody else in the meantime. */
  WATERMARK_CONFLICT(false),
  /** Postgres can't be reached, or it ended the connection. */
  POSTGRES_UNAVAILABLE(true),
  /** Postgres refused the user, the password or the database. */
  POSTGRES_REFUSED(false),
  /** Postgres answered with an error that no other code names. */
  POSTGRES_ERROR(true),
  /** ClickHouse can't be reached, or it answered with an error that may pass. */
  CLICKHOUSE_UNAVAILABLE(true),
  /** ClickHouse refused the user, the password or a right. */
  CLICKHOUSE_REFUSED(false),
  /** ClickHouse answered with an error that no other code names. */
  CLICKHOUSE_ERROR(false),
  /** The target table or its database does not exist, or is hidden from the user. */
  TARGET_MISSING(false),
  /** The target is of a kind, or has a property, with which it can't be rebuilt and swapped. */
  TARGET_UNSUPPORTED(false),
  /** The target's database engine, or its file system, can't exchange two tables. */
  ENGINE_UNSUPPORTED(false),
  /** The columns of source and target don't fit together. */
  COLUMN_MISMATCH(false),
  /**
   * A column's type has no way into the target without a change of values, or a rule refuses it.
   */
  TYPE_UNSUPPORTED(false),
  /** The copy in ClickHouse is not what the source is. */
  PARITY_MISMATCH(false),
  /** The source has no rows, and an empty table may not be published. */
  EMPTY_SOURCE(false),
  /** The lake can't be reached, or it answered with an error that may pass. */
  LAKE_UNAVAILABLE(true),
  /** The lake refused the credentials or a right. */
  LAKE_REFUSED(false),
  /** The lake's credentials have expired and can't be renewed. */
  CREDENTIALS_EXPIRED(false),
  /** Temporal can't be reached, or refused the namespace or the credentials. */
  TEMPORAL_UNAVAILABLE(true),
  /** Slack can't be reached, or it answered with an error that may pass. */
  NOTIFICATION_FAILED(true),
  /** Slack refused the webhook or the message. */
  NOTIFICATION_REFUSED(false),
  /** A record of the control plane holds something that can't be stored. */
  BAD_RECORD(false),
  /** The write-ahead log, or a file beside it, can't be written or read. */
  WAL_UNWRITABLE(true),
  /** A run is open, so the state may not be changed by hand. */
  RUN_OPEN(false),
  /** The live table was written by others between the audit and the swap, again and again. */
  LIVE_CHANGING(false),
  /** The shadow table is no longer what was audited. */
  SHADOW_CHANGED(false),
  /** Nobody decided in time. */
  APPROVAL_TIMEOUT(false),
  /** A decision that does not fit the question, or nothing waits for one. */
  DECISION_REFUSED(false),
  /** What was published was not what was audited; the old table was swapped back. */
  ROLLED_BACK(false),
  /** One or more tables of a run failed. */
  TABLES_FAILED(false),
  /** A step took longer than its time limit, or its worker went away for too long. */
  TIMEOUT(true),
  /** The worker was stopped; another one goes on. */
  WORKER_STOPPED(true),
  /** Somebody cancelled or terminated it. */
  CANCELLED(false),
  /** A part of the embedded stack could not be started. */
  STACK_FAILED(false),
  /** A fault in Millrace itself. */
  INTERNAL(true);

  private final boolean retryable;

  ErrorCode(boolean retryable) {
    this.retryable = retryable;
  }

  /** Returns whether the same call may succeed later without anybody's help. */
  public boolean retryable() {
    return retryable;
  }
}
