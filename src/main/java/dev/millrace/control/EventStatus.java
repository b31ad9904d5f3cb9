package dev.millrace.control;

/** The words of {@code control.event.status}: what became of one unit of work. */
public enum EventStatus {
  /** Rows landed. */
  OK("ok"),
  /** The source was there and had nothing. */
  ZERO_ROWS("zero_rows"),
  /** The source answered with an error. */
  SOURCE_ERROR("source_error"),
  /** No answer in time. */
  TIMEOUT("timeout"),
  /** Loading failed after its retries. */
  SINK_ERROR("sink_error"),
  /** The source asked to slow down. */
  RATE_LIMITED("rate_limited"),
  /** Rows landed, some records were set aside. */
  OK_PARTIAL("ok_partial"),
  /** The source answered as of a moment before the business date was over; to be asked again. */
  SOURCE_NOT_SETTLED("source_not_settled"),
  /** A failure that is neither the source's nor the sink's alone. */
  ERROR("error");

  private final String word;

  EventStatus(String word) {
    this.word = word;
  }

  /** Returns the word as it is stored. */
  public String word() {
    return word;
  }
}
