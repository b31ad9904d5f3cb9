package dev.millrace.refresh;

import com.google.protobuf.ByteString;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import io.grpc.StatusRuntimeException;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryRequest;
import io.temporal.api.workflowservice.v1.GetWorkflowExecutionHistoryResponse;
import io.temporal.client.WorkflowClient;
import java.util.concurrent.TimeUnit;

/**
 * Finds out who sent an answer: the server notes the client's identity with each signal and update.
 * Thread-safe.
 */
final class DecisionHistory {
  private static final String SIGNAL = "approve";
  private static final int CALL_SECONDS = 10;

  private final WorkflowClient client;

  DecisionHistory(WorkflowClient client) {
    this.client = client;
  }

  /**
   * Returns the identity of the client that sent an answer.
   *
   * @return empty when the history does not have it
   * @throws MillraceException with {@code TEMPORAL_UNAVAILABLE}
   */
  String identity(WorkflowExecution execution, Approval.Origin origin) {
    int signals = 0;
    ByteString page = ByteString.EMPTY;
    do {
      GetWorkflowExecutionHistoryResponse response = read(execution, page);
      for (HistoryEvent event : response.getHistory().getEventsList()) {
        if (event.hasWorkflowExecutionSignaledEventAttributes()
            && event.getWorkflowExecutionSignaledEventAttributes().getSignalName().equals(SIGNAL)
            && ++signals == origin.signal()) {
          return event.getWorkflowExecutionSignaledEventAttributes().getIdentity();
        }
        if (isUpdate(event, origin.updateId())) {
          return event
              .getWorkflowExecutionUpdateAcceptedEventAttributes()
              .getAcceptedRequest()
              .getMeta()
              .getIdentity();
        }
      }
      page = response.getNextPageToken();
    } while (!page.isEmpty());
    return "";
  }

  private static boolean isUpdate(HistoryEvent event, String updateId) {
    return updateId != null
        && event.hasWorkflowExecutionUpdateAcceptedEventAttributes()
        && event
            .getWorkflowExecutionUpdateAcceptedEventAttributes()
            .getAcceptedRequest()
            .getMeta()
            .getUpdateId()
            .equals(updateId);
  }

  private GetWorkflowExecutionHistoryResponse read(WorkflowExecution execution, ByteString page) {
    try {
      return client
          .getWorkflowServiceStubs()
          .blockingStub()
          .withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS)
          .getWorkflowExecutionHistory(
              GetWorkflowExecutionHistoryRequest.newBuilder()
                  .setNamespace(client.getOptions().getNamespace())
                  .setExecution(execution)
                  .setNextPageToken(page)
                  .build());
    } catch (StatusRuntimeException exception) {
      throw new MillraceException(
          ErrorCode.TEMPORAL_UNAVAILABLE,
          "Temporal does not show the history of workflow %s: %s"
              .formatted(execution.getWorkflowId(), exception.getStatus()),
          exception);
    }
  }
}
