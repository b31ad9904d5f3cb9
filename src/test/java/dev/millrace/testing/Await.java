package dev.millrace.testing;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for conditions of other processes, which can only be asked for. Stateless. */
public final class Await {
  private static final Duration PAUSE = Duration.ofMillis(100);

  private Await() {}

  /**
   * Asks until the condition holds.
   *
   * @param what is waited for, in words
   * @param bound how long at most
   * @param condition the question
   * @param more what to tell when it does not hold in time
   */
  public static void until(
      String what, Duration bound, BooleanSupplier condition, Supplier<String> more) {
    long end = System.nanoTime() + bound.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        throw new AssertionError(
            "not within %d s: %s%n%s".formatted(bound.toSeconds(), what, more.get()));
      }
      pause();
    }
  }

  /** Asks until the condition holds, for two minutes at most. */
  public static void until(String what, BooleanSupplier condition) {
    until(what, Duration.ofMinutes(2), condition, () -> "");
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE.toMillis());
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", exception);
    }
  }
}
