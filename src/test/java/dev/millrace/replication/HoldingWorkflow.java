package dev.millrace.replication;

import dev.millrace.run.Failures;
import dev.millrace.run.StepFailure;
import dev.millrace.run.TurnActivities;
import io.temporal.activity.ActivityCancellationType;
import io.temporal.activity.ActivityOptions;
import io.temporal.workflow.Async;
import io.temporal.workflow.CancellationScope;
import io.temporal.workflow.ContinueAsNewOptions;
import io.temporal.workflow.Workflow;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/** A run that does nothing but take its turn and hold its lease. */
public final class HoldingWorkflow implements Holding {
  private static final ActivityOptions SHORT =
      ActivityOptions.newBuilder().setStartToCloseTimeout(Duration.ofMinutes(1)).build();

  private boolean ended;
  private String nextQueue;
  private String outcome;
  private CancellationScope holding;

  @Override
  public String hold(Order order) {
    Workflow.upsertMemo(Map.of("run_id", order.runId()));
    stub(TurnActivities.class, SHORT, order)
        .takeTurn(
            new TurnActivities.Turn(
                order.pipeline(),
                order.runId(),
                Workflow.getInfo().getWorkflowId(),
                Instant.ofEpochMilli(Workflow.getInfo().getRunStartedTimestampMillis()).toString(),
                TurnActivities.Policy.QUEUE));
    if (order.hold()) {
      holding = Workflow.newCancellationScope(() -> holdLease(order));
      holding.run();
    }
    Workflow.await(() -> ended || outcome != null || nextQueue != null);
    if (nextQueue != null) {
      Workflow.continueAsNew(
          ContinueAsNewOptions.newBuilder().setTaskQueue(nextQueue).build(), order);
    }
    if (outcome != null) {
      return outcome;
    }
    stub(RunActivities.class, SHORT, order)
        .close(new RunActivities.Closing(order.pipeline(), order.runId(), true, 0, false));
    return "ended";
  }

  private void holdLease(Order order) {
    Async.procedure(lease(order)::holdLease, order.pipeline(), order.runId())
        .handle(
            (nothing, failure) -> {
              StepFailure described = Failures.describe(failure);
              outcome = described.code() + " " + described.message();
              return null;
            });
  }

  private static <T> T stub(Class<T> activities, ActivityOptions options, Order order) {
    if (order.activityQueue() == null) {
      return Workflow.newActivityStub(activities, options);
    }
    return Workflow.newActivityStub(
        activities, options.toBuilder().setTaskQueue(order.activityQueue()).build());
  }

  private static TurnActivities lease(Order order) {
    return stub(
        TurnActivities.class,
        ActivityOptions.newBuilder()
            .setStartToCloseTimeout(Duration.ofDays(365))
            .setHeartbeatTimeout(Duration.ofSeconds(order.heartbeatSeconds()))
            .setCancellationType(ActivityCancellationType.WAIT_CANCELLATION_COMPLETED)
            .build(),
        order);
  }

  @Override
  public void end() {
    ended = true;
  }

  @Override
  public void cancelLease() {
    holding.cancel();
  }

  @Override
  public void move(String taskQueue) {
    nextQueue = taskQueue;
  }
}
