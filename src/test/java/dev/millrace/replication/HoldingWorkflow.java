package dev.millrace.replication;

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
  private boolean ended;
  private String nextQueue;
  private String outcome;
  private CancellationScope holding;

  @Override
  public String hold(Order order) {
    Workflow.upsertMemo(Map.of("run_id", order.runId()));
    RunActivities steps = steps(order);
    steps.takeTurn(
        new RunActivities.Turn(
            order.pipeline(),
            order.runId(),
            Workflow.getInfo().getWorkflowId(),
            Instant.ofEpochMilli(Workflow.getInfo().getRunStartedTimestampMillis()).toString()));
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
    steps.close(new RunActivities.Closing(order.pipeline(), order.runId(), true, 0, false));
    return "ended";
  }

  private void holdLease(Order order) {
    Async.procedure(lease(order)::holdLease, order.pipeline(), order.runId())
        .handle(
            (nothing, failure) -> {
              TableFailure described = Failures.describe("", failure);
              outcome = described.code() + " " + described.message();
              return null;
            });
  }

  private static RunActivities stub(ActivityOptions.Builder options, Order order) {
    if (order.activityQueue() != null) {
      options.setTaskQueue(order.activityQueue());
    }
    return Workflow.newActivityStub(RunActivities.class, options.build());
  }

  private static RunActivities steps(Order order) {
    return stub(ActivityOptions.newBuilder().setStartToCloseTimeout(Duration.ofMinutes(1)), order);
  }

  private static RunActivities lease(Order order) {
    return stub(
        ActivityOptions.newBuilder()
            .setStartToCloseTimeout(Duration.ofDays(365))
            .setHeartbeatTimeout(Duration.ofSeconds(order.heartbeatSeconds()))
            .setCancellationType(ActivityCancellationType.WAIT_CANCELLATION_COMPLETED),
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
