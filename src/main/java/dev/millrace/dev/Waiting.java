package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waiting for a condition of another process, which can only be asked for. Stateless. */
final class Waiting {
  private static final Duration PAUSE = Duration.ofMillis(20);

  private Waiting() {}

  /**
   * Asks until the condition holds.
   *
   * @param bound how long at most
   * @param condition what is waited for
   * @return whether it holds; false when the bound passed before
   * @throws MillraceException {@code STACK_FAILED} when the thread is interrupted
   */
  static boolean until(Duration bound, BooleanSupplier condition) {
    long end = System.nanoTime() + bound.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        return false;
      }
      try {
        Thread.sleep(PAUSE.toMillis());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new MillraceException(ErrorCode.STACK_FAILED, "The start was interrupted", e);
      }
    }
    return true;
  }
}
