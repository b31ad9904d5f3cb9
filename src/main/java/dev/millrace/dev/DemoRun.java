package dev.millrace.dev;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.WorkflowExecutionStatus;
import io.temporal.api.workflow.v1.PendingActivityInfo;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionRequest;
import io.temporal.api.workflowservice.v1.DescribeWorkflowExecutionResponse;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.client.WorkflowFailedException;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.failure.ApplicationFailure;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** Runs of {@code Replicate}, started and followed as any Temporal client does. Not thread-safe. */
final class DemoRun implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String TASK_QUEUE = "millrace";
  private static final String TYPE = "Replicate";
  private static final Duration BOUND = Duration.ofMinutes(60);
  private static final Duration BETWEEN_LINES = Duration.ofSeconds(1);
  private static final long POLL_MILLIS = 250;
  private static final long CALL_SECONDS = 10;

  private final EmbeddedStack stack;
  private final WorkflowServiceStubs service;
  private final WorkflowClient client;

  private DemoRun(EmbeddedStack stack, WorkflowServiceStubs service) {
    this.stack = stack;
    this.service = service;
    this.client =
        WorkflowClient.newInstance(
            service,
            WorkflowClientOptions.newBuilder().setNamespace(stack.temporal().namespace()).build());
  }

  /**
   * What a run did to a table.
   *
   * @param table {@code schema.table}
   * @param rows rows published
   * @param bytes size of the object
   * @param object its address; empty when there were no rows
   */
  record Written(String table, long rows, long bytes, Optional<String> object) {}

  /** Returns a client of the stack's Temporal server. */
  static DemoRun on(EmbeddedStack stack) {
    return new DemoRun(
        stack,
        WorkflowServiceStubs.newServiceStubs(
            WorkflowServiceStubsOptions.newBuilder()
                .setTarget(stack.temporal().address())
                .build()));
  }

  /** Returns the input of the demo's runs, as JSON. */
  static String input() {
    try {
      return JSON.writeValueAsString(fields());
    } catch (JsonProcessingException e) {
      throw new MillraceException(ErrorCode.INTERNAL, "The input can't be written as JSON", e);
    }
  }

  /**
   * Starts a run and waits for its end.
   *
   * @param workflowId its workflow id
   * @param progress is told about once a second how far it is
   * @return what was written, one for each table
   * @throws MillraceException {@code TABLES_FAILED} and the like when the run failed; {@code
   *     STACK_FAILED} when a part of the stack ended
   */
  List<Written> run(String workflowId, Consumer<String> progress) {
    WorkflowStub run =
        client.newUntypedWorkflowStub(
            TYPE,
            WorkflowOptions.newBuilder()
                .setTaskQueue(TASK_QUEUE)
                .setWorkflowId(workflowId)
                .build());
    run.start(fields());
    follow(run.getExecution(), progress);
    try {
      return written(run.getResult(CALL_SECONDS, TimeUnit.SECONDS, JsonNode.class));
    } catch (WorkflowFailedException e) {
      throw new MillraceException(code(e), "The run failed: " + cause(e), e);
    } catch (TimeoutException e) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED, "Temporal does not tell the result of " + workflowId, e);
    }
  }

  @Override
  public void close() {
    service.shutdownNow();
  }

  private static Map<String, Object> fields() {
    return Map.of(
        "demo_mode", false,
        "pipeline", "shop",
        "source", "appdb",
        "lake", "lake",
        "lag", "PT0S",
        "tables", DemoTables.NAMES);
  }

  private void follow(WorkflowExecution run, Consumer<String> progress) {
    long begin = System.nanoTime();
    long nextLine = begin + BETWEEN_LINES.toNanos();
    String told = "";
    while (isRunning(describe(run))) {
      long now = System.nanoTime();
      requireGoingOn(run, now - begin);
      if (now - nextLine > 0) {
        String line = tables(run);
        if (!line.equals(told)) {
          progress.accept(line);
          told = line;
        }
        nextLine = now + BETWEEN_LINES.toNanos();
      }
      pause();
    }
  }

  private void requireGoingOn(WorkflowExecution run, long nanos) {
    if (stack.failure().isDone()) {
      throw new MillraceException(ErrorCode.STACK_FAILED, stack.failure().join());
    }
    if (nanos > BOUND.toNanos()) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED,
          "Workflow %s did not end within %d minutes; it was at: %s"
              .formatted(run.getWorkflowId(), BOUND.toMinutes(), tables(run)));
    }
  }

  /** Returns in one line what each table is at. */
  private String tables(WorkflowExecution run) {
    List<String> states = new ArrayList<>();
    boolean begun = false;
    for (String table : DemoTables.NAMES) {
      String name = table.substring(table.indexOf('.') + 1);
      Optional<String> state = state(run.getWorkflowId() + "/" + table);
      begun |= state.isPresent();
      states.add(name + " " + state.orElse("waits"));
    }
    return begun ? String.join(", ", states) : "the run " + ownStep(describe(run));
  }

  /** Returns what the run itself is at, before its tables. */
  private static String ownStep(DescribeWorkflowExecutionResponse described) {
    return described.getPendingActivitiesList().stream()
        .findFirst()
        .map(activity -> "is at " + step(activity))
        .orElse("begins");
  }

  private Optional<String> state(String child) {
    DescribeWorkflowExecutionResponse described;
    try {
      described = describe(WorkflowExecution.newBuilder().setWorkflowId(child).build());
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() == Status.Code.NOT_FOUND) {
        return Optional.empty();
      }
      throw e;
    }
    if (isRunning(described)) {
      return Optional.of(
          described.getPendingActivitiesList().stream()
              .findFirst()
              .map(DemoRun::step)
              .orElse("running"));
    }
    boolean well =
        described.getWorkflowExecutionInfo().getStatus()
            == WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_COMPLETED;
    return Optional.of(well ? "done" : "failed");
  }

  private static String step(PendingActivityInfo activity) {
    String type = activity.getActivityType().getName();
    StringBuilder text =
        new StringBuilder(type.replaceFirst("^(Table|Run)", "").toLowerCase(Locale.ROOT));
    long rows = rowsSoFar(activity);
    if (rows > 0) {
      text.append(String.format(Locale.ROOT, " (%,d rows so far)", rows));
    }
    if (activity.getAttempt() > 1) {
      text.append(
          " (attempt %d: %s)"
              .formatted(activity.getAttempt(), activity.getLastFailure().getMessage()));
    }
    return text.toString();
  }

  private static long rowsSoFar(PendingActivityInfo activity) {
    if (activity.getHeartbeatDetails().getPayloadsCount() == 0) {
      return 0;
    }
    try {
      String details = activity.getHeartbeatDetails().getPayloads(0).getData().toStringUtf8();
      return JSON.readTree(details).path("rows").asLong();
    } catch (JsonProcessingException e) {
      return 0;
    }
  }

  private DescribeWorkflowExecutionResponse describe(WorkflowExecution execution) {
    return service
        .blockingStub()
        .withDeadlineAfter(CALL_SECONDS, TimeUnit.SECONDS)
        .describeWorkflowExecution(
            DescribeWorkflowExecutionRequest.newBuilder()
                .setNamespace(stack.temporal().namespace())
                .setExecution(execution)
                .build());
  }

  private static boolean isRunning(DescribeWorkflowExecutionResponse described) {
    return described.getWorkflowExecutionInfo().getStatus()
        == WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;
  }

  private static void pause() {
    try {
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MillraceException(ErrorCode.STACK_FAILED, "The demo was interrupted", e);
    }
  }

  private static List<Written> written(JsonNode result) {
    List<Written> written = new ArrayList<>();
    for (JsonNode table : result.path("results")) {
      written.add(
          new Written(
              table.path("table").asText(),
              table.path("rows").asLong(),
              table.path("bytes").asLong(),
              Optional.ofNullable(table.path("object").textValue())));
    }
    return written;
  }

  private static String cause(WorkflowFailedException e) {
    return e.getCause() instanceof ApplicationFailure failure
        ? failure.getOriginalMessage()
        : String.valueOf(e.getCause());
  }

  private static ErrorCode code(WorkflowFailedException e) {
    if (e.getCause() instanceof ApplicationFailure failure) {
      for (ErrorCode code : ErrorCode.values()) {
        if (code.name().equals(failure.getType())) {
          return code;
        }
      }
    }
    return ErrorCode.INTERNAL;
  }
}
