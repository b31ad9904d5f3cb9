package dev.millrace.dev;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.client.WorkflowFailedException;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.failure.ApplicationFailure;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.time.Duration;
import java.util.Map;

/** Runs of {@code RefreshDimension}, started and answered as any client does. Not thread-safe. */
final class DemoRefresh implements AutoCloseable {
  private static final String TASK_QUEUE = "millrace";
  private static final Duration BOUND = Duration.ofMinutes(2);

  private final WorkflowServiceStubs service;
  private final WorkflowClient client;

  private DemoRefresh(EmbeddedStack stack, WorkflowServiceStubs service) {
    this.service = service;
    this.client =
        WorkflowClient.newInstance(
            service,
            WorkflowClientOptions.newBuilder().setNamespace(stack.temporal().namespace()).build());
  }

  /** Returns a client of the stack's Temporal server. */
  static DemoRefresh on(EmbeddedStack stack) {
    return new DemoRefresh(
        stack,
        WorkflowServiceStubs.newServiceStubs(
            WorkflowServiceStubsOptions.newBuilder()
                .setTarget(stack.temporal().address())
                .build()));
  }

  /**
   * How a refresh ended.
   *
   * @param outcome published, skipped or rejected, or the code with which it failed
   * @param summary what it says for people
   */
  record Ended(String outcome, String summary) {}

  /**
   * A question that waits.
   *
   * @param digest of it
   * @param rowsBefore rows of the live table
   * @param rowsAfter rows that it would have
   * @param command what a person would paste to approve
   */
  record Asked(String digest, String rowsBefore, String rowsAfter, String command) {}

  /** Returns the input of the demo's refreshes. */
  static Map<String, Object> input() {
    return Map.of(
        "source", "appdb",
        "source_schema", "shop",
        "source_table", "products",
        "clickhouse", "clickhouse",
        "audit", "full");
  }

  /** Starts a refresh. */
  WorkflowStub start(String workflowId) {
    WorkflowStub run =
        client.newUntypedWorkflowStub(
            "RefreshDimension",
            WorkflowOptions.newBuilder()
                .setTaskQueue(TASK_QUEUE)
                .setWorkflowId(workflowId)
                .build());
    run.start(input());
    return run;
  }

  /** Waits until it asks. */
  Asked awaitQuestion(WorkflowStub run) {
    JsonNode[] status = new JsonNode[1];
    boolean asked =
        Waiting.until(
            BOUND,
            () -> {
              status[0] = run.query("status", JsonNode.class);
              return status[0].path("state").asText().equals("waiting_approval");
            });
    if (!asked) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED, "The refresh did not ask; it is at: " + status[0]);
    }
    JsonNode question = status[0].path("question");
    return new Asked(
        question.path("digest").asText(),
        question.path("rowsBefore").asText(),
        question.path("rowsAfter").asText(),
        status[0].path("approve").asText());
  }

  /** Answers, and returns what the refresh says to that. */
  String decide(WorkflowStub run, Asked asked, boolean approved, String reason) {
    return run.update(
        "decide",
        String.class,
        Map.of("approved", approved, "by", "demo", "reason", reason, "digest", asked.digest()));
  }

  /** Waits for its end. */
  Ended await(WorkflowStub run) {
    try {
      JsonNode result = run.getResult(JsonNode.class);
      return new Ended(result.path("outcome").asText(), result.path("summary").asText());
    } catch (WorkflowFailedException e) {
      if (e.getCause() instanceof ApplicationFailure failure) {
        return new Ended(failure.getType(), failure.getOriginalMessage());
      }
      throw new MillraceException(ErrorCode.INTERNAL, "The refresh failed: " + e.getCause(), e);
    }
  }

  @Override
  public void close() {
    service.shutdownNow();
  }
}
