package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.millrace.run.SearchAttribute;
import dev.millrace.testing.Appdb;
import dev.millrace.testing.Await;
import dev.millrace.testing.TestRun;
import dev.millrace.testing.TestWorker;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.client.WorkflowExecutionMetadata;
import io.temporal.common.converter.DefaultDataConverter;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a person sees of runs in Temporal's UI. */
class UserInterfaceIT {
  private static TestWorker worker;

  @BeforeAll
  static void start() {
    worker = TestWorker.shared();
    // The last of the rows waits as long as there is a row in table closed.
    Appdb.execute(
        """
        CREATE SCHEMA ui_it;
        CREATE TABLE ui_it.closed (i int);
        INSERT INTO ui_it.closed VALUES (1);
        CREATE TABLE ui_it.clock (id int, updated_at timestamptz NOT NULL);
        INSERT INTO ui_it.clock SELECT i, now() FROM generate_series(1, 5000) AS i;
        CREATE FUNCTION ui_it.gate(i int) RETURNS int LANGUAGE plpgsql VOLATILE AS $$
        BEGIN
          WHILE i = 5000 AND EXISTS (SELECT FROM ui_it.closed) LOOP
            PERFORM pg_sleep(0.05);
            EXIT WHEN pg_try_advisory_lock_shared(4711);
          END LOOP;
          RETURN i;
        END $$;
        CREATE VIEW ui_it.gated AS
          SELECT id, repeat('x', 100) AS note, updated_at, CASE WHEN id > 0 THEN ui_it.gate(id) END AS gate
          FROM ui_it.clock;
        CREATE TABLE ui_it.small (id int, updated_at timestamptz NOT NULL);
        CREATE TABLE ui_it.other (id int, updated_at timestamptz NOT NULL)""");
  }

  private static String text(Payload payload) {
    return DefaultDataConverter.newDefaultInstance()
        .fromPayload(payload, String.class, String.class);
  }

  private static String state(TestRun run) {
    return run.describe().getTypedSearchAttributes().get(SearchAttribute.STATE);
  }

  private static String details(TestRun run) {
    return run.metadata().getCurrentDetails();
  }

  private static Optional<PendingActivityInfo> pending(TestRun run, String activity) {
    return run.describe().getRawDescription().getPendingActivitiesList().stream()
        .filter(info -> info.getActivityType().getName().equals(activity))
        .findFirst();
  }

  private static JsonNode heartbeat(TestRun child) {
    return pending(child, "TableExtract")
        .filter(PendingActivityInfo::hasHeartbeatDetails)
        .map(info -> info.getHeartbeatDetails().getPayloads(0).getData().toStringUtf8())
        .map(TestWorker::json)
        .orElse(MissingNode.getInstance());
  }

  private static List<String> summaries(TestRun run) {
    return run.history(EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED).stream()
        .map(HistoryEvent::getUserMetadata)
        .map(metadata -> metadata.hasSummary() ? text(metadata.getSummary()) : "")
        .toList();
  }

