package dev.millrace.refresh;

import dev.millrace.clickhouse.Catalogue;
import dev.millrace.clickhouse.ClickHouse;
import dev.millrace.clickhouse.Pending;
import dev.millrace.clickhouse.Replicas;
import dev.millrace.clickhouse.RunningQuery;
import dev.millrace.clickhouse.ShadowStatements;
import dev.millrace.clickhouse.ShadowTables;
import dev.millrace.clickhouse.Swapped;
import dev.millrace.clickhouse.TargetFacts;
import dev.millrace.clickhouse.TargetTable;
import dev.millrace.clickhouse.TargetVerdict;
import dev.millrace.control.RunQueue;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Postgres;
import dev.millrace.run.Heartbeat;
import dev.millrace.run.LeaseHolder;
import dev.millrace.run.OpenRuns;
import dev.millrace.run.StateAtStart;
import io.temporal.activity.Activity;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.client.WorkflowClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The activities of refreshes. Thread-safe. */
public final class RefreshSteps implements RefreshActivities {
  private static final Logger LOG = LoggerFactory.getLogger(RefreshSteps.class);

  /** How long statements of earlier attempts, and readers of a dropped table, are waited for. */
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final RefreshSettings settings;
  private final LeaseHolder leases;
  private final OpenRuns openRuns;
  private final DecisionHistory decisions;

  /** Whether {@code postgresql()} of a ClickHouse takes our own SELECT, by connection. */
  private final Map<String, Boolean> takesQuery = new ConcurrentHashMap<>();

  /** Databases in which tables were exchanged for a try, by connection. */
  private final Set<String> probed = ConcurrentHashMap.newKeySet();

  /**
   * Makes the activities of a worker.
   *
   * @param leases holds those of the worker's runs
   * @param client of the namespace whose runs these are
   */
  public RefreshSteps(RefreshSettings settings, LeaseHolder leases, WorkflowClient client) {
    this.settings = settings;
    this.leases = leases;
    this.openRuns = new OpenRuns(client);
    this.decisions = new DecisionHistory(client);
  }

  @Override
  public Admitted admit(RefreshInput input) {
    StateAtStart.reach(settings::prepareState);
    settings.source(input);
    settings.clickHouse(input);
    return new Admitted(settings.admission(), settings.approvers());
  }

  @Override
  public void claim(Task task, String workflowId) {
    Optional<RefreshState.Holder> holder = claim(task, workflowId, Optional.empty());
    if (holder.isPresent() && holder.get().expired() && !isOpen(holder.get())) {
      holder = claim(task, workflowId, Optional.of(holder.get().runId()));
    }
    if (holder.isPresent()) {
      throw new MillraceException(
          ErrorCode.LEASE_HELD,
          "%s is being refreshed by run %s of workflow %s; start again when it has ended"
              .formatted(key(task), holder.get().runId(), holder.get().workflowId()));
    }
  }

  private Optional<RefreshState.Holder> claim(Task task, String workflowId, Optional<String> over) {
    return settings
        .state()
        .transact(
            connection ->
                RefreshState.claim(connection, key(task), task.runId(), workflowId, over));
  }

  private boolean isOpen(RefreshState.Holder holder) {
    return openRuns.isOpenHere(holder.runId(), holder.workflowId());
  }

  @Override
  public Plan preflight(Task task) {
    try (Heartbeat heartbeat = beat("looking at both tables")) {
      ClickHouse clickHouse = settings.clickHouse(task.input());
      List<String> warnings = new ArrayList<>(warnings(task));
      Layout layout = layout(task);
      heartbeat.confirm();
      new LeftSwap(settings.state(), task, shadowTables(task), layout, audit(task, layout))
          .decide()
          .ifPresent(warnings::add);
      if (probed.add(clickHouse.name() + " " + target(task).database())) {
        shadowTables(task).probeExchange(AttemptToken.draw());
      }
      Optional<Fingerprint> saved =
          settings
              .state()
              .transact(
                  connection ->
                      RefreshState.saved(connection, key(task), layout.hash(), layout.source()));
      return new Plan(layout.hash(), layout.names(), saved.orElse(null), warnings);
    }
  }

  private List<String> warnings(Task task) {
    ClickHouse clickHouse = settings.clickHouse(task.input());
    TargetFacts facts = TargetFacts.read(clickHouse, target(task), task.input().cluster());
    List<TargetVerdict.Refusal> refusals = TargetVerdict.of(facts, task.input().pkColumn());
    if (!refusals.isEmpty()) {
      throw new MillraceException(
          refusals.get(0).code(),
          refusals.stream().map(TargetVerdict.Refusal::message).collect(Collectors.joining("; ")));
    }
    return TargetWarnings.of(
        facts.table().orElseThrow(),
        Catalogue.dependants(clickHouse, target(task)),
        task.input().reloadDictionaries());
  }

