package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.Await;
import dev.millrace.testing.TestPipeline;
import dev.millrace.testing.TestStack;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.WorkerProcess;
import io.temporal.client.WorkflowStub;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Runs of several windows, and rows that commit late, with worker processes of their own. */
class LargeLoadIT {
  private static final int ROWS = 1_000;
  private static final Map<String, Object> IN_WINDOWS = Map.of("window_rows", 50);

  /** Case 19 (sling#41, #464). */
  @Test
  void aKilledWorkersFirstLoadGoesOnWithWhatIsLeft() {
    TestPipeline pipeline = TestPipeline.create("large-load", ROWS);
    pipeline.execute(
        "UPDATE large_load.parcel SET updated_at = updated_at + id * interval '1 ms'; ANALYZE large_load.parcel");
    WorkflowStub run;
    try (WorkerProcess doomed = pipeline.worker("")) {
      run = pipeline.start("first", List.of(pipeline.table()), IN_WINDOWS);
      Await.until("six objects", () -> pipeline.objects().size() >= 6);
      doomed.kill();
    }
    List<String> published = pipeline.writings();
    assertThat(published).hasSizeBetween(6, 15);
    // Rows that move to other windows meanwhile are still copied once.
    pipeline.execute(
        "UPDATE large_load.parcel SET updated_at = clock_timestamp(), version = 2 WHERE id > 900");
    try (WorkerProcess next = pipeline.worker("")) {
      JsonNode result = TestTemporal.result(run);

      assertThat(pipeline.writings()).containsAll(published);
      JsonNode table = result.at("/results/0");
      assertThat(table.get("initial_load").asBoolean()).isTrue();
      assertThat(table.get("objects").asInt()).isEqualTo(pipeline.objects().size());
      assertThat(table.get("rows").asInt()).isEqualTo(pipeline.rowsInLake().size());
      TestTemporal.result(pipeline.start("second"));
      assertThat(pipeline.rowsInLake()).containsExactlyInAnyOrderElementsOf(pipeline.rowsInTable());
      assertThat(pipeline.leftovers()).isEmpty();
      assertThat(next.errors()).isEmpty();
    }
  }

  /** Case 1 (airbyte#9668, dlt#2269), as a user sees it. */
  @Test
  void aRowThatCommitsAfterTheRunThatPassedItsKeyComesWithTheNext() throws Exception {
    TestPipeline pipeline = TestPipeline.create("late-commit", 6);
    try (WorkerProcess worker = pipeline.worker("");
        Connection session = TestStack.postgres().connect();
        Statement statement = session.createStatement()) {
      session.setAutoCommit(false);
      statement.execute("INSERT INTO late_commit.parcel VALUES (7, 1, 'late', now())");
      JsonNode first =
          TestTemporal.result(
              pipeline.start(
                  "first", List.of(pipeline.table()), Map.of("long_transaction", "PT0S")));
      assertThat(first.at("/rows").asInt()).isEqualTo(6);
      assertThat(first.at("/results/0/long_transaction/id").isIntegralNumber()).isTrue();
      session.commit();
      assertThat(TestTemporal.result(pipeline.start("second")).at("/rows").asInt()).isEqualTo(1);
      assertThat(TestTemporal.result(pipeline.start("third")).at("/rows").asInt()).isZero();
      pipeline.requireExact(pipeline.rowsInTable(), TestTemporal.result(pipeline.start("fourth")));
      assertThat(worker.errors()).isEmpty();
    }
  }
}
