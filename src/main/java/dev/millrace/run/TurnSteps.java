package dev.millrace.run;

import dev.millrace.control.LogShipping;
import dev.millrace.control.Recovery;
import dev.millrace.control.RunQueue;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Postgres;
import io.temporal.activity.Activity;
import io.temporal.activity.ActivityExecutionContext;
import io.temporal.failure.ApplicationErrorCategory;
import io.temporal.failure.ApplicationFailure;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives runs their turn and holds their leases. Thread-safe. */
public final class TurnSteps implements TurnActivities {
  private static final Logger LOG = LoggerFactory.getLogger(TurnSteps.class);

  private static final Duration SHORTEST_WAIT = Duration.ofSeconds(1);
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(10);

  private final Postgres state;
  private final LeaseHolder leases;
  private final OpenRuns openRuns;
  private final LogShipping logs;

  /**
   * Makes the activities of a worker.
   *
   * @param state where leases and the queue are
   * @param leases holds those of the worker's runs
   * @param openRuns is asked about runs that seem to have died
   * @param logs ships what they left on this host
   */
  public TurnSteps(Postgres state, LeaseHolder leases, OpenRuns openRuns, LogShipping logs) {
    this.state = state;
    this.leases = leases;
    this.openRuns = openRuns;
    this.logs = logs;
  }

  @Override
  public void takeTurn(Turn turn) {
    RunQueue.Candidate candidate =
        new RunQueue.Candidate(
            turn.pipeline(), turn.runId(), turn.workflowId(), Instant.parse(turn.startedAt()));
    RunQueue.Answer answer = ask(candidate, Optional.empty());
    String atWork = "";
    if (answer.ahead() == 0 && answer.holder() != null && answer.holder().overdue()) {
      atWork = overdue(answer.holder());
      if (atWork.isEmpty()) {
        answer = ask(candidate, Optional.of(answer.holder().runId()));
      }
    }
    if (!answer.ours()) {
      throw notYet(turn, holder(answer.holder()) + atWork, answer.ahead());
    }
    LOG.info("run {} has the turn of pipeline {}", turn.runId(), turn.pipeline());
    closeTheDead(turn);
  }

  /** Only the holder of the lease may: no other run of the pipeline is alive then. */
  private void closeTheDead(Turn turn) {
    // First their last words, or the reason for their death would come after it.
    logs.replay(turn.pipeline());
    List<String> dead =
        state
            .transact(connection -> Recovery.unfinished(connection, turn.pipeline(), turn.runId()))
            .stream()
            .filter(run -> !openRuns.isOpen(run.runId(), run.extra()))
            .map(Recovery.Unfinished::runId)
            .toList();
    int marked =
        state.transact(
            connection -> Recovery.markDead(connection, turn.pipeline(), turn.runId(), dead));
    if (marked > 0) {
      LOG.warn("runs of pipeline {} died without an end: {}", turn.pipeline(), dead);
    }
  }

  private RunQueue.Answer ask(RunQueue.Candidate candidate, Optional<String> over) {
    return state.transact(connection -> RunQueue.ask(connection, candidate, over));
  }

  /**
   * Returns why a run whose lease has expired is not over; empty when it is. A run whose workers
   * are all away for a while goes on after it, and keeps its turn.
   */
  private String overdue(RunQueue.Holder holder) {
    String expired = ", whose lease has expired, but ";
    try {
      return isOpen(holder)
          ? expired
              + "its workflow is open and goes on with the next worker; terminate it to end it"
          : "";
    } catch (MillraceException exception) {
      return expired + exception.getMessage();
    }
  }

  private boolean isOpen(RunQueue.Holder holder) {
    // Its start is in the queue before it is in the projection.
    return holder.extra().has(OpenRuns.TEMPORAL)
        ? openRuns.isOpen(holder.runId(), holder.extra())
        : openRuns.isOpenHere(holder.runId(), holder.workflowId());
  }

  private RuntimeException notYet(Turn turn, String holder, int ahead) {
    return switch (turn.policy()) {
      case QUEUE -> queued(turn, holder, ahead);
      case FAIL -> held(turn, holder);
    };
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

  private MillraceException held(Turn turn, String holder) {
    state.transact(
        connection -> {
          RunQueue.leave(connection, turn.pipeline(), turn.runId());
          return null;
        });
    return new MillraceException(
        ErrorCode.LEASE_HELD,
        "pipeline %s is at work for %s; start again when it has ended"
            .formatted(turn.pipeline(), holder));
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
}
