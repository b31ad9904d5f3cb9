package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testing.SideBySide;
import dev.millrace.testing.TestPipeline;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.WorkerProcess;
import io.temporal.client.WorkflowStub;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
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
    SideBySide tests = new SideBySide(AT_A_TIME);
    for (String point : RunPoints.of(KillIT.class, ALWAYS, CHOSEN)) {
      tests.add("killed at " + point, killed(point));
    }
    return tests.tests();
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
