package dev.millrace.refresh;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.control.RunId;
import dev.millrace.control.RunStatus;
import dev.millrace.control.StopReason;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.run.Admission;
import dev.millrace.run.Alert;
import dev.millrace.run.Arguments;
import dev.millrace.run.Failures;
import dev.millrace.run.LeaseHolding;
import dev.millrace.run.RunRecords;
import dev.millrace.run.SearchAttribute;
import dev.millrace.run.StepFailure;
import dev.millrace.run.TurnActivities;
import io.temporal.activity.ActivityCancellationType;
import io.temporal.activity.ActivityOptions;
import io.temporal.common.RetryOptions;
import io.temporal.common.converter.RawValue;
import io.temporal.failure.CanceledFailure;
import io.temporal.failure.TemporalFailure;
import io.temporal.workflow.CancellationScope;
import io.temporal.workflow.Workflow;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;

/** One refresh: build beside the live table, prove, ask where it shrinks, swap, prove again. */
public final class RefreshDimensionWorkflow implements RefreshDimension {
  private static final String EXAMPLE = "workflows/refresh-products.json";
  private static final Duration HEARTBEAT = Duration.ofSeconds(30);

  /** So often may live change between the comparison and the swap. */
  private static final int MOST_CHANGES = 3;

  private final Logger log = Workflow.getLogger(RefreshDimensionWorkflow.class);
  private final Approval approval = new Approval();
  private final List<String> warnings = new ArrayList<>();
  private final List<String> pending = new ArrayList<>();
  private final RefreshActivities before = steps(Duration.ofMinutes(1), null, 0);

  private RefreshInput input;
  private String runId;
  private String state = "running";
  private String step = "reading its input";
  private Notices notices;
  private Admission admission;
  private RefreshActivities.Task task;
  private RefreshActivities reading;
  private RefreshActivities publishing;

  private RunRecords records;
  private RefreshEvent events;
  private RefreshStep at;
  private long sequence;
  private int signals;

  private CancellationScope work;
  private RuntimeException leaseFailure;
  private boolean held;
  private boolean recording;

  private RefreshActivities.Plan plan;
  private SourceFigures audited;
  private AuditFigures source;
  private RefreshActivities.Live live;
  private AuditFigures shadow;
  private String shadowUuid;
  private Instant deadline;
  private boolean reminded;
  private RecordedDecision decision;
  private RefreshResult result;

  @Override
  public RefreshResult refresh(RawValue raw, RawValue unexpected) {
    try {
      input = RefreshInputParser.parse(Arguments.only(raw, unexpected, EXAMPLE));
    } catch (MillraceException exception) {
      log.warn("refused: {}", exception.getMessage());
      show("failed", exception.code() + " " + exception.getMessage());
      Alert.send(
          Notices.refused(
              exception.code().name(), exception.getMessage(), Workflow.getInfo().getWorkflowId()));
      throw Failures.of(exception);
    }
    notices =
        new Notices(
            input,
            Workflow.getInfo().getNamespace(),
            Workflow.getInfo().getWorkflowId(),
            Workflow.getInfo().getRunId());
    try {
      return run();
    } catch (TemporalFailure failure) {
      tellFailure(failure);
      throw Failures.ofStep(failure);
    }
  }

  private RefreshResult run() {
    show("running", "checks the request");
    RefreshActivities.Admitted admitted = before.admit(input);
    admission = admitted.admission();
    approval.allow(admitted.approvers());
    reading = steps(stepTimeout(), HEARTBEAT, admission.maxAttempts());
    publishing = steps(stepTimeout(), HEARTBEAT, 0);
    runId = RunId.of(RunRecords.now(), input.pipeline(), Workflow.newRandom().nextInt());
    task = new RefreshActivities.Task(input, runId);
    records = new RunRecords(input.pipeline(), runId, withoutBudget());
    Workflow.upsertMemo(
        Map.of("pipeline", input.pipeline(), "run_id", runId, "target", input.target()));
    searchFor("queued");
    try {
      takeTurn();
      underLease();
      finish();
      close();
      return end();
    } catch (TemporalFailure failure) {
      closeAfter(failure);
      throw failure;
    }
  }

