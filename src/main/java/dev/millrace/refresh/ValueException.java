package dev.millrace.refresh;

/** A value has no place in its target; the message says why, without column and key. */
final class ValueException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ValueException(String message) {
    super(message, null, false, false);
  }
}
