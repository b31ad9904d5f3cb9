package dev.millrace.run;

import java.time.Duration;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Goes round many things and does a step for each every so often, but no more than so many steps a
 * second: with more things a round just takes longer. A few threads do it all, so one slow answer
 * holds up no others. Thread-safe.
 *
 * @param <T> the things
 */
final class Rounds<T> implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Rounds.class);

  /** Enough for 100 steps a second that take 200 milliseconds each. */
  private static final int THREADS = 20;

  private static final long IDLE_SECONDS = 30;

  /** Between two steps while they fail, so that a server in trouble is not asked in vain. */
  private static final Duration TROUBLE = Duration.ofSeconds(1);

  /** How far behind the pace may be and still be kept in the mean. */
  private static final Duration LAG = Duration.ofMillis(100);

  /** What a step came to. */
  enum Outcome {
    /** The thing's next step is in the next round. */
    NEXT_ROUND,
    /** The step could not be done; the thing stays first in line. */
    IN_TROUBLE,
    /** There are no more steps for the thing. */
    OVER
  }

  private record Step<T>(T thing, long due) implements Delayed {
    @Override
    public long getDelay(TimeUnit unit) {
      return unit.convert(due - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
      // A difference, as the clock may pass from the greatest number to the least.
      return Long.compare(due - ((Step<?>) other).due, 0);
    }
  }

  private final Function<T, Outcome> work;
  private final Duration round;
  private final Duration gap;
  private final DelayQueue<Step<T>> steps = new DelayQueue<>();
  private final ThreadPoolExecutor threads;
  private final Thread pace;
  private volatile boolean inTrouble;

  /**
   * Begins without things.
   *
   * @param name of its threads
   * @param round from one step of a thing to its next, at least
   * @param mostPerSecond steps, of all things
   * @param work one step
   */
  Rounds(String name, Duration round, int mostPerSecond, Function<T, Outcome> work) {
    this.work = work;
    this.round = round;
    this.gap = Duration.ofSeconds(1).dividedBy(mostPerSecond);
    this.threads =
        new ThreadPoolExecutor(
            0,
            THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            task -> daemon(task, name),
            // When all are busy, so is the one that sets the pace.
            new ThreadPoolExecutor.CallerRunsPolicy());
    this.pace = daemon(this::go, name + "-pace");
    pace.start();
  }

  static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /** Adds a thing; its first step is one round from now. */
  void add(T thing) {
    steps.add(new Step<>(thing, System.nanoTime() + round.toNanos()));
  }

  /** Does a step for a thing as soon as the pace allows, beside those of the rounds. */
  void hurry(T thing) {
    steps.add(new Step<>(thing, System.nanoTime()));
  }

  private void go() {
    long next = System.nanoTime();
    try {
      while (true) {
        Step<T> step = steps.take();
        threads.execute(() -> take(step));
        // A late step does not delay those behind it, but the time of idleness is not made up for.
        Duration pause = inTrouble ? TROUBLE : gap;
        next = Math.max(next + pause.toNanos(), System.nanoTime() - LAG.toNanos());
        TimeUnit.NANOSECONDS.sleep(next - System.nanoTime());
      }
    } catch (InterruptedException exception) {
      // Closed.
      Thread.currentThread().interrupt();
    }
  }

  private void take(Step<T> step) {
    Outcome outcome = outcome(step.thing());
    inTrouble = outcome == Outcome.IN_TROUBLE;
    switch (outcome) {
      case NEXT_ROUND -> add(step.thing());
      case IN_TROUBLE -> steps.add(step);
      case OVER -> {}
    }
  }

  private Outcome outcome(T thing) {
    try {
      return work.apply(thing);
    } catch (RuntimeException exception) {
      LOG.error("a step failed in a way that nobody expected", exception);
      return Outcome.NEXT_ROUND;
    }
  }

  /** Begins no more steps. */
  @Override
  public void close() {
    pace.interrupt();
    threads.shutdownNow();
  }
}
