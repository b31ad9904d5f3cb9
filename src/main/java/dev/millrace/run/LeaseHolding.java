package dev.millrace.run;

import io.temporal.activity.ActivityCancellationType;
import io.temporal.activity.ActivityOptions;
import io.temporal.common.RetryOptions;
import io.temporal.failure.ApplicationFailure;
import io.temporal.failure.CanceledFailure;
import io.temporal.workflow.Async;
import io.temporal.workflow.CancellationScope;
import io.temporal.workflow.Workflow;
import java.time.Duration;
import java.util.function.Consumer;

/** The lease of a run while its workflow is at work. Workflow code. */
public final class LeaseHolding {
  private static final Duration LONGEST_RUN = Duration.ofDays(365);

  private LeaseHolding() {}

  /**
   * Holds the lease until the returned scope is cancelled.
   *
   * @param lost is told once when the lease can't be held
   */
  public static CancellationScope hold(
      String pipeline, String runId, Consumer<RuntimeException> lost) {
    CancellationScope holding =
        Workflow.newCancellationScope(
            () ->
                Async.procedure(lease()::holdLease, pipeline, runId)
                    .handle(
                        (nothing, failure) -> {
                          if (failure != null && !(failure.getCause() instanceof CanceledFailure)) {
                            lost.accept(failure);
                          }
                          return null;
                        }));
    holding.run();
    return holding;
  }

  private static TurnActivities lease() {
    return Workflow.newActivityStub(
        TurnActivities.class,
        ActivityOptions.newBuilder()
            .setSummary("lease")
            .setStartToCloseTimeout(LONGEST_RUN)
            // Above the time between heartbeats of a worker with 10,000 leases, and so that
            // another worker still renews the lease before it expires.
            .setHeartbeatTimeout(Duration.ofSeconds(150))
            .setCancellationType(ActivityCancellationType.TRY_CANCEL)
            .setRetryOptions(
                RetryOptions.newBuilder().setMaximumInterval(Duration.ofSeconds(10)).build())
            .build());
  }

  /** Returns what ends the workflow after its lease was lost. */
  public static ApplicationFailure lost(RuntimeException failure) {
    StepFailure described = Failures.describe(failure);
    return Failures.traceless(
        ApplicationFailure.newBuilder()
            .setType(described.code())
            .setMessage(described.message())
            .setNonRetryable(true)
            .build());
  }
}
