package dev.millrace.control;

/** The words of {@code control.budget_usage.budget_name} that the whole fleet knows. */
public enum BudgetName {
  /** Seconds of one run. */
  WALLTIME("walltime"),
  /** Calls in a day. */
  API_DAILY("api_daily"),
  /** Exports in an hour. */
  EXPORT_HOURLY("export_hourly");

  private final String word;

  BudgetName(String word) {
    this.word = word;
  }

  /** Returns the word as it is stored. */
  public String word() {
    return word;
  }
}
