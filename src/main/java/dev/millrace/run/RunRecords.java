package dev.millrace.run;

import dev.millrace.control.BudgetName;
import dev.millrace.control.RunStatus;
import dev.millrace.control.StopReason;
import dev.millrace.control.WalRecord;
import io.temporal.activity.ActivityOptions;
import io.temporal.activity.LocalActivityOptions;
import io.temporal.common.RetryOptions;
import io.temporal.failure.ActivityFailure;
import io.temporal.workflow.Workflow;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.function.Consumer;

/**
 * What a workflow tells the control plane of its run. A record that is written again, on another
 * host too, has to be the same record, so its numbers come from the workflow. Workflow code.
 */
public final class RunRecords {
  private static final RetryOptions RETRY =
      RetryOptions.newBuilder()
          .setInitialInterval(Duration.ofMillis(200))
          .setMaximumInterval(Duration.ofSeconds(30))
          .build();

  private final String pipeline;
  private final String runId;
  private final TemporalRun temporal;
  private final Admission admission;
  private final RecordActivities here;
  private final RecordActivities anywhere;

  private Instant startedAt;

  /**
   * Begins without a record.
   *
   * @param admission says how long a record may be tried, and what budget there is
   */
  public RunRecords(String pipeline, String runId, Admission admission) {
    this.pipeline = pipeline;
    this.runId = runId;
    this.admission = admission;
    this.temporal =
        new TemporalRun(
            Workflow.getInfo().getNamespace(),
            Workflow.getInfo().getWorkflowId(),
            Workflow.getInfo().getFirstExecutionRunId());
    here =
        Workflow.newLocalActivityStub(
            RecordActivities.class,
            LocalActivityOptions.newBuilder()
                .setStartToCloseTimeout(Duration.ofSeconds(10))
                .setScheduleToCloseTimeout(Duration.ofSeconds(20))
                .setRetryOptions(RETRY)
                .build());
    anywhere =
        Workflow.newActivityStub(
            RecordActivities.class,
            ActivityOptions.newBuilder()
                .setSummary("record")
                .setStartToCloseTimeout(Duration.ofSeconds(30))
                .setScheduleToCloseTimeout(Duration.ofSeconds(admission.stepTimeoutSeconds()))
                .setRetryOptions(RETRY)
                .build());
  }

  /** Says when the run got its turn; to be called before anything else. */
  public void begin(Instant instant) {
    startedAt = instant;
  }

  /** Returns the business's date of the run; null where no zone is configured. */
  public LocalDate businessDate() {
    return admission.businessTimeZone() == null
        ? null
        : startedAt.atZone(ZoneId.of(admission.businessTimeZone())).toLocalDate();
  }

  /**
   * Records that the run begins.
   *
   * @param mode {@code replicate}, {@code refresh} or {@code demo}
   */
  public void start(String mode) {
    RecordActivities.Opening opening =
        new RecordActivities.Opening(pipeline, runId, mode, startedAt.toString(), temporal);
    write(records -> records.start(opening));
  }

  /** Records one thing that happened. */
  public void event(WalRecord.Event event) {
    write(records -> records.event(event));
  }

  /**
   * Records the budget, where there is one, and the end.
   *
   * @param ok things that went well
   * @param failed things that failed
   * @param skipped things that were left out
   */
  public void finish(RunStatus status, StopReason reason, int ok, int failed, int skipped) {
    Instant finishedAt = now();
    if (admission.runTimeoutSeconds() > 0) {
      long used = Duration.between(startedAt, finishedAt).toSeconds();
      WalRecord.Budget budget =
          new WalRecord.Budget(
              pipeline,
              runId,
              BudgetName.WALLTIME.word(),
              admission.runTimeoutSeconds(),
              used,
              Math.max(0, admission.runTimeoutSeconds() - used),
              reason == StopReason.BUDGET_TIME,
              finishedAt);
      write(records -> records.budget(budget));
    }
    WalRecord.RunFinish finish =
        new WalRecord.RunFinish(
            pipeline,
            runId,
            startedAt,
            finishedAt,
            status,
            reason,
            ok,
            failed,
            skipped,
            temporal.extra());
    write(records -> records.finish(finish));
  }

  /** Also while the run is being cancelled: what happened is worth the more then. */
  private void write(Consumer<RecordActivities> record) {
    Workflow.newDetachedCancellationScope(
            () -> {
              try {
                record.accept(here);
              } catch (ActivityFailure failure) {
                // This host's disk may be full; the log of another one does as well.
                record.accept(anywhere);
              }
            })
        .run();
  }

  /** Returns the workflow's time. */
  public static Instant now() {
    return Instant.ofEpochMilli(Workflow.currentTimeMillis());
  }
}