  /** An approval may take longer than any run should. */
  private Admission withoutBudget() {
    return new Admission(
        admission.maxAttempts(),
        admission.stepTimeoutSeconds(),
        admission.searchAttributes(),
        0,
        admission.businessTimeZone());
  }

  private Duration stepTimeout() {
    return Duration.ofSeconds(admission.stepTimeoutSeconds());
  }

  private static RefreshActivities steps(Duration timeout, Duration heartbeat, int attempts) {
    ActivityOptions.Builder options =
        ActivityOptions.newBuilder()
            .setStartToCloseTimeout(timeout)
            .setScheduleToCloseTimeout(timeout)
            .setCancellationType(ActivityCancellationType.WAIT_CANCELLATION_COMPLETED)
            .setRetryOptions(
                RetryOptions.newBuilder()
                    .setInitialInterval(Duration.ofSeconds(1))
                    .setMaximumInterval(Duration.ofSeconds(30))
                    .setMaximumAttempts(attempts)
                    .build());
    if (heartbeat != null) {
      options.setHeartbeatTimeout(heartbeat);
    }
    return Workflow.newActivityStub(RefreshActivities.class, options.build());
  }

  private void takeTurn() {
    TurnActivities turns =
        Workflow.newActivityStub(
            TurnActivities.class,
            ActivityOptions.newBuilder().setStartToCloseTimeout(Duration.ofMinutes(1)).build());
    turns.takeTurn(
        new TurnActivities.Turn(
            input.pipeline(),
            runId,
            Workflow.getInfo().getWorkflowId(),
            Instant.ofEpochMilli(Workflow.getInfo().getRunStartedTimestampMillis()).toString(),
            TurnActivities.Policy.FAIL));
    held = true;
    before.claim(task, Workflow.getInfo().getWorkflowId());
    records.begin(RunRecords.now());
    events = new RefreshEvent(input.pipeline(), runId, input.target(), records.businessDate());
    recording = true;
    records.start("refresh");
  }

  private void underLease() {
    work = Workflow.newCancellationScope(this::rebuild);
    CancellationScope holding = LeaseHolding.hold(input.pipeline(), runId, this::loseLease);
    try {
      work.run();
    } catch (CanceledFailure cancelled) {
      if (leaseFailure == null) {
        throw cancelled;
      }
    } finally {
      holding.cancel();
    }
    if (leaseFailure != null) {
      throw LeaseHolding.lost(leaseFailure);
    }
  }

  private void loseLease(RuntimeException failure) {
    if (leaseFailure == null) {
      leaseFailure = failure;
      work.cancel("the lease is lost");
    }
  }

  private void rebuild() {
    searchFor("running");
    begin(RefreshStep.PREFLIGHT, "looks at both tables");
    plan = reading.preflight(task);
    plan.warnings().forEach(this::warn);
    done(null, null);

    begin(RefreshStep.AUDIT_SOURCE, "audits " + input.sourceName());
    Instant begun = RunRecords.now();
    audited = reading.auditSource(task, plan);
    source = audited.figures();
    done(source, Duration.between(begun, RunRecords.now()).toMillis());

    begin(RefreshStep.AUDIT_LIVE, "audits " + input.target());
    live = reading.auditLive(task, plan);
    done(live.figures(), null);

    if (isUnchanged()) {
      skip();
      return;
    }
    build();
    requireSound();
    publishWhenAllowed();
  }

  private boolean isUnchanged() {
    return !input.force()
        && plan.saved() != null
        && Fingerprint.of(source, live.figures()).unchangedSince(plan.saved());
  }

