package dev.millrace.testing;

import com.fasterxml.jackson.databind.JsonNode;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.api.sdk.v1.WorkflowMetadata;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowExecutionDescription;
import io.temporal.client.WorkflowFailedException;
import io.temporal.client.WorkflowStub;
import io.temporal.failure.ApplicationFailure;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A workflow that a test started, or the child of one. Thread-safe. */
public final class TestRun {
  /** Far beyond what any run of a test takes: it ends a test that would hang. */
  private static final long BOUND_SECONDS = 3_600;

  private final WorkflowClient client;
  private final WorkflowStub stub;
  private final String workflowId;

  TestRun(WorkflowClient client, WorkflowStub stub, String workflowId) {
    this.client = client;
    this.stub = stub;
    this.workflowId = workflowId;
  }

  /** Returns its workflow id. */
  public String workflowId() {
    return workflowId;
  }

  /** Returns the child of a table. */
  public TestRun child(String table) {
    String childId = workflowId + "/" + table;
    return new TestRun(client, client.newUntypedWorkflowStub(childId), childId);
  }

  /** Waits for the end, which has to be a good one, and returns the result. */
  public JsonNode result() {
    try {
      return stub.getResult(BOUND_SECONDS, TimeUnit.SECONDS, JsonNode.class);
    } catch (TimeoutException exception) {
      throw new IllegalStateException(workflowId + " does not end", exception);
    }
  }

  /** Waits for the end and returns what the only table came to. */
  public JsonNode onlyTable() {
    JsonNode results = result().get("results");
    if (results.size() != 1) {
      throw new IllegalStateException("not one table: " + results);
    }
    return results.get(0);
  }

  /** Waits for the end, which has to be a failure, and returns it. */
  public ApplicationFailure failure() {
    try {
      JsonNode result = result();
      throw new IllegalStateException(workflowId + " went well: " + result);
    } catch (WorkflowFailedException exception) {
      if (exception.getCause() instanceof ApplicationFailure failure) {
        return failure;
      }
      throw exception;
    }
  }

  /** Waits for the end and returns the status. */
  public WorkflowExecutionStatus end() {
    try {
      result();
    } catch (WorkflowFailedException exception) {
      // The status tells how it ended.
      return describe().getStatus();
    }
    return describe().getStatus();
  }

  /** Asks for its cancellation. */
  public void cancel() {
    stub.cancel();
  }

  /** Returns what the server tells of it now. */
  public WorkflowExecutionDescription describe() {
    return stub.describe();
  }

  /** Returns its events so far. */
  public List<HistoryEvent> history() {
    return client.fetchHistory(workflowId).getEvents();
  }

  /** Returns the events of one kind. */
  public List<HistoryEvent> history(EventType type) {
    return history().stream().filter(event -> event.getEventType() == type).toList();
  }

  /** Returns the details that the UI shows of it now. */
  public WorkflowMetadata metadata() {
    return stub.query("__temporal_workflow_metadata", WorkflowMetadata.class);
  }
}
