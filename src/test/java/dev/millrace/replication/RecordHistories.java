package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testing.Await;
import dev.millrace.testing.SavedHistories;
import dev.millrace.testing.TestPipeline;
import dev.millrace.testing.TestStack;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.WorkerProcess;
import io.grpc.StatusRuntimeException;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.workflowservice.v1.DescribeNamespaceRequest;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Makes the histories that {@link ReplayTest} replays, from real runs. No build runs it: {@code mvn
 * test -Dtest=RecordHistories} writes those that are missing, so remove a file to make it anew;
 * keep those of a released version, under a name of their own.
 */
class RecordHistories {
  private static final int ROWS = 20;

  /** After this many events the server suggests to continue as new. */
  private static final int MOST_EVENTS = 60;

  private static WorkflowExecution execution(String workflowId) {
    return WorkflowExecution.newBuilder().setWorkflowId(workflowId).build();
  }

  @Test
  void queuedAndExtractingAndCancelled() throws IOException {
    TestPipeline pipeline = TestPipeline.create("history", ROWS);
    List<String> tables = List.of(pipeline.gatedView());
    String child = pipeline.workflowId("first") + "/" + pipeline.gatedView();
    try (WorkerProcess worker = pipeline.worker("")) {
      WorkflowStub first;
      WorkflowStub second;
      try (TestPipeline.Gate gate = pipeline.shutGate()) {
        first = pipeline.start("first", tables);
        Await.until(
            "a table is extracted",
            () -> first(pipeline) && TestTemporal.attempt(child, "TableExtract") > 0);
        second = pipeline.start("second", tables);
        Await.until(
            "the second is queued",
            () -> TestTemporal.attempt(pipeline.workflowId("second"), "RunTakeTurn") > 2);
        WorkflowStub third = pipeline.start("third", tables);
        Await.until(
            "the third is queued",
            () -> TestTemporal.attempt(pipeline.workflowId("third"), "RunTakeTurn") > 2);
        SavedHistories.save("queued", pipeline.workflowId("second"));
        SavedHistories.save("extracting", pipeline.workflowId("first"));
        SavedHistories.save("extracting-table", child);
        third.cancel();
        Await.until("it is cancelled", () -> ended(pipeline.workflowId("third")));
        SavedHistories.save("cancelled-in-queue", pipeline.workflowId("third"));
        assertThat(gate).isNotNull();
      }
      TestTemporal.result(first);
      TestTemporal.result(second);
      SavedHistories.save("ok", pipeline.workflowId("first"));
      SavedHistories.save("ok-table", child);
      assertThat(worker).isNotNull();
    }
  }

  private static boolean first(TestPipeline pipeline) {
    return TestTemporal.state(pipeline.workflowId("first")).equals("running");
  }

  private static boolean ended(String workflowId) {
    return TestTemporal.status(workflowId)
        != WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;
  }

  @Test
  void oneTableFailedAndLeaseLost() throws IOException {
    TestPipeline pipeline = TestPipeline.create("history-failed", ROWS);
    try (WorkerProcess worker = pipeline.worker("")) {
      String missing = pipeline.schema() + ".missing";
      TestTemporal.failure(pipeline.start("partial", List.of(missing, pipeline.table())));
      SavedHistories.save("one-table-failed", pipeline.workflowId("partial"));
      SavedHistories.save("one-table-failed-table", pipeline.workflowId("partial") + "/" + missing);

      WorkflowStub robbed;
      try (TestPipeline.Gate gate = pipeline.shutGate()) {
        robbed = pipeline.start("robbed", List.of(pipeline.gatedView()));
        String child = pipeline.workflowId("robbed") + "/" + pipeline.gatedView();
        Await.until(
            "a table is extracted",
            () ->
                TestTemporal.state(pipeline.workflowId("robbed")).equals("running")
                    && TestTemporal.attempt(child, "TableExtract") > 0);
        pipeline.execute(
            "UPDATE control.lease SET run_id = 'thief' WHERE extractor = 'history-failed'");
        assertThat(gate).isNotNull();
      }
      TestTemporal.failure(robbed);
      SavedHistories.save("lease-lost", pipeline.workflowId("robbed"));
      SavedHistories.save(
          "lease-lost-table", pipeline.workflowId("robbed") + "/" + pipeline.gatedView());
      assertThat(worker).isNotNull();
    }
  }

  @Test
  void continuedAsNew() throws IOException {
    TestPipeline pipeline = TestPipeline.create("history-continued", ROWS);
    List<String> tables = new ArrayList<>();
    for (int table = 0; table < 12; table++) {
      tables.add(pipeline.schema() + ".t" + table);
      pipeline.execute(
          "CREATE TABLE %s.t%d (updated_at TIMESTAMPTZ)".formatted(pipeline.schema(), table));
    }
    int port = freePort();
    String address = "127.0.0.1:" + port;
    Process server = impatientServer(pipeline.configuration().resolveSibling("temporal.log"), port);
    try {
      WorkflowClient client = TestTemporal.connect(address);
      Await.until("the server answers", () -> answers(client));
      Files.writeString(
          pipeline.configuration(),
          Files.readString(pipeline.configuration())
              .replace(TestStack.temporal().address(), address));
      try (WorkerProcess worker = pipeline.worker("")) {
        WorkflowStub run =
            client.newUntypedWorkflowStub(
                "Replicate",
                WorkflowOptions.newBuilder()
                    .setTaskQueue(pipeline.name())
                    .setWorkflowId(pipeline.workflowId("run"))
                    .build());
        WorkflowExecution begun = run.start(pipeline.input(tables));
        assertThat(TestTemporal.result(run).at("/ok").asInt()).isEqualTo(tables.size());
        assertThat(pipeline.leftovers()).isEmpty();
        assertThat(lastEvent(client, begun))
            .isEqualTo(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW);
        SavedHistories.save("continued-as-new", client, begun);
        SavedHistories.save("continued-as-new-last", client, execution(pipeline.workflowId("run")));
        assertThat(worker.errors()).isEmpty();
      }
    } finally {
      server.destroyForcibly();
    }
  }

  private static EventType lastEvent(WorkflowClient client, WorkflowExecution execution) {
    return client
        .fetchHistory(execution.getWorkflowId(), execution.getRunId())
        .getLastEvent()
        .getEventType();
  }

  private static Process impatientServer(Path log, int port) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(TestStack.temporal().cli().orElseThrow().toString());
    command.addAll(List.of("server", "start-dev", "--headless", "--ip", "127.0.0.1"));
    command.addAll(List.of("--port", "" + port, "--log-level", "warn"));
    command.addAll(
        List.of(
            "--dynamic-config-value", "limit.historyCount.suggestContinueAsNew=" + MOST_EVENTS));
    for (String attribute : List.of("MillracePipeline", "MillraceTable", "MillraceState")) {
      command.addAll(List.of("--search-attribute", attribute + "=Keyword"));
    }
    return new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
  }

  private static boolean answers(WorkflowClient client) {
    try {
      client
          .getWorkflowServiceStubs()
          .blockingStub()
          .describeNamespace(DescribeNamespaceRequest.newBuilder().setNamespace("default").build());
      return true;
    } catch (StatusRuntimeException notYet) {
      return false;
    }
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      return socket.getLocalPort();
    }
  }
}
