package dev.millrace.refresh;

/** A type has no way into another one; the message says why and names the way out. */
final class UnsupportedPairException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  UnsupportedPairException(String message) {
    super(message, null, false, false);
  }
}
