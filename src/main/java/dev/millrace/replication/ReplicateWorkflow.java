package dev.millrace.replication;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.control.RunId;
import dev.millrace.control.StopReason;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.run.Admission;
import dev.millrace.run.Alert;
import dev.millrace.run.Arguments;
import dev.millrace.run.FailedStep;
import dev.millrace.run.Failures;
import dev.millrace.run.LeaseHolding;
import dev.millrace.run.RunRecords;
import dev.millrace.run.SearchAttribute;
import dev.millrace.run.StepFailure;
import dev.millrace.run.TurnActivities;
import io.temporal.activity.ActivityOptions;
import io.temporal.api.enums.v1.ParentClosePolicy;
import io.temporal.common.RetryOptions;
import io.temporal.common.SearchAttributes;
import io.temporal.common.converter.RawValue;
import io.temporal.failure.ApplicationFailure;
import io.temporal.failure.CanceledFailure;
import io.temporal.failure.TemporalFailure;
import io.temporal.workflow.Async;
import io.temporal.workflow.CancellationScope;
import io.temporal.workflow.ChildWorkflowCancellationType;
import io.temporal.workflow.ChildWorkflowOptions;
import io.temporal.workflow.Workflow;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.slf4j.Logger;

/** One run: its turn, its tables, its end. */
public final class ReplicateWorkflow implements Replicate {
  private static final String EXAMPLE = "workflows/replicate-appdb.json";

  /** Longer lists of failed tables end in a count. */
  private static final int MOST_FAILURE_TEXT = 8_000;

  private final Logger log = Workflow.getLogger(ReplicateWorkflow.class);

  private final RunActivities steps =
      Workflow.newActivityStub(
          RunActivities.class,
          ActivityOptions.newBuilder()
              .setStartToCloseTimeout(Duration.ofMinutes(1))
              .setRetryOptions(
                  RetryOptions.newBuilder()
                      .setInitialInterval(Duration.ofSeconds(1))
                      .setMaximumInterval(Duration.ofSeconds(30))
                      .build())
              .build());

  private final TurnActivities turns =
      Workflow.newActivityStub(
          TurnActivities.class,
          ActivityOptions.newBuilder()
              .setStartToCloseTimeout(Duration.ofMinutes(1))
              .setRetryOptions(
                  RetryOptions.newBuilder()
                      .setInitialInterval(Duration.ofSeconds(1))
                      .setMaximumInterval(Duration.ofSeconds(30))
                      .build())
              .build());

  private ObjectNode argument;
  private ReplicateInput input;
  private String runId;
  private Admission admission;

  private int next;
  private int running;
  private int succeeded;
  private int failedTables;
  private boolean closed;
  private CancellationScope tables;
  private RuntimeException leaseFailure;
  private RunRecords records;
  private TableEvent events;
  private boolean recording;
  private boolean timeIsUp;

  @Override
  public RunResult replicate(RawValue raw, RawValue unexpected) {
    Continuation continuation;
    try {
      argument = ReplicateInputParser.object(Arguments.only(raw, unexpected, EXAMPLE));
      continuation =
          Continuation.take(argument, Workflow.getInfo().getContinuedExecutionRunId().orElse(null));
      input = ReplicateInputParser.parse(argument);
    } catch (MillraceException exception) {
      throw Failures.of(exception);
    }
    try {
      return run(continuation);
    } catch (TemporalFailure failure) {
      if (!Failures.isCancellation(failure)) {
        tellFailure(failure);
      }
      throw Failures.ofStep(failure);
    }
  }

