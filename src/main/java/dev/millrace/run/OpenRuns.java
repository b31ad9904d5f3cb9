package dev.millrace.run;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.workflow.v1.WorkflowExecutionInfo;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionRequest;
import io.temporal.client.WorkflowClient;
import io.temporal.common.converter.DataConverterException;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Asks Temporal whether the workflow of a run is open. Thread-safe. */
public final class OpenRuns {
  /** The field of {@code control.run.extra} that leads to the workflow of a run. */
  static final String TEMPORAL = "temporal";

  /** The field of a workflow's memo that names its run. */
  private static final String RUN_ID = "run_id";

  private static final int CALL_SECONDS = 10;

  private final WorkflowClient client;

  /** Makes one that asks the server of a client, for runs of any of its namespaces. */
  public OpenRuns(WorkflowClient client) {
    this.client = client;
  }

  /**
   * Returns whether the workflow of a run is open.
   *
   * @param runId the run
   * @param extra what {@code control.run} has of it: {@code {"temporal": {"namespace":…,
   *     "workflow_id":…}}}; without that it is no run of Temporal, and false
   * @throws MillraceException with {@code TEMPORAL_UNAVAILABLE} when the server doesn't say
   */
  public boolean isOpen(String runId, JsonNode extra) {
    JsonNode temporal = extra.path(TEMPORAL);
    String namespace = temporal.path("namespace").asText();
    String workflowId = temporal.path("workflow_id").asText();
    return !namespace.isEmpty() && !workflowId.isEmpty() && isOpen(runId, namespace, workflowId);
  }

  /**
   * Returns whether the workflow of a run of our own namespace is open.
   *
   * @throws MillraceException with {@code TEMPORAL_UNAVAILABLE} when the server doesn't say
   */
  public boolean isOpenHere(String runId, String workflowId) {
    return isOpen(runId, client.getOptions().getNamespace(), workflowId);
  }

  /**
   * The newest execution of a workflow id is the only one that can be open. It need not be the one
   * that began the run: a run goes on when it is continued as new or reset. It need not be of this
   * run either: a cron schedule, or a person, starts the next one under the same id. The memo tells
   * which run it is; until it does, it may be ours.
   */
  private boolean isOpen(String runId, String namespace, String workflowId) {
    return newest(namespace, workflowId)
        .filter(execution -> !execution.hasCloseTime())
        .filter(execution -> runOf(execution).map(runId::equals).orElse(true))
        .isPresent();
  }

  private Optional<WorkflowExecutionInfo> newest(String namespace, String workflowId) {
    try {
      return Optional.of(
          client
              .getWorkflowServiceStubs()
              .blockingStub()
              .withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS)
              .describeWorkflowExecution(
                  DescribeWorkflowExecutionRequest.newBuilder()
                      .setNamespace(namespace)
                      .setExecution(WorkflowExecution.newBuilder().setWorkflowId(workflowId))
                      .build())
              .getWorkflowExecutionInfo());
    } catch (StatusRuntimeException exception) {
      if (exception.getStatus().getCode() == Status.Code.NOT_FOUND) {
        return Optional.empty();
      }
      throw new MillraceException(
          ErrorCode.TEMPORAL_UNAVAILABLE,
          "Temporal does not say whether workflow %s of namespace %s is open: %s"
              .formatted(workflowId, namespace, exception.getStatus()),
          exception);
    }
  }

  private Optional<String> runOf(WorkflowExecutionInfo execution) {
    Payload told = execution.getMemo().getFieldsMap().get(RUN_ID);
    if (told == null) {
      return Optional.empty();
    }
    try {
      return Optional.ofNullable(
          client.getOptions().getDataConverter().fromPayload(told, String.class, String.class));
    } catch (DataConverterException exception) {
      return Optional.empty();
    }
  }
}