  @Override
  public SourceFigures auditSource(Task task, Plan plan) {
    try (Heartbeat heartbeat = beat("auditing the source")) {
      heartbeat.check();
      Layout layout = layout(task).require(plan.layout());
      Postgres postgres = settings.source(task.input()).postgres();
      return postgres.read(
          connection ->
              SourceFigures.of(
                  layout.sourceAudit().read(postgres, connection, heartbeat::check),
                  SourceVersion.of(connection, layout.table())));
    }
  }

  @Override
  public Live auditLive(Task task, Plan plan) {
    try (Heartbeat heartbeat = beat("auditing the live table")) {
      heartbeat.check();
      return live(task, layout(task).require(plan.layout()));
    }
  }

  /** The UUID before and after: figures of two tables would be of neither. */
  private Live live(Task task, Layout layout) {
    ShadowTables tables = shadowTables(task);
    String before = uuid(tables, target(task));
    AuditFigures figures = audit(task, layout).read(target(task));
    String after = uuid(tables, target(task));
    if (!before.equals(after)) {
      throw new MillraceException(
          ErrorCode.LIVE_CHANGING,
          "%s was exchanged or made anew while it was audited; run again".formatted(target(task)));
    }
    return new Live(after, figures);
  }

  private static String uuid(ShadowTables tables, TargetTable table) {
    return tables
        .uuid(table)
        .map(UUID::toString)
        .orElseThrow(
            () ->
                new MillraceException(
                    ErrorCode.TARGET_MISSING,
                    "table %s is gone; somebody dropped it".formatted(table)));
  }

  private SettledAudit audit(Task task, Layout layout) {
    return new SettledAudit(
        settings.clickHouse(task.input()), statements(task), layout.audit(), task.runId());
  }

  @Override
  public Loaded load(Task task, Plan plan, SourceFigures source) {
    long begun = System.nanoTime();
    Layout layout = layout(task).require(plan.layout());
    ShadowTables tables = shadowTables(task);
    String token = AttemptToken.draw();
    String queryId = tables.loadQueryId(token);
    ClickHouse clickHouse = settings.clickHouse(task.input());
    try (Heartbeat heartbeat =
        Heartbeat.start(Activity.getExecutionContext(), () -> progress(clickHouse, queryId))) {
      List<Pending> pending = discardAll(tables);
      heartbeat.confirm();
      UUID shadow = tables.createLoad(token);
      LoadWatch watch = LoadWatch.start(clickHouse, queryId, heartbeat);
      AuditFigures loaded;
      try {
        loaded = load(task, layout, source, tables.names().load(token), queryId, heartbeat);
      } finally {
        watch.close();
      }
      settings.points().pass("load.after-insert");
      heartbeat.confirm();
      tables.promoteLoad(token);
      return new Loaded(
          shadow.toString(),
          loaded,
          Duration.ofNanos(System.nanoTime() - begun).toMillis(),
          pending.stream().map(RefreshSteps::shown).toList());
    }
  }

  /** The shadow of before goes, and what attempts that died left behind. */
  private static List<Pending> discardAll(ShadowTables tables) {
    List<Pending> pending = new ArrayList<>(tables.discardLoads(AttemptToken.draw()));
    pending.addAll(tables.discardLeftovers(AttemptToken.draw(), Set.of()));
    // By its UUID: an attempt that wakes up here must not throw away what a later one has built.
    tables
        .uuid(tables.names().shadow())
        .flatMap(shadow -> tables.discardShadow(AttemptToken.draw(), shadow))
        .ifPresent(pending::add);
    return pending;
  }

  private static String shown(Pending pending) {
    return "%s stays for now (%s): %s"
        .formatted(
            pending.table(), pending.reason().name().toLowerCase(Locale.ROOT), pending.wayOut());
  }

  /** Returns the source's figures in the snapshot that was loaded; null for a pull. */
  private AuditFigures load(
      Task task,
      Layout layout,
      SourceFigures source,
      TargetTable table,
      String queryId,
      Heartbeat heartbeat) {
    TableLoad load =
        new TableLoad(
            settings.clickHouse(task.input()),
            layout,
            table,
            queryId,
            Duration.ofSeconds(settings.admission().stepTimeoutSeconds()));
    return switch (task.input().load()) {
      case PULL -> {
        load.pull();
        yield null;
      }
      case PUSH -> load.push(settings.source(task.input()).postgres(), source, heartbeat::check);
    };
  }

