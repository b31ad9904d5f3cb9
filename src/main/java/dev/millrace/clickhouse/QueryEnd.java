package dev.millrace.clickhouse;

/**
 * What became of a statement, as the server tells it.
 *
 * @param state how it stands
 * @param code the server's error number; 0 unless it failed
 * @param message the server's text when it failed, else why its end is not known, or empty
 */
public record QueryEnd(State state, int code, String message) {

  /** How a statement stands. */
  public enum State {
    /** It is still at work at the end of the wait. */
    RUNNING,
    /** It has done all that it was asked. */
    FINISHED,
    /** It ended with an error; an INSERT may have written some of its blocks. */
    FAILED,
    /**
     * It is not at work, and no log tells of its end: it never arrived, the server died in the
     * middle of it, or the log can't be read.
     */
    UNKNOWN
  }

  static QueryEnd running() {
    return new QueryEnd(State.RUNNING, 0, "");
  }

  static QueryEnd finished() {
    return new QueryEnd(State.FINISHED, 0, "");
  }

  static QueryEnd failed(int code, String message) {
    return new QueryEnd(State.FAILED, code, message);
  }

  static QueryEnd unknown(String reason) {
    return new QueryEnd(State.UNKNOWN, 0, reason);
  }
}
