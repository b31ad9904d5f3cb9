package dev.millrace.testing;

import com.fasterxml.jackson.databind.JsonNode;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.sdk.v1.WorkflowMetadata;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionResponse;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.client.WorkflowFailedException;
import io.temporal.client.WorkflowStub;
import io.temporal.failure.ApplicationFailure;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The Temporal server of {@link TestStack}, seen by a client. Thread-safe. */
public final class TestTemporal {
  /** Longer than any run of a test, a lost heartbeat or three included. */
  private static final Duration RESULT_BOUND = Duration.ofMinutes(5);

  private TestTemporal() {}

  private static final class Shared {
    static final WorkflowClient CLIENT = connect(TestStack.temporal().address());
  }

  /** Returns a client of a server in namespace {@code default}; it lives as long as the JVM. */
  public static WorkflowClient connect(String address) {
    return WorkflowClient.newInstance(
        WorkflowServiceStubs.newServiceStubs(
            WorkflowServiceStubsOptions.newBuilder().setTarget(address).build()),
        WorkflowClientOptions.newBuilder().setNamespace("default").build());
  }

  /** Returns the client of the shared server. */
  public static WorkflowClient client() {
    return Shared.CLIENT;
  }

  /** Returns what the server knows of a workflow. */
  public static DescribeWorkflowExecutionResponse describe(String workflowId) {
    return client()
        .getWorkflowServiceStubs()
        .blockingStub()
        .describeWorkflowExecution(
            DescribeWorkflowExecutionRequest.newBuilder()
                .setNamespace("default")
                .setExecution(WorkflowExecution.newBuilder().setWorkflowId(workflowId))
                .build());
  }

  /** Returns whether a workflow runs, or how it ended. */
  public static WorkflowExecutionStatus status(String workflowId) {
    return describe(workflowId).getWorkflowExecutionInfo().getStatus();
  }

  /** Returns the search attribute MillraceState; empty when it has none. */
  public static String state(String workflowId) {
    return describe(workflowId)
        .getWorkflowExecutionInfo()
        .getSearchAttributes()
        .getIndexedFieldsOrDefault("MillraceState", Payload.getDefaultInstance())
        .getData()
        .toStringUtf8()
        .replace("\"", "");
  }

  /** Returns the activities of a workflow that run or wait for their next attempt. */
  public static List<PendingActivityInfo> pendingActivities(String workflowId) {
    return describe(workflowId).getPendingActivitiesList();
  }

  /** Returns the attempt of the only pending activity of a type; 0 when there is none. */
  public static int attempt(String workflowId, String activityType) {
    return pendingActivities(workflowId).stream()
        .filter(activity -> activity.getActivityType().getName().equals(activityType))
        .mapToInt(PendingActivityInfo::getAttempt)
        .findFirst()
        .orElse(0);
  }

  /** Returns the number of events of a workflow's history. */
  public static int events(String workflowId) {
    return client().fetchHistory(workflowId).getEvents().size();
  }

  /** Returns what the UI shows as the current details. */
  public static String currentDetails(String workflowId) {
    return client()
        .newUntypedWorkflowStub(workflowId)
        .query("__temporal_workflow_metadata", WorkflowMetadata.class)
        .getCurrentDetails();
  }

  /** Waits for a run's result. */
  public static JsonNode result(WorkflowStub run) {
    try {
      return run.getResult(RESULT_BOUND.toSeconds(), TimeUnit.SECONDS, JsonNode.class);
    } catch (TimeoutException exception) {
      throw new AssertionError(
          "%s has no result%n%s"
              .formatted(run.getExecution(), describe(run.getExecution().getWorkflowId())),
          exception);
    }
  }

  /** Waits until a run fails, and returns why. */
  public static ApplicationFailure failure(WorkflowStub run) {
    try {
      throw new AssertionError("the run went well: " + result(run));
    } catch (WorkflowFailedException failed) {
      if (failed.getCause() instanceof ApplicationFailure failure) {
        return failure;
      }
      throw new AssertionError("the run did not fail in a way of its own", failed);
    }
  }

  /** Returns the details of a failed run, the same object that a good one returns. */
  public static JsonNode details(ApplicationFailure failure) {
    return failure.getDetails().get(JsonNode.class);
  }
}