  private static String progress(ClickHouse clickHouse, String queryId) {
    try {
      return clickHouse.running(queryId).map(RunningQuery::toString).orElse("preparing");
    } catch (MillraceException exception) {
      return "ClickHouse does not tell: " + exception.code();
    }
  }

  @Override
  public AuditFigures auditShadow(Task task, Plan plan, String shadowUuid) {
    try (Heartbeat heartbeat = beat("auditing the shadow")) {
      heartbeat.check();
      return auditShadow(task, layout(task).require(plan.layout()), shadowUuid);
    }
  }

  private AuditFigures auditShadow(Task task, Layout layout, String shadowUuid) {
    ShadowTables tables = shadowTables(task);
    TargetTable shadow = tables.names().shadow();
    if (!tables.uuid(shadow).map(UUID::toString).equals(Optional.of(shadowUuid))) {
      throw new MillraceException(
          ErrorCode.SHADOW_CHANGED,
          "%s is gone or another table than the one that was loaded; run again".formatted(shadow));
    }
    AuditFigures figures = audit(task, layout).read(shadow);
    requireSameOnReplicas(task, shadow, shadowUuid, figures);
    return figures;
  }

  /** Replicas that lag are asked again, since the failure may pass. */
  private void requireSameOnReplicas(
      Task task, TargetTable table, String uuid, AuditFigures figures) {
    List<Replicas.Replica> differing =
        Replicas.differing(
            new Replicas(settings.clickHouse(task.input()), statements(task)).all(table),
            UUID.fromString(uuid),
            Long.parseLong(figures.rows()));
    if (!differing.isEmpty()) {
      throw new MillraceException(
          ErrorCode.CLICKHOUSE_UNAVAILABLE,
          "replicas of %s are not like this one: %s".formatted(table, differing));
    }
  }

  @Override
  public Rechecked recheck(Task task, Plan plan, String shadowUuid) {
    try (Heartbeat heartbeat = beat("looking at both tables once more")) {
      heartbeat.check();
      Layout layout = layout(task).require(plan.layout());
      ShadowTables tables = shadowTables(task);
      List<RunningQuery> writers = tables.writersOf(tables.names().shadow());
      if (!writers.isEmpty()) {
        throw new MillraceException(
            ErrorCode.SHADOW_CHANGED,
            "%s is being written by query %s; nothing was published, end it and run again"
                .formatted(tables.names().shadow(), writers.get(0)));
      }
      return new Rechecked(auditShadow(task, layout, shadowUuid), live(task, layout));
    }
  }

  @Override
  public void swap(Task task, Publication publication) {
    try (Heartbeat heartbeat = beat("swapping")) {
      // Before the transaction, which must not wait for two catalogues.
      Intent intent = intent(task, publication);
      settings
          .state()
          .transact(
              connection -> {
                fence(task).check(connection);
                RefreshState.insertIntent(connection, key(task), intent);
                return null;
              });
      settings.points().pass("swap.after-intent");
      heartbeat.confirm();
      fence(task)
          .inside(
              () ->
                  shadowTables(task)
                      .swap(
                          AttemptToken.draw(),
                          UUID.fromString(publication.shadowUuid()),
                          UUID.fromString(publication.liveUuid())));
    }
  }

  private Intent intent(Task task, Publication publication) {
    return new Intent(
        task.runId(),
        task.input().pipeline(),
        publication.shadowUuid(),
        publication.liveUuid(),
        publication.fingerprint(),
        publication.shadow().rows(),
        publication.layout(),
        layout(task).source());
  }

  private Fence fence(Task task) {
    return new Fence(settings.state(), task);
  }

  @Override
  public AuditFigures auditPublished(Task task, Publication publication) {
    try (Heartbeat heartbeat = beat("auditing what readers see")) {
      heartbeat.check();
      Live live = live(task, layout(task).require(publication.layout()));
      if (!live.uuid().equals(publication.shadowUuid())) {
        throw new MillraceException(
            ErrorCode.LIVE_CHANGING,
            "%s was exchanged by somebody else after the swap; look at it and at %s"
                .formatted(target(task), task.input().shadow()));
      }
      AuditFigures figures = live.figures();
      requireSameOnReplicas(task, target(task), live.uuid(), figures);
      return settings.points().mismatch("audit-published.end")
          ? new AuditFigures(
              figures.rows(), "0", figures.sum(), "", figures.nulls(), figures.hash())
          : figures;
    }
  }

