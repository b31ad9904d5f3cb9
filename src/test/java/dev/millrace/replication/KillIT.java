package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.failure.Points;
import dev.millrace.testing.TestPipeline;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.WorkerProcess;
import io.temporal.client.WorkflowStub;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * A worker is killed at each named point, and another one ends its run.
 *
 * <p>Each kill costs the heartbeat timeout, so points run beside each other; without the profile
 * {@code full} only some of them, chosen by a seed that is printed.
 */
class KillIT {
  private static final int AT_A_TIME = 5;
  private static final int CHOSEN = 2;
  private static final int ROWS = 2_000;

  /** Where the longest steps of the protocol are cut, and where an object has no manifest. */
  private static final Set<String> ALWAYS =
      Set.of("extract.middle", "write.after-complete", "write.before-manifest");

  @TestFactory
  Stream<DynamicTest> aRunWhoseWorkerIsKilledEndsWithAnotherWorker() {
    ExecutorService threads = Executors.newFixedThreadPool(AT_A_TIME);
    List<DynamicTest> tests = new ArrayList<>();
    for (String point : points()) {
      Future<Void> ended = threads.submit(killed(point));
      tests.add(DynamicTest.dynamicTest("killed at " + point, () -> await(ended)));
    }
    threads.shutdown();
    return tests.stream();
  }

  private static List<String> points() {
    List<String> points = new ArrayList<>(Points.of("prepare", "extract", "write"));
    points.remove("extract.audit");
    if (Double.parseDouble(System.getProperty("millrace.scale", "0.1")) >= 1) {
      return points;
    }
    long seed = Long.getLong("millrace.seed", System.nanoTime());
    System.out.println("KillIT: -Dmillrace.seed=" + seed);
    points.removeAll(ALWAYS);
    Collections.sort(points);
    Collections.shuffle(points, new Random(seed));
    List<String> chosen = new ArrayList<>(ALWAYS);
    chosen.addAll(points.subList(0, CHOSEN));
    return chosen;
  }

  private static void await(Future<Void> ended) throws Throwable {
    try {
      ended.get();
    } catch (ExecutionException exception) {
      throw exception.getCause();
    }
  }

  private static Callable<Void> killed(String point) {
    return () -> {
      TestPipeline pipeline = TestPipeline.create("kill-" + point.replace('.', '-'), ROWS);
      WorkflowStub first;
      try (WorkerProcess doomed = pipeline.worker(point + "=kill")) {
        first = pipeline.start("first");
        assertThat(doomed.awaitEnd()).as(point).isEqualTo(WorkerProcess.KILLED);
      }
      List<String> published = pipeline.writings();
      try (WorkerProcess next = pipeline.worker("")) {
        List<String> rows = pipeline.rowsInTable();
        pipeline.requireExact(rows, TestTemporal.result(first));
        // Case 50: what was published before is not written once more.
        assertThat(pipeline.writings()).as(point).hasSize(1).containsAll(published);

        rows.addAll(pipeline.change());
        pipeline.requireExact(rows, TestTemporal.result(pipeline.start("second")));
        assertThat(next.errors()).as(point).isEmpty();
      }
      return null;
    };
  }
}
