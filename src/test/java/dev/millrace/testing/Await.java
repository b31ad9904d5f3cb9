package dev.millrace.testing;

import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Waits for conditions. Stateless. */
public final class Await {
  private static final Duration BOUND = Duration.ofSeconds(90);
  private static final long PAUSE_MILLIS = 50;

  private Await() {}

  /** Returns when the condition holds, and throws when it does not within 90 seconds. */
  public static void until(String what, BooleanSupplier condition) {
    long end = System.nanoTime() + BOUND.toNanos();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException("not within " + BOUND.toSeconds() + " s: " + what);
      }
      try {
        Thread.sleep(PAUSE_MILLIS);
      } catch (InterruptedException exception) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(exception);
      }
    }
  }
}
