package dev.millrace.run;

import dev.millrace.failure.MillraceException;
import dev.millrace.failure.ServerAnswer;

/**
 * What records of the control plane tell of a failed step; it travels in the details of the
 * failure.
 *
 * @param step the activity's type, such as {@code TableWrite}
 * @param attempt the attempt that failed last, from 1
 * @param answer the server's own code; null where no server answered
 */
public record FailedStep(String step, int attempt, ServerAnswer answer) {
  static FailedStep of(String step, int attempt, MillraceException exception) {
    return new FailedStep(step, attempt, exception.answer().orElse(null));
  }
}