  private RunResult run(Continuation continuation) {
    admission =
        steps.admit(
            new RunActivities.Request(
                input.demo(), input.source(), input.lake(), input.notifySlack()));
    runId = continuation == null ? newRunId() : continuation.runId();
    records = new RunRecords(input.pipeline().name(), runId, admission);
    if (admission.searchAttributes()) {
      Workflow.upsertTypedSearchAttributes(
          SearchAttribute.PIPELINE.valueSet(input.pipeline().name()),
          SearchAttribute.STATE.valueSet("queued"));
    }
    Workflow.upsertMemo(
        Map.of(
            "pipeline", input.pipeline().name(), "run_id", runId, "tables", input.tables().size()));
    try {
      return inTurn(continuation);
    } catch (TemporalFailure failure) {
      if (!closed) {
        closeAfter(failure);
      }
      throw failure;
    }
  }

  private String newRunId() {
    return RunId.of(
        Instant.ofEpochMilli(Workflow.currentTimeMillis()),
        input.pipeline().name(),
        Workflow.newRandom().nextInt());
  }

  private RunResult inTurn(Continuation continuation) {
    Instant instant;
    if (continuation == null) {
      show("queued: waiting for the turn of pipeline " + input.pipeline());
      turns.takeTurn(
          new TurnActivities.Turn(
              input.pipeline().name(),
              runId,
              Workflow.getInfo().getWorkflowId(),
              Instant.ofEpochMilli(Workflow.getInfo().getRunStartedTimestampMillis()).toString(),
              TurnActivities.Policy.QUEUE));
      instant = Instant.ofEpochMilli(Workflow.currentTimeMillis());
      beginRecords(instant);
      records.start(input.demo() ? "demo" : "replicate");
    } else {
      instant = Instant.parse(continuation.instant());
      next = continuation.next();
      succeeded = continuation.succeeded();
      failedTables = continuation.failed();
      beginRecords(instant);
    }
    state("running");
    copyUnderLease(instant);
    if (next < input.tables().size() && !timeIsUp) {
      continueAsNew(instant);
    }
    finish(timeIsUp ? StopReason.BUDGET_TIME : null);
    return end(close());
  }

  private void beginRecords(Instant instant) {
    records.begin(instant);
    events = new TableEvent(input.pipeline().name(), runId, records.businessDate());
    recording = true;
  }

  /** Records the run's end before its lease is let go. */
  private void finish(StopReason stopped) {
    recording = false;
    records.finish(
        RunOutcome.status(succeeded, failedTables, stopped),
        RunOutcome.reason(failedTables, stopped),
        succeeded,
        failedTables,
        input.tables().size() - succeeded - failedTables);
  }

  private void copyUnderLease(Instant instant) {
    tables = Workflow.newCancellationScope(() -> copyTables(instant));
    CancellationScope holding = LeaseHolding.hold(input.pipeline().name(), runId, this::loseLease);
    CancellationScope timing = Workflow.newCancellationScope(() -> limitTime(instant));
    timing.run();
    try {
      tables.run();
    } catch (CanceledFailure cancelled) {
      Workflow.newDetachedCancellationScope(() -> Workflow.await(() -> running == 0)).run();
      if (leaseFailure == null && !timeIsUp) {
        throw cancelled;
      }
    } finally {
      timing.cancel();
      holding.cancel();
    }
    if (leaseFailure != null) {
      throw LeaseHolding.lost(leaseFailure);
    }
  }

  private void limitTime(Instant instant) {
    if (admission.runTimeoutSeconds() == 0) {
      return;
    }
    Instant end = instant.plusSeconds(admission.runTimeoutSeconds());
    Duration left = Duration.between(Instant.ofEpochMilli(Workflow.currentTimeMillis()), end);
    Workflow.newTimer(left.isNegative() ? Duration.ZERO : left)
        .handle(
            (nothing, cancelled) -> {
              if (cancelled == null) {
                timeIsUp = true;
                tables.cancel("run_timeout is over");
              }
              return null;
            });
  }

  /** Stops all tables: none of them can publish any more. */
  private void loseLease(RuntimeException failure) {
    if (leaseFailure == null) {
      leaseFailure = failure;
      tables.cancel("the lease is lost");
    }
  }

