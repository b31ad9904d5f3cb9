package dev.millrace.failure;

/**
 * What a server said when it refused: its own code, for who looks it up in that server's manual.
 *
 * @param kind which manual
 * @param code the code, such as {@code 40001} or {@code SlowDown}; empty where it gave none
 * @param httpStatus the status of the answer; null where the protocol is not HTTP
 */
public record ServerAnswer(Kind kind, String code, Integer httpStatus) {

  /** Whose codes these are. */
  public enum Kind {
    /** A SQLSTATE of Postgres. */
    SQLSTATE("sqlstate"),
    /** A number of ClickHouse's {@code system.errors}. */
    CLICKHOUSE("clickhouse_code"),
    /** An error code of the S3 API. */
    S3("s3_code");

    private final String field;

    Kind(String field) {
      this.field = field;
    }

    /** Returns the name of the field that holds such a code in records of the control plane. */
    public String field() {
      return field;
    }
  }
}
