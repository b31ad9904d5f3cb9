package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import com.google.protobuf.util.Durations;
import dev.millrace.testing.Appdb;
import dev.millrace.testing.Await;
import dev.millrace.testing.Logs;
import dev.millrace.testing.TestRun;
import dev.millrace.testing.TestStack;
import dev.millrace.testing.TestWorker;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.workflowservice.v1.CountWorkflowExecutionsRequest;
import io.temporal.api.workflowservice.v1.RegisterNamespaceRequest;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A namespace that does not have Millrace's search attributes. */
class SearchAttributesIT {
  private static final String NAMESPACE = "without-attributes";

  private static void registerNamespace() {
    WorkflowServiceStubs service =
        WorkflowServiceStubs.newServiceStubs(
            WorkflowServiceStubsOptions.newBuilder()
                .setTarget(TestStack.temporal().address())
                .build());
    try {
      service
          .blockingStub()
          .registerNamespace(
              RegisterNamespaceRequest.newBuilder()
                  .setNamespace(NAMESPACE)
                  .setWorkflowExecutionRetentionPeriod(Durations.fromDays(1))
                  .build());
      Await.until("the namespace is known", () -> known(service));
    } finally {
      service.shutdownNow();
    }
  }

  private static boolean known(WorkflowServiceStubs service) {
    try {
      service
          .blockingStub()
          .countWorkflowExecutions(
              CountWorkflowExecutionsRequest.newBuilder().setNamespace(NAMESPACE).build());
      return true;
    } catch (StatusRuntimeException exception) {
      return false;
    }
  }

  @Test
  void runsGoOnWithoutThemAndTheWorkerTellsTheCommandOnce() {
    Appdb.execute(
        """
        CREATE SCHEMA attributes_it;
        CREATE TABLE attributes_it.t (id int, updated_at timestamptz NOT NULL);
        INSERT INTO attributes_it.t VALUES (1, now())""");
    registerNamespace();
    try (Logs logs = Logs.listen();
        TestWorker worker =
            TestWorker.start(
                text -> text.replace("namespace: default", "namespace: " + NAMESPACE), Map.of())) {
      TestRun run = worker.replicate("attributes", "[\"attributes_it.t\"]");
      assertThat(run.onlyTable().get("rows").longValue()).isEqualTo(1);
      assertThat(run.history(EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED)).isEmpty();
      assertThat(logs.messages(Level.WARN))
          .filteredOn(line -> line.contains("search-attribute"))
          .singleElement()
          .asString()
          .contains(
              "temporal operator search-attribute create --namespace without-attributes"
                  + " --name MillracePipeline --type Keyword --name MillraceTable --type Keyword"
                  + " --name MillraceState --type Keyword");
    }
  }
}
