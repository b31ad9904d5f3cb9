package dev.millrace.failure;

import java.util.Objects;
import java.util.Optional;

/**
 * A failure with a stable code, told in a message that names the thing, the cause and the way out.
 *
 * <p>The message has passed {@link Redactor}: it may be logged, shown and put into a workflow's
 * history. A cause is for logs only.
 */
public final class MillraceException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private final transient ServerAnswer answer;

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
    this(code, message, cause, cause instanceof MillraceException known ? known.answer : null);
  }

  /**
   * Makes a failure that a server answered with.
   *
   * @param code what kind of failure it is
   * @param message names the thing, the cause and the way out; secrets are removed here
   * @param cause the exception of a driver, or null
   * @param answer the server's own code; null where no server answered
   */
  public MillraceException(ErrorCode code, String message, Throwable cause, ServerAnswer answer) {
    super(Redactor.redact(message), cause);
    this.code = Objects.requireNonNull(code, "code");
    this.answer = answer;
  }

  /** Returns the stable code. */
  public ErrorCode code() {
    return code;
  }

  /** Returns what a server answered, if one did. */
  public Optional<ServerAnswer> answer() {
    return Optional.ofNullable(answer);
  }
}