  /** Starts tables in their order until all are done, or until the history is long enough. */
  private void copyTables(Instant instant) {
    while (next < input.tables().size() && !Workflow.getInfo().isContinueAsNewSuggested()) {
      Workflow.await(() -> running < input.parallel());
      start(next, instant);
      next++;
      showProgress();
    }
    Workflow.await(() -> running == 0);
  }

  private void start(int position, Instant instant) {
    TableRequest table = input.tables().get(position);
    running++;
    // A workflow thread of its own: what happens when a child ends may wait for an activity.
    Async.procedure(() -> copyTable(position, instant, table));
  }

  private void copyTable(int position, Instant instant, TableRequest table) {
    String name = table.name().toString();
    try {
      CopiedTable copied =
          Workflow.newUntypedChildWorkflowStub(ReplicateTable.TYPE, childOptions(name))
              .execute(CopiedTable.class, task(position, instant, table));
      succeeded++;
      records.event(events.copied(position, RunRecords.now(), copied));
    } catch (TemporalFailure failure) {
      fail(position, table, failure);
    } finally {
      running--;
      showProgress();
    }
  }

  private void fail(int position, TableRequest table, TemporalFailure failure) {
    TableFailure described = TableFailure.of(table.name().toString(), Failures.describe(failure));
    if (timeIsUp && described.code().equals(ErrorCode.CANCELLED.name())) {
      recordFailed(position, outOfTime(described.table()), null);
      return;
    }
    failedTables++;
    log.warn("{} failed: {} {}", described.table(), described.code(), described.message());
    if (described.code().equals(ErrorCode.LEASE_LOST.name())) {
      loseLease(failure);
    }
    recordFailed(position, described, Failures.step(failure));
    Workflow.newDetachedCancellationScope(
            () ->
                steps.recordFailure(
                    input.pipeline().name(), runId, position, table.name(), described))
        .run();
  }

  private void recordFailed(int position, TableFailure failure, FailedStep step) {
    records.event(events.failed(position, RunRecords.now(), failure.table(), failure, step));
  }

  /** A table that is cut short is no failure: its watermark stays, the next run copies it. */
  private TableFailure outOfTime(String table) {
    return new TableFailure(
        table,
        ErrorCode.TIMEOUT.name(),
        "the run's time (limits.run_timeout, %d s) was over; the next run copies the table"
            .formatted(admission.runTimeoutSeconds()));
  }

  private ChildWorkflowOptions childOptions(String table) {
    ChildWorkflowOptions.Builder options =
        ChildWorkflowOptions.newBuilder()
            .setWorkflowId(Workflow.getInfo().getWorkflowId() + "/" + table)
            .setStaticSummary(table)
            .setMemo(Map.of("pipeline", input.pipeline().name(), "table", table, "run_id", runId))
            .setParentClosePolicy(ParentClosePolicy.PARENT_CLOSE_POLICY_REQUEST_CANCEL)
            .setCancellationType(ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED);
    if (admission.searchAttributes()) {
      options.setTypedSearchAttributes(
          SearchAttributes.newBuilder()
              .set(SearchAttribute.PIPELINE, input.pipeline().name())
              .set(SearchAttribute.TABLE, table)
              .set(SearchAttribute.STATE, "running")
              .build());
    }
    return options.build();
  }

  private TableTask task(int position, Instant instant, TableRequest table) {
    return new TableTask(
        input.pipeline().name(),
        runId,
        position,
        instant.toString(),
        input.demo(),
        input.source(),
        input.lake(),
        table,
        input.lag().toString(),
        input.lookBack().toString(),
        input.lookBackKeys(),
        input.windowRows(),
        input.connections(),
        input.longTransaction().toString(),
        input.keyTimeZone().getId(),
        input.nullKeys(),
        input.spikeFactor(),
        input.notifySlack(),
        admission);
  }

