package dev.millrace.replication;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.parquet.ReplacedValues;
import dev.millrace.run.Alert;
import dev.millrace.run.Arguments;
import dev.millrace.run.Failures;
import dev.millrace.run.SearchAttribute;
import io.temporal.activity.ActivityCancellationType;
import io.temporal.activity.ActivityOptions;
import io.temporal.common.RetryOptions;
import io.temporal.common.converter.RawValue;
import io.temporal.failure.ActivityFailure;
import io.temporal.failure.ApplicationFailure;
import io.temporal.failure.TemporalFailure;
import io.temporal.workflow.Workflow;
import java.io.IOException;
import java.time.Duration;
import org.slf4j.Logger;

/** Copies one table: prepare, extract, write. */
public final class ReplicateTableWorkflow implements ReplicateTable {
  private static final JsonMapper JSON = new JsonMapper();

  /** How often a staged object may be lost and staged again before a person has to look. */
  private static final int MOST_EXTRACTS = 3;

  /** Windows of one run, so that the history stays short. */
  private static final int MOST_WINDOWS = 500;

  /** Two missed beats and the server hands the step to another worker. */
  private static final Duration HEARTBEAT = Duration.ofSeconds(30);

  private final Logger log = Workflow.getLogger(ReplicateTableWorkflow.class);

  private TableTask task;
  private String table;
  private TableActivities reading;
  private TableActivities publishing;
  private CopiedTable copied = CopiedTable.NOTHING;

  @Override
  public CopiedTable replicate(RawValue input, RawValue unexpected) {
    try {
      task = read(Arguments.only(input, unexpected, "workflows/replicate-appdb.json"));
      table = task.table().name().toString();
      reading = activities(task.admission().maxAttempts());
      publishing = activities(0);
      return replicate();
    } catch (MillraceException exception) {
      throw Failures.of(exception);
    }
  }

  @Override
  public void progress(ExtractProgress progress) {
    show(progress.toString());
  }

  private static TableTask read(byte[] json) {
    if (Workflow.getInfo().getParentWorkflowId().isEmpty()) {
      throw new MillraceException(
          ErrorCode.BAD_INPUT,
          "ReplicateTable is started by Replicate only; start Replicate with this table in tables");
    }
    try {
      return JSON.readValue(json, TableTask.class);
    } catch (JsonProcessingException exception) {
      throw new MillraceException(
          ErrorCode.BAD_INPUT, "the input is no table task: " + exception.getOriginalMessage());
    } catch (IOException exception) {
      throw new MillraceException(ErrorCode.INTERNAL, "can't read the input", exception);
    }
  }

  private CopiedTable replicate() {
    state("running");
    try {
      TableResult result = copy(1).result();
      tell(result);
      state("ok");
      show(
          "%s: %,d rows in (%s, %s]"
              .formatted(table, result.rows(), shown(result.low()), shown(result.high())));
      return copied;
    } catch (TemporalFailure failure) {
      fail(failure);
      throw Failures.ofStep(failure);
    } catch (MillraceException failure) {
      fail(failure);
      throw failure;
    }
  }

  private void fail(RuntimeException failure) {
    state("failed");
    show(Failures.describe(failure).message());
  }

  private CopiedTable copy(int time) {
    show("preparing");
    Prepared prepared = reading.prepare(task);
    prepared.warnings().forEach(warning -> log.warn("{}: {}", table, warning));
    if (prepared.window().empty()) {
      long beforeWrite = Workflow.currentTimeMillis();
      Written written = publishing.write(task, prepared, null, 0, false);
      copied = copied.with(written, null, beforeWrite, beforeWrite, Workflow.currentTimeMillis());
      return copied;
    }
    for (int windows = 1; ; windows++) {
      show("extracting " + prepared.window());
      long beforeExtract = Workflow.currentTimeMillis();
      Extracted extracted = reading.extract(task, prepared);
      extracted.warnings().forEach(warning -> log.warn("{}: {}", table, warning));
      long beforeWrite = Workflow.currentTimeMillis();
      try {
        extracted.audit(table);
        show("publishing %,d rows".formatted(extracted.rowsEncoded()));
        long rows = copied.rows() + extracted.rowsEncoded();
        Written written =
            publishing.write(
                task, prepared, extracted, rows, !extracted.more() && spike(prepared, rows));
        copied =
            copied.with(
                written, extracted, beforeExtract, beforeWrite, Workflow.currentTimeMillis());
      } catch (TemporalFailure | MillraceException failure) {
        abandon(extracted);
        if (time < MOST_EXTRACTS && isLost(failure)) {
          log.warn("{}: the staged object was lost, it is extracted again", table);
          return copy(time + 1);
        }
        throw failure;
      }
      if (!extracted.more()) {
        return copied;
      }
      if (windows == MOST_WINDOWS) {
        log.warn("{}: {} windows were published, the next run goes on", table, windows);
        return copied;
      }
      prepared = prepared.after(extracted);
    }
  }

