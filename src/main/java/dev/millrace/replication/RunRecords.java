package dev.millrace.replication;

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
import java.time.ZoneId;
import java.util.function.Consumer;

/**
 * What a workflow tells the control plane of its run. Sequence numbers are the positions of tables,
 * so a record that is written again is the same record. Workflow code.
 */
final class RunRecords {
  private static final RetryOptions RETRY =
      RetryOptions.newBuilder()
          .setInitialInterval(Duration.ofMillis(200))
          .setMaximumInterval(Duration.ofSeconds(30))
          .build();

  private final String pipeline;
  private final String runId;
  private final TemporalRun temporal;
  private final int tables;
  private final Admission admission;
  private final RecordActivities here;
  private final RecordActivities anywhere;

  private Instant startedAt;
  private TableEvent events;

  RunRecords(String pipeline, String runId, int tables, Admission admission) {
    this.pipeline = pipeline;
    this.runId = runId;
    this.tables = tables;
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
                .setScheduleToCloseTimeout(Duration.ofSeconds(admission.tableTimeoutSeconds()))
                .setRetryOptions(RETRY)
                .build());
  }

  /** Says when the run got its turn; to be called before anything else. */
  void begin(Instant instant) {
    startedAt = instant;
    events =
        new TableEvent(
            pipeline,
            runId,
            admission.businessTimeZone() == null
                ? null
                : instant.atZone(ZoneId.of(admission.businessTimeZone())).toLocalDate());
  }

  void start(String mode) {
    RecordActivities.Opening opening =
        new RecordActivities.Opening(pipeline, runId, mode, startedAt.toString(), temporal);
    write(records -> records.start(opening));
  }

  void copied(int position, CopiedTable table) {
    WalRecord.Event event = events.copied(position, now(), table);
    write(records -> records.event(event));
  }

  void failed(int position, TableFailure failure, FailedStep step) {
    WalRecord.Event event = events.failed(position, now(), failure.table(), failure, step);
    write(records -> records.event(event));
  }

  /** Records the failure that ended the run itself; its number comes after those of all tables. */
  void failed(TableFailure failure) {
    WalRecord.Event event = events.failed(tables, now(), null, failure, null);
    write(records -> records.event(event));
  }

  /**
   * Records the budget, where there is one, and the end.
   *
   * @param ok tables that went well
   * @param failed tables that failed; the rest was left out
   * @param stopped what ended the run before its tables were through; null when nothing did
   */
  void finish(int ok, int failed, StopReason stopped) {
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
              stopped == StopReason.BUDGET_TIME,
              finishedAt);
      write(records -> records.budget(budget));
    }
    WalRecord.RunFinish finish =
        new WalRecord.RunFinish(
            pipeline,
            runId,
            startedAt,
            finishedAt,
            status(ok, failed, stopped),
            reason(failed, stopped),
            ok,
            failed,
            tables - ok - failed,
            temporal.extra());
    write(records -> records.finish(finish));
  }

  static RunStatus status(int ok, int failed, StopReason stopped) {
    if (stopped == StopReason.BUDGET_TIME) {
      return RunStatus.PARTIAL;
    }
    if (stopped != null || (ok == 0 && failed > 0)) {
      return RunStatus.FAILED;
    }
    return failed == 0 ? RunStatus.OK : RunStatus.PARTIAL;
  }

  static StopReason reason(int failed, StopReason stopped) {
    if (stopped != null) {
      return stopped;
    }
    return failed == 0 ? StopReason.CLEAN : StopReason.ERROR;
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

  private static Instant now() {
    return Instant.ofEpochMilli(Workflow.currentTimeMillis());
  }
}
