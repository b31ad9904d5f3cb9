package dev.millrace.replication;

import dev.millrace.control.LogShipping;
import dev.millrace.control.Recovery;
import dev.millrace.control.RunQueue;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.Lake;
import dev.millrace.postgres.TableName;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityExecutionContext;
import io.temporal.activity.ActivityInfo;
import io.temporal.failure.ApplicationErrorCategory;
import io.temporal.failure.ApplicationFailure;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The activities of a run. Thread-safe. */
public final class RunSteps implements RunActivities {
  private static final Logger LOG = LoggerFactory.getLogger(RunSteps.class);

  /** How long a run that has not begun waits for its state. */
  private static final Duration STATE_PATIENCE = Duration.ofSeconds(30);

  private static final Duration SHORTEST_WAIT = Duration.ofSeconds(1);
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

  private final ReplicationSettings settings;
  private final LeaseHolder leases;
  private final OpenRuns openRuns;
  private final LogShipping logs;
  private final Set<String> probed = ConcurrentHashMap.newKeySet();

  /**
   * Makes the activities of a worker.
   *
   * @param leases holds those of the worker's runs
   * @param openRuns is asked about runs that seem to have died
   * @param logs ships what they left on this host
   */
  public RunSteps(
      ReplicationSettings settings, LeaseHolder leases, OpenRuns openRuns, LogShipping logs) {
    this.settings = settings;
    this.leases = leases;
    this.openRuns = openRuns;
    this.logs = logs;
  }

  @Override
  public Admission admit(Request request) {
    reachState();
    if (request.demo() && !settings.allowDemo()) {
      throw new MillraceException(
          ErrorCode.DEMO_REFUSED,
          "demo_mode is refused by this worker's configuration (allow_demo: false); say demo_mode: false");
    }
    if (!request.demo()) {
      ReplicationSettings.named(settings.sources(), request.source(), "source", "postgres");
      probe(request.lake());
    }
    if (request.notifySlack() && settings.slack().isEmpty()) {
      throw new MillraceException(
          ErrorCode.SLACK_NOT_CONFIGURED,
          "notify_slack is true, but the worker's configuration has no slack.webhook; set it, or say notify_slack: false");
    }
    return settings.admission();
  }

  /** A run without its state would wait without a word; somebody has to be told soon. */
  private void reachState() {
    try {
      settings.prepareState();
    } catch (MillraceException exception) {
      ActivityInfo step = Activity.getExecutionContext().getInfo();
      long waited = System.currentTimeMillis() - step.getScheduledTimestamp();
      if (exception.code().retryable() && waited < STATE_PATIENCE.toMillis()) {
        throw exception;
      }
      throw Failures.last(exception, step);
    }
  }

  /** Proves the worker's rights in the lake, once in a process. */
  private void probe(String name) {
    Lake lake = ReplicationSettings.named(settings.lakes(), name, "lake", "lakes");
    if (!probed.contains(name)) {
      lake.probe();
      probed.add(name);
    }
  }

  @Override
  public void takeTurn(Turn turn) {
    RunQueue.Candidate candidate =
        new RunQueue.Candidate(
            turn.pipeline(), turn.runId(), turn.workflowId(), Instant.parse(turn.startedAt()));
    RunQueue.Answer answer = ask(candidate, Optional.empty());
    if (answer.ahead() == 0 && answer.holder() != null && answer.holder().overdue()) {
      requireOver(turn, answer.holder());
      answer = ask(candidate, Optional.of(answer.holder().runId()));
    }
    if (!answer.ours()) {
      throw queued(turn, holder(answer.holder()), answer.ahead());
    }
    LOG.info("run {} has the turn of pipeline {}", turn.runId(), turn.pipeline());
    closeTheDead(turn);
  }

  /** Only the holder of the lease may: no other run of the pipeline is alive then. */
  private void closeTheDead(Turn turn) {
    // First their last words, or the reason for their death would come after it.
    logs.replay(turn.pipeline());
    List<String> dead =
        settings
            .state()
            .transact(connection -> Recovery.unfinished(connection, turn.pipeline(), turn.runId()))
            .stream()
            .filter(run -> !openRuns.isOpen(run.runId(), run.extra()))
            .map(Recovery.Unfinished::runId)
            .toList();
    int marked =
        settings
            .state()
            .transact(
                connection -> Recovery.markDead(connection, turn.pipeline(), turn.runId(), dead));
    if (marked > 0) {
      LOG.warn("runs of pipeline {} died without an end: {}", turn.pipeline(), dead);
    }
  }

  private RunQueue.Answer ask(RunQueue.Candidate candidate, Optional<String> over) {
    return settings.state().transact(connection -> RunQueue.ask(connection, candidate, over));
  }

  /** A run whose workers are all away for a while goes on after it, and keeps its turn. */
  private void requireOver(Turn turn, RunQueue.Holder holder) {
    String open = "its workflow is open and goes on with the next worker; terminate it to end it";
    try {
      if (!isOpen(holder)) {
        return;
      }
    } catch (MillraceException exception) {
      open = exception.getMessage();
    }
    throw queued(turn, "%s, whose lease has expired, but %s".formatted(holder(holder), open), 0);
  }

  private boolean isOpen(RunQueue.Holder holder) {
    // Its start is in the queue before it is in the projection.
    return holder.extra().has(OpenRuns.TEMPORAL)
        ? openRuns.isOpen(holder.runId(), holder.extra())
        : openRuns.isOpenHere(holder.runId(), holder.workflowId());
  }

  private static ApplicationFailure queued(Turn turn, String holder, int ahead) {
    int attempt = Activity.getExecutionContext().getInfo().getAttempt();
    Duration wait = SHORTEST_WAIT.plusMillis(200L * attempt);
    return Failures.traceless(
        ApplicationFailure.newBuilder()
            .setType(ErrorCode.QUEUED.name())
            .setMessage(
                "queued: pipeline %s is at work for %s; %d runs wait before this one"
                    .formatted(turn.pipeline(), holder, ahead))
            .setCategory(ApplicationErrorCategory.BENIGN)
            .setNextRetryDelay(wait.compareTo(LONGEST_WAIT) < 0 ? wait : LONGEST_WAIT)
            .build());
  }

  private static String holder(RunQueue.Holder holder) {
    if (holder == null) {
      return "nobody";
    }
    return holder.workflowId() == null
        ? "run " + holder.runId()
        : "run %s of workflow %s".formatted(holder.runId(), holder.workflowId());
  }

  @Override
  public void holdLease(String pipeline, String runId) {
    ActivityExecutionContext context = Activity.getExecutionContext();
    leases.hold(
        new HeldLease(context.getTaskToken(), pipeline, runId, context.getInfo().getWorkflowId()));
    context.doNotCompleteOnReturn();
  }

  @Override
  public void recordFailure(
      String pipeline, String runId, int position, TableName table, TableFailure failure) {
    settings
        .state()
        .transact(
            connection -> {
              ReplicationState.recordFailure(
                  connection, new TableKey(pipeline, table), runId, position, failure);
              return null;
            });
  }

  @Override
  public RunResult close(Closing closing) {
    leases.drop(closing.runId());
    return settings
        .state()
        .transact(
            connection -> {
              RunQueue.leave(connection, closing.pipeline(), closing.runId());
              RunReport.forgetOld(connection);
              return RunReport.read(
                  connection,
                  closing.pipeline(),
                  closing.runId(),
                  closing.demo(),
                  closing.tables(),
                  closing.timeIsUp());
            });
  }

  @Override
  public void alert(String text) {
    settings.slack().ifPresent(slack -> slack.post(text));
  }
}
