package dev.millrace.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testing.Await;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class RoundsTest {
  private static final Duration SHORT = Duration.ofMillis(20);

  @Test
  void eachThingHasItsTurnAndTheRateIsKept() {
    Map<Integer, Integer> steps = new ConcurrentHashMap<>();
    long begin = System.nanoTime();
    try (Rounds<Integer> rounds =
        new Rounds<>("test", SHORT, 100, thing -> counted(steps, thing))) {
      for (int thing = 0; thing < 50; thing++) {
        rounds.add(thing);
      }
      Await.until(
          "each has had three steps",
          () -> steps.size() == 50 && steps.values().stream().allMatch(count -> count >= 3));
      int all = steps.values().stream().mapToInt(count -> count).sum();
      double seconds = (System.nanoTime() - begin) / 1e9;
      assertThat(all).isLessThanOrEqualTo((int) (seconds * 100) + 12);
    }
  }

  private static Rounds.Outcome counted(Map<Integer, Integer> steps, int thing) {
    steps.merge(thing, 1, Integer::sum);
    return Rounds.Outcome.NEXT_ROUND;
  }

  @Test
  void aThingThatIsOverHasNoMoreSteps() {
    AtomicInteger steps = new AtomicInteger();
    AtomicInteger others = new AtomicInteger();
    try (Rounds<String> rounds =
        new Rounds<>(
            "test",
            SHORT,
            1_000,
            thing -> {
              if (thing.equals("goes on")) {
                others.incrementAndGet();
                return Rounds.Outcome.NEXT_ROUND;
              }
              steps.incrementAndGet();
              return Rounds.Outcome.OVER;
            })) {
      rounds.add("ends");
      rounds.add("goes on");
      Await.until("the other has gone on", () -> others.get() > 5);
      assertThat(steps).hasValue(1);
    }
  }

  @Test
  void aStepOfOneThatTakesLongHoldsUpNoOther() {
    CountDownLatch release = new CountDownLatch(1);
    AtomicInteger others = new AtomicInteger();
    try (Rounds<String> rounds =
        new Rounds<>(
            "test",
            SHORT,
            1_000,
            thing -> {
              if (thing.equals("slow")) {
                await(release);
                return Rounds.Outcome.OVER;
              }
              others.incrementAndGet();
              return Rounds.Outcome.NEXT_ROUND;
            })) {
      rounds.hurry("slow");
      rounds.add("quick");
      Await.until("the other has gone on", () -> others.get() > 5);
      release.countDown();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(exception);
    }
  }

  @Test
  void inTroubleItIsTriedSeldomAndInTheOldOrderAfterIt() {
    AtomicBoolean trouble = new AtomicBoolean(true);
    AtomicInteger tried = new AtomicInteger();
    List<Integer> done = new CopyOnWriteArrayList<>();
    long begin = System.nanoTime();
    try (Rounds<Integer> rounds =
        new Rounds<>(
            "test",
            Duration.ofHours(1),
            10,
            thing -> {
              if (trouble.get()) {
                tried.incrementAndGet();
                return Rounds.Outcome.IN_TROUBLE;
              }
              done.add(thing);
              return Rounds.Outcome.NEXT_ROUND;
            })) {
      for (int thing = 0; thing < 20; thing++) {
        rounds.hurry(thing);
      }
      Await.until("it is tried again and again", () -> tried.get() >= 5);
      assertThat(System.nanoTime() - begin).isGreaterThan(Duration.ofMillis(1_500).toNanos());
      trouble.set(false);
      Await.until("all are done", () -> done.size() == 20);
      // Steps overlap a little.
      assertThat(done.subList(0, 8)).allMatch(thing -> thing < 12);
    }
  }

  @Test
  void aStepThatThrowsIsTakenAgainInTheNextRound() {
    AtomicInteger steps = new AtomicInteger();
    try (Rounds<String> rounds =
        new Rounds<>(
            "test",
            SHORT,
            1_000,
            thing -> {
              steps.incrementAndGet();
              throw new IllegalStateException("on purpose");
            })) {
      rounds.add("thrown");
      Await.until("there are more steps", () -> steps.get() > 2);
    }
  }
}
