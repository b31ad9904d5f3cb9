package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.Appdb;
import dev.millrace.testing.Await;
import dev.millrace.testing.SavedHistories;
import dev.millrace.testing.TestDimension;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.TestWorker;
import dev.millrace.testing.WorkerProcess;
import io.temporal.client.WorkflowStub;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * Makes the histories of refreshes that {@code ReplayTest} replays, from real runs. No build runs
 * it: {@code mvn test -Dtest=RecordRefreshHistories} writes those that are missing.
 */
@SuppressWarnings("try") // Workers are there to work.
class RecordRefreshHistories {
  private static final int ROWS = 20;
  private static final Duration BOUND = Duration.ofMinutes(1);

  private static String id(WorkflowStub run) {
    return run.getExecution().getWorkflowId();
  }

  private static String digest(WorkflowStub run) {
    return TestDimension.status(run).path("question").path("digest").asText();
  }

  @Test
  void publishedSkippedWaitingAndDecided() {
    TestDimension dimension = TestDimension.create("refresh-history", ROWS);
    try (WorkerProcess worker = dimension.worker("")) {
      dimension.refresh("published", "");
      SavedHistories.save("refresh-published", "refresh-history-published");
      dimension.refresh("skipped", "");
      SavedHistories.save("refresh-skipped", "refresh-history-skipped");

      dimension.deleteAfter(10);
      WorkflowStub rejected = dimension.start("rejected", "");
      TestDimension.awaitQuestion(rejected);
      SavedHistories.save("refresh-waiting", id(rejected));
      rejected.signal("approve", TestWorker.json("[]"));
      rejected.signal("approve", TestWorker.json("{\"by\": \"ann\", \"reason\": \"no\"}"));
      TestTemporal.result(rejected);
      SavedHistories.save("refresh-rejected", id(rejected));

      WorkflowStub approved = dimension.start("approved", "");
      TestDimension.awaitQuestion(approved);
      String first = digest(approved);
      TestDimension.ask(
          "INSERT INTO %s VALUES (1000, 'by hand', 1, NULL, now64())".formatted(dimension.live()));
      TestDimension.decide(approved, true, first);
      Await.until(
          "it asks again",
          BOUND,
          () -> !digest(approved).equals(first),
          () -> TestDimension.status(approved).toString());
      SavedHistories.save("refresh-asked-again", id(approved));
      TestDimension.decide(approved, true, digest(approved));
      JsonNode result = TestTemporal.result(approved);
      assertThat(result.path("outcome").asText()).isEqualTo("published");
      SavedHistories.save("refresh-approved", id(approved));

      dimension.deleteAfter(3);
      WorkflowStub late = dimension.start("late", "\"approval_timeout\": \"PT3S\"");
      TestTemporal.failure(late);
      SavedHistories.save("refresh-nobody-decided", id(late));

      WorkflowStub cancelled = dimension.start("cancelled", "");
      TestDimension.awaitQuestion(cancelled);
      cancelled.cancel();
      Await.until(
          "it is cancelled",
          BOUND,
          () -> TestTemporal.status(id(cancelled)).name().endsWith("CANCELED"),
          () -> TestTemporal.status(id(cancelled)).name());
      SavedHistories.save("refresh-cancelled", id(cancelled));

      Appdb.execute("DELETE FROM %s.stop".formatted(dimension.schema()));
      WorkflowStub empty = dimension.start("empty", "");
      TestTemporal.failure(empty);
      SavedHistories.save("refresh-empty-source", id(empty));
      dimension.add(1, ROWS);
    }
    try (WorkerProcess worker = dimension.worker("audit-published.end=mismatch")) {
      WorkflowStub back = dimension.start("back", "");
      TestTemporal.failure(back);
      SavedHistories.save("refresh-rolled-back", id(back));
    }
  }
}
