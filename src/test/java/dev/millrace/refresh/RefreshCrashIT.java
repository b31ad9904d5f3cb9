package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.app.Configuration;
import dev.millrace.app.Worker;
import dev.millrace.failure.Points;
import dev.millrace.testing.SideBySide;
import dev.millrace.testing.TestDimension;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.WorkerProcess;
import io.temporal.client.WorkflowStub;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * A worker is killed, or frozen past its timeout and woken late, at named points of a refresh;
 * readers see the old table or the new one, and it is swapped once.
 *
 * <p>Each seed costs the heartbeat timeout, so some run beside each other; the first seed is
 * printed.
 */
@SuppressWarnings("try") // Workers are there to work.
class RefreshCrashIT {
  private static final int AT_A_TIME = 5;
  private static final int SEEDS = 100;
  private static final int OLD_ROWS = 100;
  private static final int ROWS = 300;

  /**
   * What happens to one refresh.
   *
   * @param point where
   * @param freeze whether its worker is frozen there and not killed
   * @param load how rows travel
   * @param mismatch whether the audit of what was published fails
   */
  private record Accident(String point, boolean freeze, String load, boolean mismatch) {
    static Accident of(long seed) {
      Random random = new Random(seed);
      boolean mismatch = random.nextInt(4) == 0;
      List<String> points = new ArrayList<>(Points.of("load", "swap"));
      points.addAll(Points.of(mismatch ? "rollback" : "save-state"));
      return new Accident(
          points.get(random.nextInt(points.size())),
          random.nextBoolean(),
          random.nextBoolean() ? "pull" : "push",
          mismatch);
    }

    String points() {
      return "%s=%s%s"
          .formatted(
              point, freeze ? "freeze" : "kill", mismatch ? ",audit-published.end=mismatch" : "");
    }
  }

  @TestFactory
  Stream<DynamicTest> aRefreshWhoseWorkerDiesEndsWithAnotherWorker() {
    double scale = Double.parseDouble(System.getProperty("millrace.scale", "0.1"));
    long first = Long.getLong("millrace.seed", System.nanoTime());
    System.out.println("RefreshCrashIT: -Dmillrace.seed=" + first);
    SideBySide tests = new SideBySide(AT_A_TIME);
    for (int i = 0; i < Math.max(1, SEEDS * scale); i++) {
      long seed = first + i;
      Accident accident = Accident.of(seed);
      tests.add("seed %d: %s".formatted(seed, accident), happens(accident, i));
    }
    return tests.tests();
  }

  private static Callable<Void> happens(Accident accident, int number) {
    return () -> {
      TestDimension dimension = TestDimension.create("crash-" + number, ROWS);
      dimension.fillLive(OLD_ROWS);
      List<String> old = dimension.liveRows();
      List<String> wanted = dimension.sourceRows();
      String more = "\"load\": \"%s\"".formatted(accident.load());
      try (Readers readers = Readers.of(dimension);
          WorkerProcess doomed = dimension.worker(accident.points())) {
        WorkflowStub run = dimension.start("first", more);
        if (accident.freeze()) {
          doomed.awaitFrozen();
        } else {
          assertThat(doomed.awaitEnd()).isEqualTo(WorkerProcess.KILLED);
        }
        assertThat(dimension.liveRows()).isIn(old, wanted);
        String rest = accident.mismatch() ? "audit-published.end=mismatch" : "";
        try (Worker next = worker(dimension, rest)) {
          boolean rolledBack = requireEnd(run, accident);
          assertThat(dimension.liveRows()).isEqualTo(rolledBack ? old : wanted);
          if (accident.freeze()) {
            doomed.wake();
            doomed.awaitNothingRunsOf(RefreshSteps.class);
            assertThat(dimension.liveRows()).isEqualTo(rolledBack ? old : wanted);
            assertThat(doomed.errors()).isEmpty();
            doomed.stop();
          }
          assertThat(dimension.swaps()).isEqualTo(rolledBack ? 2 : 1);
          assertThat(readers.seen()).isSubsetOf(readers.hash(old), readers.hash(wanted));
          requireNextIsClean(dimension, more);
        }
      }
      return null;
    };
  }

  /** In this JVM, since each process more costs seconds. */
  private static Worker worker(TestDimension dimension, String points) {
    return Worker.start(
        Configuration.load(dimension.configuration(), System.getenv()),
        Map.of(Points.VARIABLE, points));
  }

  /** Returns whether it was swapped back. */
  private static boolean requireEnd(WorkflowStub run, Accident accident) {
    if (!accident.mismatch()) {
      assertThat(TestTemporal.result(run).path("outcome").asText()).isEqualTo("published");
      return false;
    }
    assertThat(TestTemporal.failure(run).getType()).isEqualTo("ROLLED_BACK");
    return true;
  }

  private static void requireNextIsClean(TestDimension dimension, String more) {
    dimension.add(ROWS + 1, ROWS + 10);
    assertThat(dimension.refresh("second", more).path("outcome").asText()).isEqualTo("published");
    dimension.requireEqual();
    assertThat(dimension.tables())
        .containsExactly(dimension.schema(), dimension.schema() + "__refresh");
  }

  /** Readers of the live table in a loop. Thread-safe. */
  private static final class Readers implements AutoCloseable {
    private static final Duration PACE = Duration.ofMillis(50);

    private final TestDimension dimension;
    private final ConcurrentLinkedQueue<String> seen = new ConcurrentLinkedQueue<>();
    private final Thread thread;
    private volatile boolean closed;

    private Readers(TestDimension dimension) {
      this.dimension = dimension;
      this.thread = new Thread(this::read, "reader");
    }

    static Readers of(TestDimension dimension) {
      Readers readers = new Readers(dimension);
      readers.thread.setDaemon(true);
      readers.thread.start();
      return readers;
    }

    private void read() {
      try {
        while (!closed) {
          String rows = hash(dimension.liveRows());
          if (!seen.contains(rows)) {
            seen.add(rows);
          }
          // Readers of all seeds at full speed would leave no core to the workers.
          LockSupport.parkNanos(PACE.toNanos());
        }
      } catch (AssertionError exception) {
        // A reader never gets an error: this is no hash of any version.
        seen.add(exception.toString());
      }
    }

    String hash(List<String> rows) {
      return rows.size() + ":" + rows.hashCode();
    }

    List<String> seen() {
      return List.copyOf(seen);
    }

    @Override
    public void close() {
      closed = true;
    }
  }
}
