package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.run.OpenRuns;
import dev.millrace.testing.Await;
import dev.millrace.testing.CutLine;
import dev.millrace.testing.TestStack;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.TestWorker;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowStub;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Runs whose lease has expired: who may take it depends on what Temporal tells of them. */
class OpenRunsIT {
  private static LeaseWorker worker;

  private final OpenRuns openRuns = new OpenRuns(TestTemporal.client());

  @BeforeAll
  static void start() {
    worker = LeaseWorker.start("open-runs", LeaseWorker.QUICK);
  }

  @AfterAll
  static void stop() {
    worker.close();
  }

  private static void execute(String sql) {
    try (Connection connection = TestStack.postgres().connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException exception) {
      throw new IllegalStateException(sql, exception);
    }
  }

  private static String query(String sql) {
    try (Connection connection = TestStack.postgres().connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      return row.next() ? row.getString(1) : null;
    } catch (SQLException exception) {
      throw new IllegalStateException(sql, exception);
    }
  }

  private static String lease(String pipeline) {
    return query("SELECT run_id FROM control.lease WHERE extractor = '%s'".formatted(pipeline));
  }

  /** Starts a run that has the turn, and whose workers are away for longer than its lease lives. */
  private static WorkflowStub startOverdue(String pipeline, String runId) {
    WorkflowStub run = worker.takeTurn(pipeline, runId);
    Await.until("it has the turn", () -> runId.equals(lease(pipeline)));
    execute(
        "UPDATE control.lease SET lease_expires_at = now() - interval '1 second' WHERE run_id = '%s'"
            .formatted(runId));
    return run;
  }

  private static void project(String pipeline, String runId, JsonNode extra) {
    execute(
        "INSERT INTO control.run (run_id, extractor, started_at, status, extra) VALUES ('%s', '%s', now(), 'running', '%s')"
            .formatted(runId, pipeline, extra));
  }

  private static JsonNode extra(String namespace, String workflowId) {
    return TestWorker.json(
        """
        {"temporal": {"namespace": "%s", "workflow_id": "%s", "run_id": "any"}}"""
            .formatted(namespace, workflowId));
  }

  private static int asked(String workflowId) {
    return TestTemporal.attempt(workflowId, "RunTakeTurn");
  }

  private static String answer(String workflowId) {
    return TestTemporal.pendingActivities(workflowId).stream()
        .map(PendingActivityInfo::getLastFailure)
        .map(failure -> failure.getMessage())
        .reduce("", String::concat);
  }

  private static void requireQueued(String pipeline, String runId, String holder) {
    Await.until("it has asked three times", () -> asked(runId) > 3);
    assertThat(lease(pipeline)).isEqualTo(holder);
    assertThat(answer(runId)).contains("queued", holder, "whose lease has expired");
  }

  private static void requireTurn(String pipeline, String runId) {
    Await.until("it has the turn", () -> runId.equals(lease(pipeline)));
  }

  private static void end(WorkflowStub run) {
    run.signal("end");
    assertThat(run.getResult(String.class)).isEqualTo("ended");
  }

  @Test
  void anExpiredLeaseIsNotTakenFromAnOpenWorkflowButFromATerminatedOne() {
    WorkflowStub away = startOverdue("open-projected", "open-projected-1");
    project("open-projected", "open-projected-1", extra("default", "open-projected-1"));
    WorkflowStub next = worker.takeTurn("open-projected", "open-projected-2");
    requireQueued("open-projected", "open-projected-2", "open-projected-1");
    assertThat(answer("open-projected-2")).contains("its workflow is open", "terminate it");

    away.terminate("by a test");
    requireTurn("open-projected", "open-projected-2");
    end(next);
  }

  @Test
  void aRunThatIsNotInTheProjectionYetIsKnownFromTheQueue() {
    WorkflowStub away = startOverdue("open-queue", "open-queue-1");
    WorkflowStub next = worker.takeTurn("open-queue", "open-queue-2");
    requireQueued("open-queue", "open-queue-2", "open-queue-1");
    away.terminate("by a test");
    requireTurn("open-queue", "open-queue-2");
    end(next);
  }

