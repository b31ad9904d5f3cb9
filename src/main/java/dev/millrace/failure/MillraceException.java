package dev.millrace.failure;

import java.util.Objects;

/**
 * A failure with a stable code, told in a message that names the thing, the cause and the way out.
 *
 * <p>The message has passed {@link Redactor}: it may be logged, shown and put into a workflow's
 * history. A cause is for logs only.
 */
public final class MillraceException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;

  /**
   * Makes a failure.
   *
   * @param code what kind of failure it is
   * @param message names the thing, the cause and the way out; secrets are removed here
   */
  public MillraceException(ErrorCode code, String message) {
    this(code, message, null);
  }

  /**
   * Makes a failure that another one caused.
   *
   * @param code what kind of failure it is
   * @param message names the thing, the cause and the way out; secrets are removed here
   * @param cause the exception of a driver, or null
   */
  public MillraceException(ErrorCode code, String message, Throwable cause) {
    super(Redactor.redact(message), cause);
    this.code = Objects.requireNonNull(code, "code");
  }

  /** Returns the stable code. */
  public ErrorCode code() {
    return code;
  }
}
