package dev.millrace.replication;

import dev.millrace.control.LogShipping;
import dev.millrace.control.Retention;
import dev.millrace.dev.PostgresServer;
import dev.millrace.failure.Points;
import dev.millrace.lake.FolderLake;
import dev.millrace.lake.FolderLakeSettings;
import dev.millrace.lake.Lake;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.PostgresSettings;
import dev.millrace.postgres.SslMode;
import dev.millrace.run.Admission;
import dev.millrace.run.FailureTranslation;
import dev.millrace.run.LeaseHolder;
import dev.millrace.run.OpenRuns;
import dev.millrace.run.RecordSteps;
import dev.millrace.run.StateDatabase;
import dev.millrace.run.TurnSteps;
import dev.millrace.testing.TestStack;
import dev.millrace.testing.TestTemporal;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.worker.Worker;
import io.temporal.worker.WorkerFactory;
import io.temporal.worker.WorkerFactoryOptions;
import io.temporal.worker.WorkerOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * A worker in this JVM with one activity slot, which runs {@link Holding} beside Millrace's own
 * workflows. Thread-safe.
 */
final class LeaseWorker implements AutoCloseable {
  /** Leases as in production, with heartbeats that a test can wait for. */
  static final LeaseHolder.Pace QUICK =
      new LeaseHolder.Pace(
          Duration.ofMinutes(5), Duration.ofMinutes(1), Duration.ofMillis(200), 50);

  private final WorkerFactory factory;
  private final LeaseHolder leases;
  private final Postgres state;
  private final LogShipping logs;
  private final Lake demoLake;
  private final String taskQueue;

  private LeaseWorker(
      WorkerFactory factory,
      LeaseHolder leases,
      LogShipping logs,
      Postgres state,
      Lake demoLake,
      String taskQueue) {
    this.factory = factory;
    this.leases = leases;
    this.logs = logs;
    this.state = state;
    this.demoLake = demoLake;
    this.taskQueue = taskQueue;
  }

  static LeaseWorker start(String taskQueue, LeaseHolder.Pace pace) {
    return start("worker", taskQueue, new LeaseHolder(state(), TestTemporal.client(), pace));
  }

  /**
   * Starts one.
   *
   * @param identity of the worker, as the server tells it
   * @param leases what holds its leases; closed with it
   */
  static LeaseWorker start(String identity, String taskQueue, LeaseHolder leases) {
    Postgres state = new Postgres(state());
    Lake demoLake =
        new FolderLake(
            new FolderLakeSettings(
                "demo", TestStack.stack().dataDirectory().resolve("demo-" + taskQueue), ""));
    ReplicationSettings settings =
        new ReplicationSettings(
            state,
            state,
            Map.of(),
            Map.of(),
            Map.of(),
            Map.of(),
            demoLake,
            Optional.empty(),
            true,
            new Admission(3, 600, false, 0, null),
            Points.parse(null, true));
    settings.prepareState();
    WorkflowClient client =
        WorkflowClient.newInstance(
            TestTemporal.client().getWorkflowServiceStubs(),
            WorkflowClientOptions.newBuilder(TestTemporal.client().getOptions())
                .setIdentity(identity)
                .build());
    Path walFolder = TestStack.stack().dataDirectory().resolve("wal-" + taskQueue);
    LogShipping logs = LogShipping.start(new StateDatabase(state), walFolder, Retention.NONE);
    WorkerFactory factory =
        WorkerFactory.newInstance(
            client,
            WorkerFactoryOptions.newBuilder()
                .setWorkerInterceptors(new FailureTranslation())
                .build());
    Worker worker =
        factory.newWorker(
            taskQueue,
            WorkerOptions.newBuilder()
                .setMaxConcurrentActivityExecutionSize(1)
                .setDefaultDeadlockDetectionTimeout(Duration.ofSeconds(10).toMillis())
                .build());
    worker.registerWorkflowImplementationTypes(
        HoldingWorkflow.class, ReplicateWorkflow.class, ReplicateTableWorkflow.class);
    worker.registerActivitiesImplementations(
        new TurnSteps(state, leases, new OpenRuns(client), logs),
        new RunSteps(settings, leases),
        new TableSteps(settings),
        new RecordSteps(walFolder, logs));
    factory.start();
    return new LeaseWorker(factory, leases, logs, state, demoLake, taskQueue);
  }

  /** Returns the connection to the state of all tests of this kind. */
  static PostgresSettings state() {
    return state(TestStack.postgres().port());
  }

  static PostgresSettings state(int port) {
    PostgresServer server = TestStack.postgres();
    return new PostgresSettings(
        "appdb",
        "127.0.0.1",
        port,
        PostgresServer.DATABASE,
        PostgresServer.USER,
        server.password(),
        SslMode.DISABLE,
        null,
        4,
        Duration.ofSeconds(10),
        Duration.ofSeconds(60));
  }

  /** Starts a run that takes its turn and holds the lease; its workflow's id is that of the run. */
  WorkflowStub hold(String pipeline, String runId) {
    return start(new Holding.Order(pipeline, runId, null, 60, true));
  }

  /** Starts a run that takes its turn, and whose lease nobody renews. */
  WorkflowStub takeTurn(String pipeline, String runId) {
    return start(new Holding.Order(pipeline, runId, null, 60, false));
  }

  WorkflowStub start(Holding.Order order) {
    return start(order.runId(), order);
  }

  WorkflowStub start(String workflowId, Holding.Order order) {
    WorkflowStub run =
        TestTemporal.client()
            .newUntypedWorkflowStub(
                "Holding",
                WorkflowOptions.newBuilder()
                    .setTaskQueue(taskQueue)
                    .setWorkflowId(workflowId)
                    .build());
    run.start(order);
    return run;
  }

  @Override
  public void close() {
    factory.shutdownNow();
    leases.close();
    factory.awaitTermination(20, TimeUnit.SECONDS);
    logs.close();
    state.close();
    demoLake.close();
  }
}