  @Test
  void aRunShowsWhatIsGoingOn() throws Exception {
    try (var connection = dev.millrace.testing.TestStack.postgres().connect();
        var statement = connection.createStatement()) {
      // Held by this session, the gate's try fails; released, all go through.
      statement.execute("SELECT pg_advisory_lock(4711)");
      TestRun run = worker.replicate("uit_run", "[\"ui_it.gated\", \"ui_it.small\"]");
      TestRun child = run.child("ui_it.gated");
      Await.until(
          "the extract's heartbeat tells rows",
          () ->
              run.history(EventType.EVENT_TYPE_CHILD_WORKFLOW_EXECUTION_STARTED).size() == 2
                  && heartbeat(child).path("rows").asLong() > 0);
      assertThat(heartbeat(child).fieldNames())
          .toIterable()
          .containsExactlyInAnyOrder("rows", "bytes", "rowsPerSecond");
      Await.until(
          "the table's details tell rows",
          () ->
              details(child)
                  .matches(
                      "\\*\\*ui_it.gated\\*\\* [1-9][0-9,]* rows so far, .* rows per second.*"));
      Await.until(
          "the run's details tell tables",
          () -> details(run).equals("**uit_run** 1 of 2 tables done, 0 failed, 1 at work"));
      assertThat(state(run)).isEqualTo("running");
      assertThat(run.describe().getTypedSearchAttributes().get(SearchAttribute.PIPELINE))
          .isEqualTo("uit_run");
      assertThat(run.describe().getMemo("pipeline", String.class)).isEqualTo("uit_run");
      assertThat(run.describe().getMemo("tables", Integer.class)).isEqualTo(2);
      assertThat(run.describe().getMemo("run_id", String.class).toString())
          .matches("\\d{8}T\\d{6}Z-uit_run-[0-9a-f]{6}");
      assertThat(child.describe().getStaticSummary()).isEqualTo("ui_it.gated");
      assertThat(child.describe().getMemo("table", String.class)).isEqualTo("ui_it.gated");
      assertThat(child.describe().getTypedSearchAttributes().get(SearchAttribute.TABLE))
          .isEqualTo("ui_it.gated");
      assertThat(summaries(child)).isNotEmpty().containsOnly("ui_it.gated");
      Await.until(
          "lists find both by pipeline and state",
          () ->
              worker
                      .client()
                      .listExecutions("MillracePipeline = 'uit_run' AND MillraceState = 'running'")
                      .map(WorkflowExecutionMetadata::getExecution)
                      .filter(found -> found.getWorkflowId().startsWith(run.workflowId()))
                      .count()
                  == 2);

      TestRun second = worker.replicate("uit_run", "[\"ui_it.small\"]");
      Await.until(
          "the second waits",
          () ->
              pending(second, "RunTakeTurn")
                  .map(info -> info.getLastFailure().getMessage())
                  .orElse("")
                  .matches(
                      "queued: pipeline uit_run is at work for run .* of workflow "
                          + run.workflowId()
                          + "; 0 runs wait before this one"));
      assertThat(state(second)).isEqualTo("queued");
      assertThat(details(second))
          .isEqualTo("**uit_run** queued: waiting for the turn of pipeline uit_run");
      long events = second.describe().getHistoryLength();
      int attempt = pending(second, "RunTakeTurn").orElseThrow().getAttempt();
      Await.until(
          "it asks again",
          () -> pending(second, "RunTakeTurn").orElseThrow().getAttempt() >= attempt + 2);
      assertThat(second.describe().getHistoryLength()).isEqualTo(events);

      statement.execute("SELECT pg_advisory_unlock(4711)");
      assertThat(run.result().get("rows").longValue()).isEqualTo(5000);
      assertThat(state(run)).isEqualTo("ok");
      assertThat(state(child)).isEqualTo("ok");
      assertThat(details(run)).contains("pipeline uit_run: 2 of 2 tables, 5000 rows");
      assertThat(second.result().get("ok").intValue()).isEqualTo(1);
      assertThat(state(second)).isEqualTo("ok");
    }
  }

  @Test
  void theStateTellsHowARunEnded() {
    TestRun partial = worker.replicate("uit_partial", "[\"ui_it.other\", \"ui_it.missing\"]");
    partial.failure();
    TestRun failed = worker.replicate("uit_failed", "[\"ui_it.missing\"]");
    failed.failure();
    assertThat(state(partial)).isEqualTo("partial");
    assertThat(state(partial.child("ui_it.missing"))).isEqualTo("failed");
    assertThat(state(partial.child("ui_it.other"))).isEqualTo("ok");
    assertThat(state(failed)).isEqualTo("failed");
    assertThat(details(failed)).contains("0 of 1 tables").contains("1 failed");
    assertThat(details(failed.child("ui_it.missing"))).contains("ui_it.missing");
  }
}