  @Override
  public void saveState(Task task, Publication publication) {
    settings.points().pass("save-state.before");
    settings
        .state()
        .transact(
            connection -> {
              fence(task).check(connection);
              RefreshState.save(connection, key(task), publication.shadowUuid());
              return null;
            });
    settings.points().pass("save-state.after");
  }

  @Override
  public RolledBack rollBack(Task task, Publication publication) {
    try (Heartbeat heartbeat = beat("swapping the old table back")) {
      settings.points().pass("rollback.begin");
      heartbeat.confirm();
      Swapped swapped =
          fence(task)
              .inside(
                  () ->
                      shadowTables(task)
                          .rollBack(
                              AttemptToken.draw(),
                              UUID.fromString(publication.shadowUuid()),
                              UUID.fromString(publication.liveUuid())));
      settings.points().pass("rollback.end");
      Live live = live(task, layout(task).require(publication.layout()));
      settings
          .state()
          .transact(
              connection -> {
                RefreshState.forgetIntent(connection, key(task), publication.shadowUuid());
                return null;
              });
      return new RolledBack(
          live.figures(), swapped.other() == null ? null : swapped.other().toString());
    }
  }

  @Override
  public Afterwards cleanUp(Task task) {
    try (Heartbeat heartbeat = beat("cleaning up")) {
      heartbeat.check();
      ShadowTables tables = shadowTables(task);
      List<String> warnings = new ArrayList<>();
      for (String dictionary : task.input().reloadDictionaries()) {
        reload(task, dictionary).ifPresent(warnings::add);
      }
      return new Afterwards(
          tables.discardLeftovers(AttemptToken.draw(), Set.of()).stream()
              .map(RefreshSteps::shown)
              .toList(),
          warnings);
    }
  }

  private Optional<String> reload(Task task, String dictionary) {
    ClickHouse clickHouse = settings.clickHouse(task.input());
    try {
      clickHouse.execute(
          statements(task).reload(dictionary),
          "millrace-%s-reload-%s".formatted(task.runId(), AttemptToken.draw()),
          clickHouse.settings().statementTimeout());
      return Optional.empty();
    } catch (MillraceException exception) {
      return Optional.of(
          "dictionary %s could not be reloaded: %s".formatted(dictionary, exception.getMessage()));
    }
  }

  @Override
  public String identity(String workflowId, String temporalRunId, String updateId, int signal) {
    return decisions.identity(
        WorkflowExecution.newBuilder().setWorkflowId(workflowId).setRunId(temporalRunId).build(),
        new Approval.Origin(updateId, signal));
  }

  @Override
  public void close(Task task) {
    leases.drop(task.runId());
    settings
        .state()
        .transact(
            connection -> {
              RefreshState.leave(connection, key(task), task.runId());
              RunQueue.leave(connection, task.input().pipeline(), task.runId());
              return null;
            });
    LOG.info("run {} has let go of {}", task.runId(), key(task));
  }

  private Layout layout(Task task) {
    ClickHouse clickHouse = settings.clickHouse(task.input());
    RefreshSettings.Source source = settings.source(task.input());
    boolean query =
        task.input().load() == Load.PULL
            && takesQuery.computeIfAbsent(
                task.input().source() + " " + clickHouse.name(),
                key -> takesQuery(clickHouse, Layout.access(source.seen())));
    return Layout.read(task.input(), source, clickHouse, query);
  }

  /** A server that takes no query says so by an error. */
  private static boolean takesQuery(ClickHouse clickHouse, PullStatement.Access access) {
    try {
      clickHouse.query(PullStatement.probe(access), row -> row.text(1));
      return true;
    } catch (MillraceException exception) {
      if (exception.code() != ErrorCode.CLICKHOUSE_ERROR) {
        throw exception;
      }
      LOG.info("ClickHouse '{}' takes no query for Postgres", clickHouse.name());
      return false;
    }
  }

  private ShadowTables shadowTables(Task task) {
    return new ShadowTables(
        settings.clickHouse(task.input()),
        statements(task),
        task.runId(),
        PATIENCE,
        settings.points()::pass);
  }

  private ShadowStatements statements(Task task) {
    String engine =
        Catalogue.databaseEngine(settings.clickHouse(task.input()), target(task).database())
            .orElse("Atomic");
    return new ShadowStatements(target(task), engine, task.input().cluster());
  }

  private static TargetTable target(Task task) {
    return new TargetTable(task.input().targetDatabase(), task.input().targetTable());
  }

  private static TargetKey key(Task task) {
    return TargetKey.of(task.input());
  }

  private static Heartbeat beat(String what) {
    return Heartbeat.start(Activity.getExecutionContext(), () -> what);
  }
}