  private void skip() {
    begin(RefreshStep.UNCHANGED, "skips: nothing has changed");
    String fingerprint = Fingerprint.triple(live.figures());
    log.info(
        "{} is unchanged since the last publish and {} still equals it, fingerprint {}: skipped",
        input.sourceName(),
        input.target(),
        fingerprint);
    done(live.figures(), null);
    result =
        result(
            "skipped",
            "%s is unchanged, %s still equals it (%s)"
                .formatted(input.sourceName(), input.target(), fingerprint),
            live.figures());
  }

  private void build() {
    begin(RefreshStep.LOAD, "loads " + input.shadow());
    RefreshActivities.Loaded loaded = reading.load(task, plan, audited);
    shadowUuid = loaded.shadowUuid();
    pending.addAll(loaded.pending());
    if (loaded.source() != null) {
      source = loaded.source();
    }
    records.event(
        events.done(
            sequence++,
            RunRecords.now(),
            at,
            Long.valueOf(source.rows()),
            null,
            loaded.millis(),
            null));

    begin(RefreshStep.AUDIT_SHADOW, "audits " + input.shadow());
    shadow = reading.auditShadow(task, plan, shadowUuid);
    done(shadow, null);
  }

  private Verdict verdict() {
    return Verdict.of(
        plan.columns(),
        source,
        shadow,
        live.figures(),
        new Verdict.Rules(
            input.maxShrinkPct(), input.alwaysRequireApproval(), input.allowEmptySource()));
  }

  /** A shadow that differs from its source, or is empty by accident, is never published. */
  private void requireSound() {
    begin(RefreshStep.VERDICT, "compares");
    Verdict verdict = verdict();
    if (!verdict.parity()) {
      throw failed(
          ErrorCode.PARITY_MISMATCH,
          "the shadow table does not equal Postgres: source %s, shadow %s (rows|distinct keys|checksum); %s. The live table is untouched; %s stays to be looked at. Rows changed during the load, or the copy is not whole: run again, or use load push, which reads one snapshot"
              .formatted(
                  Fingerprint.triple(source),
                  Fingerprint.triple(shadow),
                  String.join("; ", verdict.differences()),
                  input.shadow()));
    }
    if (verdict.emptyRefused()) {
      throw failed(
          ErrorCode.EMPTY_SOURCE,
          "%s has no rows, and %s is not emptied by that; set allow_empty_source to publish an empty table on purpose"
              .formatted(input.sourceName(), input.target()));
    }
    done(shadow, null);
  }

  private void publishWhenAllowed() {
    boolean ask = verdict().needsApproval();
    for (int changes = 0; ; changes++) {
      if (ask && !isApproved()) {
        reject();
        return;
      }
      if (isAsCompared()) {
        publish();
        return;
      }
      if (changes == MOST_CHANGES) {
        throw failed(
            ErrorCode.LIVE_CHANGING,
            "%s changed %d times between its audit and the swap: somebody writes it. A swap would lose those rows, so nothing was published; stop the writer, then run again"
                .formatted(input.target(), MOST_CHANGES + 1));
      }
      // Also when it was approved: that was for another table than the one that is live now.
      ask = verdict().needsApproval();
    }
  }

  /** Looks once more at both tables; takes over what live has become. */
  private boolean isAsCompared() {
    begin(RefreshStep.RECHECK, "looks at both tables once more");
    RefreshActivities.Rechecked now = publishing.recheck(task, plan, shadowUuid);
    if (!now.shadow().equals(shadow)) {
      throw failed(
          ErrorCode.SHADOW_CHANGED,
          "%s is no longer what was audited: %s then, %s now. Somebody wrote to it; nothing was published, run again"
              .formatted(
                  input.shadow(), Fingerprint.triple(shadow), Fingerprint.triple(now.shadow())));
    }
    boolean same = now.live().equals(live);
    if (!same) {
      warn(
          "%s changed while the refresh ran: %s then, %s now"
              .formatted(
                  input.target(),
                  Fingerprint.triple(live.figures()),
                  Fingerprint.triple(now.live().figures())));
    }
    live = now.live();
    done(live.figures(), null);
    return same;
  }

