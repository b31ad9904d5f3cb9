package dev.millrace.control;

/** The words of {@code control.run.stop_reason}: why a run ended. */
public enum StopReason {
  /** All its work was done. */
  CLEAN("clean"),
  /** A quota of calls per day was used up. */
  BUDGET_API("budget_api"),
  /** A quota of exports per hour was used up. */
  BUDGET_EXPORT("budget_export"),
  /** Its time was over; it is healthy. */
  BUDGET_TIME("budget_time"),
  /** There was no usable token: its endpoint refused, or a refresh was withheld. */
  TOKEN_REFRESH_FAILED("token_refresh_failed"),
  /** Fresh tokens were refused, too. */
  TOKEN_REJECTED("token_rejected"),
  /** A failure. */
  ERROR("error"),
  /** Set for a run that a later one found dead. */
  DIED("died");

  private final String word;

  StopReason(String word) {
    this.word = word;
  }

  /** Returns the word as it is stored. */
  public String word() {
    return word;
  }
}