  private void continueAsNew(Instant instant) {
    Continuation continuation =
        new Continuation(
            runId,
            instant.toString(),
            next,
            succeeded,
            failedTables,
            Workflow.getInfo().getRunId());
    Workflow.continueAsNew(continuation.putInto(argument));
  }

  /** Lets go of the lease though the run fails; the first failure is the one to tell. */
  private void closeAfter(TemporalFailure failure) {
    try {
      if (recording) {
        // Its number comes after those of all tables.
        TableFailure described = TableFailure.of(null, Failures.describe(failure));
        recordFailed(input.tables().size(), described, null);
        finish(StopReason.ERROR);
      }
      close();
    } catch (TemporalFailure second) {
      log.warn(
          "run {} could not be closed, its lease expires by itself: {}",
          runId,
          Failures.describe(second).message());
      failure.addSuppressed(second);
    }
  }

  private RunResult close() {
    closed = true;
    RunActivities closing =
        Workflow.newActivityStub(
            RunActivities.class,
            ActivityOptions.newBuilder()
                .setSummary("close")
                .setStartToCloseTimeout(Duration.ofMinutes(1))
                .setScheduleToCloseTimeout(Duration.ofSeconds(admission.stepTimeoutSeconds()))
                .setRetryOptions(
                    RetryOptions.newBuilder().setMaximumInterval(Duration.ofSeconds(30)).build())
                .build());
    RunActivities.Closing request =
        new RunActivities.Closing(
            input.pipeline().name(), runId, input.demo(), input.tables().size(), timeIsUp);
    Result result = new Result();
    Workflow.newDetachedCancellationScope(() -> result.run = closing.close(request)).run();
    state(result.run.status());
    return result.run;
  }

  /** What closing the run returned. */
  private static final class Result {
    private RunResult run;
  }

  private RunResult end(RunResult result) {
    show(result.summary());
    log.info("{}", result.summary());
    if (result.failed() == 0) {
      return result;
    }
    throw Failures.traceless(
        ApplicationFailure.newBuilder()
            .setType(ErrorCode.TABLES_FAILED.name())
            .setMessage(result.summary() + ": " + causes(result))
            .setDetails(result)
            .setNonRetryable(true)
            .build());
  }

  private static String causes(RunResult result) {
    StringBuilder text = new StringBuilder();
    for (TableFailure failure : result.failures()) {
      String cause =
          "%s%s %s: %s"
              .formatted(
                  text.isEmpty() ? "" : "; ", failure.table(), failure.code(), failure.message());
      if (text.length() + cause.length() > MOST_FAILURE_TEXT) {
        return text + "; and others, see " + result.more();
      }
      text.append(cause);
    }
    return text.toString();
  }

  private void tellFailure(TemporalFailure failure) {
    StepFailure described = Failures.describe(failure);
    log.warn("run {} failed: {} {}", runId, described.code(), described.message());
    boolean alertable = !described.code().equals(ErrorCode.SLACK_NOT_CONFIGURED.name());
    if (input.notifySlack() && alertable) {
      Alert.send(
          "Millrace pipeline %s: workflow %s, run %s failed. Tables that failed keep their watermark and are copied by the next run. %s %s"
              .formatted(
                  input.pipeline(),
                  Workflow.getInfo().getWorkflowId(),
                  runId == null ? "(not begun)" : runId,
                  described.code(),
                  described.message()));
    }
  }

  private void state(String state) {
    if (admission.searchAttributes()) {
      Workflow.upsertTypedSearchAttributes(SearchAttribute.STATE.valueSet(state));
    }
  }

  private void showProgress() {
    show(
        "%d of %d tables done, %d failed, %d at work"
            .formatted(succeeded, input.tables().size(), failedTables, running));
  }

  private void show(String details) {
    Workflow.setCurrentDetails(
        "**%s%s** %s".formatted(input.demo() ? "DEMO " : "", input.pipeline(), details));
  }
}
