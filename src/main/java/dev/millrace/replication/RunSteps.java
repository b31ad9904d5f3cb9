package dev.millrace.replication;

import dev.millrace.control.Lease;
import dev.millrace.control.Pipeline;
import dev.millrace.control.RunQueue;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.Lake;
import dev.millrace.postgres.TableName;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityExecutionContext;
import io.temporal.client.ActivityNotExistsException;
import io.temporal.failure.ApplicationErrorCategory;
import io.temporal.failure.ApplicationFailure;
import java.time.Duration;
import java.time.Instant;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The activities of a run. Thread-safe. */
public final class RunSteps implements RunActivities {
  private static final Logger LOG = LoggerFactory.getLogger(RunSteps.class);

  /** Between two looks for a cancellation, and so between two heartbeats at most. */
  private static final Duration BEAT = Duration.ofSeconds(1);

  private static final Duration SHORTEST_WAIT = Duration.ofSeconds(1);
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

  private final ReplicationSettings settings;
  private final Set<String> probed = ConcurrentHashMap.newKeySet();

  /** Makes the activities of a worker. */
  public RunSteps(ReplicationSettings settings) {
    this.settings = settings;
  }

  @Override
  public Admission admit(Request request) {
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
            new Pipeline(turn.pipeline()),
            turn.runId(),
            turn.workflowId(),
            Instant.parse(turn.startedAt()));
    settings.prepareState();
    RunQueue.Answer answer =
        settings.state().transact(connection -> RunQueue.ask(connection, candidate));
    if (!answer.ours()) {
      throw queued(turn, answer);
    }
    LOG.info("run {} has the turn of pipeline {}", turn.runId(), turn.pipeline());
  }

  private static ApplicationFailure queued(Turn turn, RunQueue.Answer answer) {
    int attempt = Activity.getExecutionContext().getInfo().getAttempt();
    Duration wait = SHORTEST_WAIT.plusMillis(200L * attempt);
    return Failures.traceless(
        ApplicationFailure.newBuilder()
            .setType(ErrorCode.QUEUED.name())
            .setMessage(
                "queued: pipeline %s is at work for %s; %d runs wait before this one"
                    .formatted(turn.pipeline(), holder(answer), answer.ahead()))
            .setCategory(ApplicationErrorCategory.BENIGN)
            .setNextRetryDelay(wait.compareTo(LONGEST_WAIT) < 0 ? wait : LONGEST_WAIT)
            .build());
  }

  private static String holder(RunQueue.Answer answer) {
    if (answer.holder() == null) {
      return "nobody";
    }
    return answer.holderWorkflowId() == null
        ? "run " + answer.holder()
        : "run %s of workflow %s".formatted(answer.holder(), answer.holderWorkflowId());
  }

  @Override
  public void holdLease(String pipeline, String runId) {
    ActivityExecutionContext context = Activity.getExecutionContext();
    Pipeline name = new Pipeline(pipeline);
    long renewal = System.nanoTime();
    while (true) {
      if (System.nanoTime() - renewal >= 0) {
        renew(name, runId);
        renewal = System.nanoTime() + Lease.RENEWAL.toNanos();
      }
      if (over(context)) {
        return;
      }
      pause();
    }
  }

  private static boolean over(ActivityExecutionContext context) {
    try {
      context.heartbeat(null);
      return false;
    } catch (ActivityNotExistsException exception) {
      // The usual end: the run did not wait for this step, so nobody takes its result.
      context.doNotCompleteOnReturn();
      return true;
    }
  }

  private void renew(Pipeline pipeline, String runId) {
    boolean renewed =
        settings.state().transact(connection -> RunQueue.renew(connection, pipeline, runId));
    if (!renewed) {
      throw new MillraceException(
          ErrorCode.LEASE_LOST,
          "run %s no longer holds the lease of pipeline %s: another run took it after this one did not renew it for %d seconds; start a new run"
              .formatted(runId, pipeline, Lease.TIME_TO_LIVE.toSeconds()));
    }
  }

  private static void pause() {
    try {
      Thread.sleep(BEAT.toMillis());
    } catch (InterruptedException exception) {
      // The worker shuts down; another one goes on with the next attempt.
      Thread.currentThread().interrupt();
      throw new MillraceException(
          ErrorCode.WORKER_STOPPED, "the worker was stopped; another one goes on", exception);
    }
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
    return settings
        .state()
        .transact(
            connection -> {
              RunQueue.leave(connection, new Pipeline(closing.pipeline()), closing.runId());
              RunReport.forgetOld(connection);
              return RunReport.read(
                  connection,
                  closing.pipeline(),
                  closing.runId(),
                  closing.demo(),
                  closing.tables());
            });
  }

  @Override
  public void alert(String text) {
    settings.slack().ifPresent(slack -> slack.post(text));
  }
}
