package dev.millrace.testing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.app.Configuration;
import dev.millrace.app.Worker;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.UnaryOperator;

/**
 * A worker in this JVM on the shared stack, with a task queue of its own, and runs that are started
 * on it as the Temporal CLI starts them.
 *
 * <p>Thread-safe.
 */
public final class TestWorker implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();

  private final Worker worker;
  private final WorkflowServiceStubs service;
  private final WorkflowClient client;
  private final String taskQueue;

  private TestWorker(
      Worker worker, WorkflowServiceStubs service, WorkflowClient client, String taskQueue) {
    this.worker = worker;
    this.service = service;
    this.client = client;
    this.taskQueue = taskQueue;
  }

  private static final class Shared {
    private static final TestWorker WORKER = start();

    private static TestWorker start() {
      TestWorker started = TestWorker.start(text -> text, Map.of());
      TestStack.stack().attach(started);
      return started;
    }
  }

  /** Returns the worker with the stack's own configuration that all tests of this JVM share. */
  public static TestWorker shared() {
    return Shared.WORKER;
  }

  /**
   * Starts a worker with another configuration.
   *
   * @param change makes it from the text of the stack's configuration
   * @param environment what references find beside the process's own variables
   */
  public static TestWorker start(UnaryOperator<String> change, Map<String, String> environment) {
    String taskQueue = "millrace-" + UUID.randomUUID();
    Map<String, String> variables = new HashMap<>(System.getenv());
    variables.putAll(environment);
    Configuration configuration = Configuration.load(file(change, taskQueue), variables);
    Worker worker = Worker.start(configuration, variables);
    WorkflowServiceStubs service =
        WorkflowServiceStubs.newServiceStubs(
            WorkflowServiceStubsOptions.newBuilder()
                .setTarget(TestStack.temporal().address())
                .build());
    WorkflowClient client =
        WorkflowClient.newInstance(
            service,
            WorkflowClientOptions.newBuilder()
                .setNamespace(configuration.temporal().namespace())
                .build());
    return new TestWorker(worker, service, client, taskQueue);
  }

  private static Path file(UnaryOperator<String> change, String taskQueue) {
    try {
      String text =
          Files.readString(TestStack.configuration())
              .replace("task_queue: millrace", "task_queue: " + taskQueue);
      Path file = Files.createTempFile("millrace", ".yaml");
      file.toFile().deleteOnExit();
      return Files.writeString(file, change.apply(text));
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Returns a client of the worker's namespace. */
  public WorkflowClient client() {
    return client;
  }

  /** Returns the task queue that this worker alone polls. */
  public String taskQueue() {
    return taskQueue;
  }

  /**
   * Starts a run of real tables without lag.
   *
   * @param tables the list as JSON, such as {@code ["s.t"]}
   * @param more further fields as JSON; they win over the given ones
   */
  public TestRun replicate(String pipeline, String tables, String more) {
    String json =
        """
        {"demo_mode": false, "source": "appdb", "lake": "lake", "lag": "PT0S", "tables": %s%s,
         "pipeline": "%s"}"""
            .formatted(tables, more.isEmpty() ? "" : ", " + more, pipeline);
    return start("Replicate", json(json));
  }

  /** Starts a run of real tables without lag. */
  public TestRun replicate(String pipeline, String tables) {
    return replicate(pipeline, tables, "");
  }

  /** Starts a workflow with arguments as they are. */
  public TestRun start(String type, Object... arguments) {
    String workflowId = "test-" + UUID.randomUUID();
    WorkflowStub stub =
        client.newUntypedWorkflowStub(
            type,
            WorkflowOptions.newBuilder().setTaskQueue(taskQueue).setWorkflowId(workflowId).build());
    stub.start(arguments);
    return new TestRun(client, stub, workflowId);
  }

  /** Reads JSON. A field given twice has its last value. */
  public static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException exception) {
      throw new IllegalArgumentException(text, exception);
    }
  }

  @Override
  public void close() {
    worker.close();
    service.shutdownNow();
  }
}