  @Test
  void theWorkflowIsAskedForInTheNamespaceOfTheRun() {
    WorkflowStub away = startOverdue("open-elsewhere", "open-elsewhere-1");
    project("open-elsewhere", "open-elsewhere-1", extra("nowhere", "open-elsewhere-1"));
    WorkflowStub next = worker.takeTurn("open-elsewhere", "open-elsewhere-2");
    requireTurn("open-elsewhere", "open-elsewhere-2");
    end(next);
    end(away);
  }

  @Test
  void aRunThatComesBackInTimeGoesOn() {
    WorkflowStub away = startOverdue("open-back", "open-back-1");
    WorkflowStub next = worker.takeTurn("open-back", "open-back-2");
    requireQueued("open-back", "open-back-2", "open-back-1");
    end(away);
    requireTurn("open-back", "open-back-2");
    end(next);
  }

  @Test
  void theSameWorkflowsNextRunTakesTheLeaseOfItsLastOne() {
    // As a cron schedule does after a run that could not let go of its lease.
    startOverdue("open-cron", "open-cron-1").terminate("by a test");
    WorkflowStub next =
        worker.start("open-cron-1", new Holding.Order("open-cron", "open-cron-2", null, 60, false));
    requireTurn("open-cron", "open-cron-2");
    end(next);
  }

  @Test
  void aWorkflowThatGoesOnAsNewIsOpenBeforeItsNextTaskToo() {
    WorkflowStub run = worker.takeTurn("open-continued", "open-continued-run");
    requireTurn("open-continued", "open-continued-run");
    JsonNode extra = extra("default", "open-continued-run");
    assertThat(openRuns.isOpen("open-continued-run", extra)).isTrue();
    String first = run.describe().getExecution().getRunId();
    WorkflowStub newest = TestTemporal.client().newUntypedWorkflowStub("open-continued-run");
    newest.signal("move", "a-task-queue-that-nobody-polls");
    Await.until(
        "it continued as new", () -> !newest.describe().getExecution().getRunId().equals(first));
    assertThat(openRuns.isOpen("open-continued-run", extra)).isTrue();

    newest.terminate("by a test");
    assertThat(openRuns.isOpen("open-continued-run", extra)).isFalse();
  }

  @Test
  void anotherRunUnderTheSameWorkflowIdIsNotTheRun() {
    WorkflowStub run = worker.takeTurn("open-other", "open-other-run");
    requireTurn("open-other", "open-other-run");
    JsonNode extra = extra("default", "open-other-run");
    assertThat(openRuns.isOpen("open-other-run", extra)).isTrue();
    assertThat(openRuns.isOpen("the-run-before", extra)).isFalse();
    end(run);
    Await.until(
        "it is closed",
        () ->
            TestTemporal.status("open-other-run")
                == WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED);
    assertThat(openRuns.isOpen("open-other-run", extra)).isFalse();
  }

  @Test
  void whatTemporalDoesNotKnowIsNotOpen() {
    assertThat(openRuns.isOpen("run", extra("default", "no-such-workflow"))).isFalse();
    assertThat(openRuns.isOpen("run", extra("no-such-namespace", "workflow"))).isFalse();
    assertThat(openRuns.isOpen("run", NullNode.getInstance())).isFalse();
    assertThat(openRuns.isOpen("run", TestWorker.json("{\"temporal\": 1}"))).isFalse();
  }

  @Test
  void aTemporalThatDoesNotAnswerDoesNotSay() {
    try (CutLine line = new CutLine(1)) {
      line.cut();
      WorkflowClient client = TestTemporal.connect("127.0.0.1:" + line.port());
      assertThatThrownBy(() -> new OpenRuns(client).isOpen("run", extra("default", "a-workflow")))
          .isInstanceOfSatisfying(
              MillraceException.class,
              e -> assertThat(e.code()).isEqualTo(ErrorCode.TEMPORAL_UNAVAILABLE))
          .hasMessageContaining("a-workflow");
      client.getWorkflowServiceStubs().shutdownNow();
    }
  }
}
