package dev.millrace.control;

/** The words of {@code control.run.status}. */
public enum RunStatus {
  /** Recorded at the start; the run is at work. */
  RUNNING("running"),
  /** It ended, and every unit went well. */
  OK("ok"),
  /** It ended, but some units failed or a budget cut it short. */
  PARTIAL("partial"),
  /** It was ended by a failure. */
  FAILED("failed"),
  /** It never ended by itself; a later run found its lease lapsed. */
  DIED("died");

  private final String word;

  RunStatus(String word) {
    this.word = word;
  }

  /** Returns the word as it is stored. */
  public String word() {
    return word;
  }
}