  private boolean isApproved() {
    begin(RefreshStep.APPROVAL, "waits for a decision");
    ask();
    awaitDecision();
    Approval.Accepted accepted = approval.accepted();
    decision =
        new RecordedDecision(
            accepted.decision().approved(),
            accepted.decision().reason(),
            accepted.decision().by(),
            identity(accepted.origin()),
            accepted.at(),
            approval.question().digest());
    records.event(events.done(sequence++, RunRecords.now(), at, null, null, null, extra(decision)));
    show("running", decision.approved() ? "was approved" : "was rejected");
    searchFor("running");
    return decision.approved();
  }

  private void ask() {
    if (deadline == null) {
      deadline = RunRecords.now().plus(input.approvalTimeout());
    }
    int number = approval.question() == null ? 1 : approval.question().number() + 1;
    Question question =
        new Question(
            number,
            Question.digest(input.target(), shadowUuid, shadow, live.figures()),
            live.figures().rows(),
            shadow.rows(),
            deadline.toString());
    approval.ask(question);
    show("waiting_approval", "waits for a decision until " + deadline);
    searchFor("waiting_approval");
    notice(notices.asks(question));
  }

  private void awaitDecision() {
    Instant half = deadline.minus(input.approvalTimeout().dividedBy(2));
    if (!reminded) {
      if (awaitUntil(half)) {
        return;
      }
      reminded = true;
      notice(notices.reminds(approval.question(), Duration.between(RunRecords.now(), deadline)));
    }
    if (!awaitUntil(deadline)) {
      throw failed(
          ErrorCode.APPROVAL_TIMEOUT,
          "nobody decided within %s whether %s may go from %s to %s rows; the live table is untouched, %s stays until the next run. Run again to be asked again"
              .formatted(
                  input.approvalTimeout(),
                  input.target(),
                  live.figures().rows(),
                  shadow.rows(),
                  input.shadow()));
    }
  }

  private boolean awaitUntil(Instant time) {
    Duration left = Duration.between(RunRecords.now(), time);
    return Workflow.await(
        left.isNegative() ? Duration.ZERO : left, () -> approval.accepted() != null);
  }

  private String identity(Approval.Origin origin) {
    try {
      return before.identity(
          Workflow.getInfo().getWorkflowId(),
          Workflow.getInfo().getRunId(),
          origin.updateId(),
          origin.signal());
    } catch (TemporalFailure failure) {
      if (Failures.isCancellation(failure)) {
        throw failure;
      }
      warn("who sent the decision could not be read: " + Failures.describe(failure).message());
      return "";
    }
  }

