package dev.millrace.parquet;

/** A value that its Parquet type can't hold; told again with its column and key. */
final class ValueException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * Makes one.
   *
   * @param reason continues the sentence "the value …"
   */
  ValueException(String reason) {
    super(reason);
  }
}