  private boolean spike(Prepared prepared, long rows) {
    return Spike.is(rows, prepared.baseline(), task.spikeFactor(), prepared.initialLoad());
  }

  private static boolean isLost(RuntimeException failure) {
    return failure instanceof ActivityFailure
        && failure.getCause() instanceof ApplicationFailure cause
        && cause.getType().equals(ErrorCode.STAGED_OBJECT_LOST.name());
  }

  private void abandon(Extracted extracted) {
    if (extracted.staged() == null) {
      return;
    }
    try {
      Workflow.newDetachedCancellationScope(() -> publishing.abandon(task, extracted)).run();
    } catch (TemporalFailure failure) {
      // The next run's prepare throws leftovers away, too; the first failure tells more.
      log.warn("{}: what was staged could not be thrown away yet: {}", table, failure.getMessage());
    }
  }

  private void tell(TableResult result) {
    log.info(
        "{}: {} rows changed in ({}, {}]{}",
        table,
        result.rows(),
        shown(result.low()),
        shown(result.high()),
        result.baseline() == 0 ? "" : ", previous batch " + result.baseline());
    for (ReplacedValues replaced : result.replaced()) {
      log.warn(
          "{}: {} values of column {} were replaced by the rule {}",
          table,
          replaced.values(),
          replaced.column(),
          replaced.rule());
    }
    if (result.longTransaction() != null) {
      tell(result.longTransaction());
    }
    if (result.spike()) {
      tellSpike(result);
    }
  }

  private void tell(LongTransaction open) {
    log.warn("{}: {}", table, open);
    if (task.notifySlack() && open.first()) {
      Alert.send(
          "Millrace pipeline %s: `%s`: %s. It holds nothing back, and its rows are copied when it has ended. Run %s, workflow %s"
              .formatted(
                  task.pipeline(), table, open, task.runId(), Workflow.getInfo().getWorkflowId()));
    }
  }

  private void tellSpike(TableResult result) {
    log.warn(
        "{}: {} rows this run, {} in the previous batch", table, result.rows(), result.baseline());
    if (task.notifySlack()) {
      Alert.send(
          "Millrace pipeline %s: `%s` changed by %d rows in this run, by %d in the previous batch. Run %s, workflow %s"
              .formatted(
                  task.pipeline(),
                  table,
                  result.rows(),
                  result.baseline(),
                  task.runId(),
                  Workflow.getInfo().getWorkflowId()));
    }
  }

  private TableActivities activities(int maxAttempts) {
    return Workflow.newActivityStub(
        TableActivities.class,
        ActivityOptions.newBuilder()
            .setSummary(table)
            .setScheduleToCloseTimeout(Duration.ofSeconds(task.admission().stepTimeoutSeconds()))
            .setHeartbeatTimeout(HEARTBEAT)
            // The attempt throws away what it staged before the table is said to be cancelled.
            .setCancellationType(ActivityCancellationType.WAIT_CANCELLATION_COMPLETED)
            .setRetryOptions(
                RetryOptions.newBuilder()
                    .setInitialInterval(Duration.ofSeconds(1))
                    .setMaximumInterval(Duration.ofMinutes(1))
                    .setMaximumAttempts(maxAttempts)
                    .build())
            .build());
  }

  private void state(String state) {
    if (task.admission().searchAttributes()) {
      Workflow.upsertTypedSearchAttributes(SearchAttribute.STATE.valueSet(state));
    }
  }

  private void show(String details) {
    Workflow.setCurrentDetails("**%s** %s".formatted(table, details));
  }

  private static String shown(String watermark) {
    return watermark == null ? "" : watermark;
  }
}