  private static ObjectNode extra(RecordedDecision decision) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("approved", decision.approved())
        .put("by", decision.by())
        .put("identity", decision.identity())
        .put("decided_at", decision.decidedAt())
        .put("digest", decision.digest())
        .put("reason", decision.reason());
  }

  private void reject() {
    result =
        result(
            "rejected",
            "%s was rejected by %s, the live table is untouched, the shadow stays in %s"
                .formatted(input.target(), decision.by(), input.shadow()),
            live.figures());
    notice(notices.rejected(decision));
  }

  private void publish() {
    RefreshActivities.Publication publication =
        new RefreshActivities.Publication(
            plan.layout(), shadowUuid, live.uuid(), Fingerprint.of(source, shadow), shadow);
    begin(RefreshStep.SWAP, "swaps");
    publishing.swap(task, publication);
    done(null, null);

    begin(RefreshStep.AUDIT_PUBLISHED, "audits what readers see");
    AuditFigures published = publishing.auditPublished(task, publication);
    done(published, null);
    if (!published.equals(shadow)) {
      rollBack(publication, published);
    }
    begin(RefreshStep.SAVE_STATE, "records the publish");
    publishing.saveState(task, publication);
    done(published, null);

    begin(RefreshStep.CLEAN_UP, "cleans up");
    cleanUp();
    result =
        result(
            "published",
            "%s went from %s to %s rows"
                .formatted(input.target(), live.figures().rows(), published.rows()),
            published);
    notice(notices.published(live.figures().rows(), published.rows()));
  }

  private void rollBack(RefreshActivities.Publication publication, AuditFigures published) {
    begin(RefreshStep.ROLLBACK, "swaps the old table back");
    RefreshActivities.RolledBack back = publishing.rollBack(task, publication);
    done(back.figures(), null);
    state = "rolled_back";
    boolean whole = back.figures().equals(live.figures());
    throw failed(
        ErrorCode.ROLLED_BACK,
        "after the swap the audit of %s gave %s, but %s was audited before; the previous table was swapped back and %s. What was published is in %s until the next run"
            .formatted(
                input.target(),
                Fingerprint.triple(published),
                Fingerprint.triple(shadow),
                whole
                    ? "is as it was"
                    : "has %s now, %s before the swap: look at it at once"
                        .formatted(
                            Fingerprint.triple(back.figures()), Fingerprint.triple(live.figures())),
                back.kept()));
  }

  /** The run is published, whatever this finds. */
  private void cleanUp() {
    try {
      RefreshActivities.Afterwards afterwards = reading.cleanUp(task);
      pending.addAll(afterwards.pending());
      afterwards.warnings().forEach(this::warn);
      done(null, null);
    } catch (TemporalFailure failure) {
      if (Failures.isCancellation(failure)) {
        throw failure;
      }
      warn("cleaning up failed: " + Failures.describe(failure).message());
    }
  }

  private RefreshResult result(String outcome, String summary, AuditFigures now) {
    return new RefreshResult(
        "pipeline %s: %s".formatted(input.pipeline(), summary),
        outcome,
        runId,
        input.pipeline(),
        input.target(),
        live.figures().rows(),
        now.rows(),
        Fingerprint.of(source, now).source(),
        Fingerprint.of(source, now).live(),
        decision,
        List.copyOf(pending),
        List.copyOf(warnings));
  }

  private void finish() {
    recording = false;
    boolean rejected = result.outcome().equals("rejected");
    records.finish(
        rejected ? RunStatus.PARTIAL : RunStatus.OK,
        StopReason.CLEAN,
        rejected ? 0 : 1,
        0,
        rejected ? 1 : 0);
  }

  private RefreshResult end() {
    show(result.outcome(), result.summary());
    searchFor(result.outcome());
    log.info("{}", result.summary());
    return result;
  }

  private void close() {
    held = false;
    RefreshActivities closing = steps(stepTimeout(), null, 0);
    Workflow.newDetachedCancellationScope(() -> closing.close(task)).run();
  }

  /** Lets go of everything though the run fails; the first failure is the one to tell. */
  private void closeAfter(TemporalFailure failure) {
    try {
      if (recording) {
        recording = false;
        records.event(
            events.failed(
                sequence++,
                RunRecords.now(),
                at,
                Failures.describe(failure),
                Failures.step(failure)));
        records.finish(RunStatus.FAILED, StopReason.ERROR, 0, 1, 0);
      }
      if (held) {
        close();
      }
    } catch (TemporalFailure second) {
      log.warn(
          "run {} could not be closed, its lease expires by itself: {}",
          runId,
          Failures.describe(second).message());
      failure.addSuppressed(second);
    }
  }

  private static TemporalFailure failed(ErrorCode code, String message) {
    return Failures.of(new MillraceException(code, message));
  }

  private void tellFailure(TemporalFailure failure) {
    StepFailure described = Failures.describe(failure);
    if (!state.equals("rolled_back")) {
      state = "failed";
    }
    show(state, described.code() + " " + described.message());
    searchFor("failed");
    log.warn("run {} failed: {} {}", runId, described.code(), described.message());
    boolean beside = described.code().equals(ErrorCode.LEASE_HELD.name());
    if (!beside && !Failures.isCancellation(failure)) {
      Alert.send(
          state.equals("rolled_back")
              ? notices.rolledBack(described.code(), described.message())
              : notices.failed(described.code(), described.message()));
    }
  }

  private void begin(RefreshStep next, String text) {
    at = next;
    show(state, text);
  }

  private void done(AuditFigures figures, Long pullMillis) {
    Long rows = figures == null ? null : Long.valueOf(figures.rows());
    records.event(events.done(sequence++, RunRecords.now(), at, rows, pullMillis, null, null));
  }

  private void warn(String warning) {
    warnings.add(warning);
    log.warn("{}", warning);
  }

  /** Without a webhook the log is where it is told; the run goes on either way. */
  private void notice(String text) {
    log.info("{}", text);
    Alert.send(text);
  }

  private void searchFor(String value) {
    if (admission != null && admission.searchAttributes()) {
      Workflow.upsertTypedSearchAttributes(
          SearchAttribute.PIPELINE.valueSet(input.pipeline()),
          SearchAttribute.TABLE.valueSet(input.target()),
          SearchAttribute.STATE.valueSet(value));
    }
  }

  private void show(String nowState, String text) {
    state = nowState;
    step = text;
    Workflow.setCurrentDetails(details());
  }

  private String details() {
    StringBuilder text = new StringBuilder(state).append(": ").append(step);
    if (state.equals("waiting_approval")) {
      Question question = approval.question();
      text.append(
          "\n\n%s rows now, %s rows after; digest `%s`; until %s\n\nApprove:\n```\n%s\n```\nReject:\n```\n%s\n```"
              .formatted(
                  question.rowsBefore(),
                  question.rowsAfter(),
                  question.digest(),
                  question.until(),
                  notices.command(question, true),
                  notices.command(question, false)));
    }
    approval.ignored().forEach(note -> text.append("\n\nIgnored: ").append(note));
    return text.toString();
  }

  @Override
  public void approve(RawValue body) {
    signals++;
    try {
      approval.accept(
          DecisionParser.parse(body),
          false,
          new Approval.Origin(null, signals),
          RunRecords.now().toString());
    } catch (MillraceException exception) {
      String note =
          "signal %d at %s: %s".formatted(signals, RunRecords.now(), exception.getMessage());
      approval.ignore(note);
      log.warn("a decision is ignored: {}", note);
      Workflow.setCurrentDetails(details());
    }
  }

  @Override
  public String decide(RawValue body) {
    String updateId = Workflow.getCurrentUpdateInfo().orElseThrow().getUpdateId();
    Decision taken;
    try {
      taken = DecisionParser.parse(body);
      approval.accept(taken, true, new Approval.Origin(updateId, 0), RunRecords.now().toString());
    } catch (MillraceException exception) {
      throw Failures.of(exception);
    }
    return "%s by %s: %s from %s to %s rows"
        .formatted(
            taken.approved() ? "approved" : "rejected",
            taken.by(),
            input.target(),
            approval.question().rowsBefore(),
            approval.question().rowsAfter());
  }

  @Override
  public void checkDecision(RawValue body) {
    try {
      approval.check(DecisionParser.parse(body), true);
    } catch (MillraceException exception) {
      throw Failures.of(exception);
    }
  }

  @Override
  public RefreshStatus status() {
    boolean waits = state.equals("waiting_approval");
    Question question = approval.question();
    return new RefreshStatus(
        state,
        step,
        runId,
        input == null ? null : input.target(),
        input == null ? null : input.sourceName(),
        question,
        waits ? notices.command(question, true) : null,
        waits ? notices.command(question, false) : null,
        approval.accepted() == null ? null : approval.accepted().decision(),
        approval.ignored(),
        List.copyOf(warnings));
  }
}
