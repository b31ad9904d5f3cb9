package dev.millrace.app;

import dev.millrace.clickhouse.ClickHouse;
import dev.millrace.control.LogShipping;
import dev.millrace.control.Retention;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Points;
import dev.millrace.lake.FolderLake;
import dev.millrace.lake.FolderLakeSettings;
import dev.millrace.lake.Lake;
import dev.millrace.notify.Slack;
import dev.millrace.parquet.FileFormat;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.PostgresSettings;
import dev.millrace.postgres.RowFilter;
import dev.millrace.postgres.TableName;
import dev.millrace.refresh.RefreshDimensionWorkflow;
import dev.millrace.refresh.RefreshSettings;
import dev.millrace.refresh.RefreshSteps;
import dev.millrace.replication.ReplicateTableWorkflow;
import dev.millrace.replication.ReplicateWorkflow;
import dev.millrace.replication.ReplicationSettings;
import dev.millrace.replication.RunSteps;
import dev.millrace.replication.TableSteps;
import dev.millrace.run.Admission;
import dev.millrace.run.AlertSteps;
import dev.millrace.run.FailureTranslation;
import dev.millrace.run.LeaseHolder;
import dev.millrace.run.OpenRuns;
import dev.millrace.run.RecordSteps;
import dev.millrace.run.SearchAttribute;
import dev.millrace.run.StateDatabase;
import dev.millrace.run.TurnSteps;
import io.temporal.client.WorkflowClient;
import io.temporal.common.SearchAttributeKey;
import io.temporal.worker.WorkerFactory;
import io.temporal.worker.WorkerFactoryOptions;
import io.temporal.worker.WorkerOptions;
import java.net.URI;
import java.time.Duration;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A worker at work: it polls the task queue until it is closed. Thread-safe. */
public final class Worker implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Worker.class);

  /** So that the UI shows progress, and a cancellation arrives, within seconds. */
  private static final Duration HEARTBEATS = Duration.ofSeconds(5);

  /**
   * The SDK takes a workflow thread that is busy for a second for a deadlock, and the first ones of
   * a worker load classes: on a loaded host that cost runs a failed workflow task and ten seconds.
   */
  private static final Duration DEADLOCK = Duration.ofSeconds(10);

  private static final long SHUTDOWN_SECONDS = 20;

  private final TemporalConnection temporal;
  private final WorkerFactory factory;
  private final LeaseHolder leases;
  private final LogShipping logs;
  private final Postgres state;
  private final Map<String, Postgres> postgres;
  private final Map<String, ClickHouse> clickHouses;
  private final Map<String, Lake> lakes;
  private final Lake demoLake;

  private Worker(
      TemporalConnection temporal,
      WorkerFactory factory,
      LeaseHolder leases,
      LogShipping logs,
      Postgres state,
      Map<String, Postgres> postgres,
      Map<String, ClickHouse> clickHouses,
      Map<String, Lake> lakes,
      Lake demoLake) {
    this.temporal = temporal;
    this.factory = factory;
    this.leases = leases;
    this.logs = logs;
    this.state = state;
    this.postgres = postgres;
    this.clickHouses = clickHouses;
    this.lakes = lakes;
    this.demoLake = demoLake;
  }

  /**
   * Starts a worker.
   *
   * @param environment of the process, for {@code MILLRACE_POINTS}
   * @throws MillraceException with {@code TEMPORAL_UNAVAILABLE}, {@code POSTGRES_REFUSED} and the
   *     like when what the configuration names can't be used
   */
  public static Worker start(Configuration configuration, Map<String, String> environment) {
    Points points =
        Points.parse(
            environment.get(Points.VARIABLE),
            configuration.stack() != Configuration.Stack.PRODUCTION);
    TemporalConnection temporal = new TemporalConnection(configuration.temporal());
    try {
      temporal.check();
      return start(configuration, temporal, points);
    } catch (RuntimeException exception) {
      temporal.close();
      throw exception;
    }
  }

  private static Worker start(
      Configuration configuration, TemporalConnection temporal, Points points) {
    Map<String, Postgres> postgres = connections(configuration);
    // A pool of its own: extracts hold connections of the source while they ask the state.
    PostgresSettings stateSettings =
        Adapters.postgres(
            configuration.state(), configuration.postgres().get(configuration.state()));
    Postgres state = new Postgres(stateSettings);
    Map<String, Lake> lakes = lakes(configuration);
    Lake demoLake = new FolderLake(new FolderLakeSettings("demo", configuration.demoFolder(), ""));
    ReplicationSettings settings =
        new ReplicationSettings(
            state,
            postgres.get(configuration.state()),
            postgres,
            filters(configuration),
            lakes,
            formats(configuration),
            demoLake,
            configuration.slackWebhook().map(webhook -> new Slack(URI.create(webhook.value()))),
            configuration.allowDemo(),
            new Admission(
                configuration.limits().maxAttempts(),
                configuration.limits().tableTimeout().toSeconds(),
                hasSearchAttributes(configuration, temporal),
                configuration.limits().runTimeout().map(Duration::toSeconds).orElse(0L),
                configuration.businessTimeZone().map(ZoneId::getId).orElse(null)),
            points);
    prepareState(settings);
    Map<String, ClickHouse> clickHouses = clickHouses(configuration);
    RefreshSettings refreshes =
        new RefreshSettings(
            state,
            seen(configuration, postgres),
            clickHouses,
            configuration.approvers(),
            settings.admission(),
            points);
    WorkflowClient client = temporal.client();
    LeaseHolder leases = new LeaseHolder(stateSettings, client, LeaseHolder.Pace.PRODUCTION);
    Configuration.Control control = configuration.control();
    LogShipping logs =
        LogShipping.start(
            new StateDatabase(state),
            control.walFolder(),
            new Retention(control.keepWal(), control.keepRuns()));
    WorkerFactory factory =
        WorkerFactory.newInstance(
            client,
            WorkerFactoryOptions.newBuilder()
                .setWorkerInterceptors(new FailureTranslation())
                .build());
    io.temporal.worker.Worker worker =
        factory.newWorker(
            configuration.temporal().taskQueue(),
            WorkerOptions.newBuilder()
                .setMaxHeartbeatThrottleInterval(HEARTBEATS)
                .setDefaultHeartbeatThrottleInterval(HEARTBEATS)
                .setDefaultDeadlockDetectionTimeout(DEADLOCK.toMillis())
                .build());
    worker.registerWorkflowImplementationTypes(
        ReplicateWorkflow.class, ReplicateTableWorkflow.class, RefreshDimensionWorkflow.class);
    worker.registerActivitiesImplementations(
        new TurnSteps(state, leases, new OpenRuns(client), logs),
        new AlertSteps(settings.slack()),
        new RunSteps(settings, leases),
        new TableSteps(settings),
        new RefreshSteps(refreshes, leases, client),
        new RecordSteps(control.walFolder(), logs));
    factory.start();
    LOG.info(
        "worker polls task queue {} of {}, namespace {}",
        configuration.temporal().taskQueue(),
        configuration.temporal().address(),
        configuration.temporal().namespace());
    return new Worker(
        temporal, factory, leases, logs, state, postgres, clickHouses, lakes, demoLake);
  }

  private static Map<String, Postgres> connections(Configuration configuration) {
    Map<String, Postgres> connections = new LinkedHashMap<>();
    configuration
        .postgres()
        .forEach(
            (name, connection) ->
                connections.put(name, new Postgres(Adapters.postgres(name, connection))));
    return connections;
  }

  private static Map<String, ClickHouse> clickHouses(Configuration configuration) {
    Map<String, ClickHouse> connections = new LinkedHashMap<>();
    configuration
        .clickHouse()
        .forEach(
            (name, connection) ->
                connections.put(name, new ClickHouse(Adapters.clickHouse(name, connection))));
    return connections;
  }

  private static Map<String, RefreshSettings.Source> seen(
      Configuration configuration, Map<String, Postgres> postgres) {
    Map<String, RefreshSettings.Source> sources = new LinkedHashMap<>();
    configuration
        .postgres()
        .forEach(
            (name, connection) ->
                sources.put(
                    name,
                    new RefreshSettings.Source(postgres.get(name), Adapters.seen(connection))));
    return sources;
  }

  private static Map<String, Map<TableName, RowFilter>> filters(Configuration configuration) {
    Map<String, Map<TableName, RowFilter>> filters = new LinkedHashMap<>();
    configuration.postgres().forEach((name, connection) -> filters.put(name, connection.filters()));
    return filters;
  }

  private static Map<String, FileFormat> formats(Configuration configuration) {
    Map<String, FileFormat> formats = new LinkedHashMap<>();
    configuration.lakes().forEach((name, store) -> formats.put(name, store.format()));
    return formats;
  }

  private static Map<String, Lake> lakes(Configuration configuration) {
    Map<String, Lake> lakes = new LinkedHashMap<>();
    configuration.lakes().forEach((name, store) -> lakes.put(name, Adapters.lake(name, store)));
    return lakes;
  }

  /** Makes the schemas of the state; each run does so, too, so a passing fault is only told. */
  private static void prepareState(ReplicationSettings settings) {
    try {
      settings.prepareState();
    } catch (MillraceException exception) {
      if (!exception.code().retryable()) {
        throw exception;
      }
      LOG.warn("the state can't be reached yet: {}", exception.getMessage());
    }
  }

  private static boolean hasSearchAttributes(
      Configuration configuration, TemporalConnection temporal) {
    Set<String> known = temporal.searchAttributes();
    List<String> missing =
        List.of(SearchAttribute.PIPELINE, SearchAttribute.TABLE, SearchAttribute.STATE).stream()
            .map(SearchAttributeKey::getName)
            .filter(name -> !known.contains(name))
            .toList();
    if (missing.isEmpty()) {
      return true;
    }
    LOG.warn(
        "runs can't be found by search attributes until they are added and workers restarted:"
            + " temporal operator search-attribute create --namespace {} {}",
        configuration.temporal().namespace(),
        missing.stream()
            .map(name -> "--name %s --type Keyword".formatted(name))
            .collect(Collectors.joining(" ")));
    return false;
  }

  /** Stops polling; steps at work stop soon and go on elsewhere, or with the next worker. */
  @Override
  public void close() {
    factory.shutdownNow();
    leases.close();
    factory.awaitTermination(SHUTDOWN_SECONDS, TimeUnit.SECONDS);
    // After the last step that may record something.
    logs.close();
    temporal.close();
    lakes.values().forEach(Lake::close);
    demoLake.close();
    clickHouses.values().forEach(ClickHouse::close);
    postgres.values().forEach(Postgres::close);
    state.close();
  }
}
