package dev.millrace.parquet;

/** A value that its Parquet type can't hold; told again with its column and key. */
final class ValueException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String remedy;

  /**
   * Makes one for which there is no rule.
   *
   * @param reason continues the sentence "the value …"
   */
  ValueException(String reason) {
    this(reason, "");
  }

  /**
   * Makes one for which there is a rule.
   *
   * @param reason continues the sentence "the value …"
   * @param rule what a person can say in the run's input, such as "say nan: null"
   */
  ValueException(String reason, String rule) {
    super(reason);
    this.remedy = rule;
  }

  /** Returns what a person can do, as the end of a sentence. */
  String remedy() {
    return (remedy.isEmpty() ? "" : remedy + ", ") + "exclude the column, or correct the value";
  }
}
