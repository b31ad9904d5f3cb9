package dev.millrace.refresh;

import java.time.Duration;
import java.time.temporal.ChronoUnit;

/**
 * What people are told. Pure.
 *
 * @param input the refresh
 * @param namespace that its workflow is in
 * @param workflowId its workflow, which takes decisions
 * @param temporalRunId the execution, for who looks it up
 */
record Notices(RefreshInput input, String namespace, String workflowId, String temporalRunId) {
  /** The one that the CLI takes without being told. */
  private static final String DEFAULT_NAMESPACE = "default";

  /** Tells of input that can't be read, so that there is no target to name. */
  static String refused(String code, String message, String workflowId) {
    return "A refresh was refused: %s %s. Workflow %s.".formatted(code, message, workflowId);
  }

  String asks(Question question) {
    return "Refresh of %s waits for a decision: it would go from %s to %s rows (at most %d%% may go without one). The shadow table equals Postgres. Approve or reject workflow %s (run %s) within %s, until %s; digest %s. Approve: %s"
        .formatted(
            input.target(),
            question.rowsBefore(),
            question.rowsAfter(),
            input.maxShrinkPct(),
            workflowId,
            temporalRunId,
            input.approvalTimeout(),
            question.until(),
            question.digest(),
            command(question, true));
  }

  String reminds(Question question, Duration left) {
    return "Refresh of %s still waits for a decision, for %s more, until %s: it would go from %s to %s rows. Workflow %s (run %s), digest %s. Approve: %s"
        .formatted(
            input.target(),
            left.truncatedTo(ChronoUnit.SECONDS),
            question.until(),
            question.rowsBefore(),
            question.rowsAfter(),
            workflowId,
            temporalRunId,
            question.digest(),
            command(question, true));
  }

  String published(String rowsBefore, String rowsAfter) {
    return "Refresh of %s is published: %s rows before, %s now, audited again after the swap. The data of before stays in %s until the next refresh that is not skipped. Workflow %s (run %s)."
        .formatted(
            input.target(), rowsBefore, rowsAfter, input.shadow(), workflowId, temporalRunId);
  }

  String rejected(RecordedDecision decision) {
    return "Refresh of %s is rejected by %s. The live table is untouched, the shadow stays in %s. Reason: %s. Workflow %s (run %s)."
        .formatted(
            input.target(),
            decision.by(),
            input.shadow(),
            decision.reason().isEmpty() ? "none given" : decision.reason(),
            workflowId,
            temporalRunId);
  }

  String failed(String code, String message) {
    return "Refresh of %s failed: %s %s. Workflow %s (run %s). See whether the live table is whole, and look into %s before the next run removes it."
        .formatted(input.target(), code, message, workflowId, temporalRunId, input.shadow());
  }

  /** Its message says where the table is that was live in between; there is no other one left. */
  String rolledBack(String code, String message) {
    return "Refresh of %s failed: %s %s. Workflow %s (run %s). See whether the live table is whole."
        .formatted(input.target(), code, message, workflowId, temporalRunId);
  }

  /** Returns a command, ready to be pasted into a shell, that decides. */
  String command(Question question, boolean approved) {
    return "temporal workflow update execute%s --workflow-id %s --name decide --input '{\"approved\": %s, \"by\": \"YOUR NAME\", \"reason\": \"WHY\", \"digest\": \"%s\"}'"
        .formatted(
            namespace.equals(DEFAULT_NAMESPACE) ? "" : " --namespace " + quoted(namespace),
            quoted(workflowId),
            approved,
            question.digest());
  }

  private static String quoted(String text) {
    return "'" + text.replace("'", "'\\''") + "'";
  }
}
