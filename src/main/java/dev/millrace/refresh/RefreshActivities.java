package dev.millrace.refresh;

import dev.millrace.run.Admission;
import io.temporal.activity.ActivityInterface;
import java.util.List;

/**
 * The steps of a refresh. Each may be done again after any crash. Errors: {@code
 * ApplicationFailure} with a code as type.
 */
@ActivityInterface(namePrefix = "Refresh")
public interface RefreshActivities {

  /**
   * What the worker's configuration means for a refresh.
   *
   * @param admission limits, and what the namespace has
   * @param approvers who may decide; empty for anybody
   */
  record Admitted(Admission admission, List<String> approvers) {}

  /** A refresh at work. */
  record Task(RefreshInput input, String runId) {}

  /**
   * What was found out before a row is read.
   *
   * @param layout a hash of the columns, their types and the way they are copied; a step that meets
   *     another one fails
   * @param columns the copied columns
   * @param saved what the last publish left behind; null when there was none, or one of another
   *     layout or made of another table
   * @param warnings what a swap means for what hangs on the table
   */
  record Plan(String layout, List<String> columns, Fingerprint saved, List<String> warnings) {}

  /** The live table as it was audited. */
  record Live(String uuid, AuditFigures figures) {}

  /**
   * A shadow table that is loaded.
   *
   * @param shadowUuid what it is known by
   * @param source the source's figures in the snapshot that was loaded; null where the load had no
   *     snapshot of its own
   * @param millis what it took
   * @param pending tables of earlier runs that could not be dropped
   */
  record Loaded(String shadowUuid, AuditFigures source, long millis, List<String> pending) {}

  /** Both tables, right before the swap. */
  record Rechecked(AuditFigures shadow, Live live) {}

  /**
   * What is to be published.
   *
   * @param layout as planned
   * @param shadowUuid the table that becomes live
   * @param liveUuid the table that it takes the place of
   * @param fingerprint of the source, and of the table that becomes live
   * @param shadow the shadow's figures
   */
  record Publication(
      String layout,
      String shadowUuid,
      String liveUuid,
      Fingerprint fingerprint,
      AuditFigures shadow) {}

  /**
   * The live table after a swap back.
   *
   * @param figures of what readers see
   * @param kept where the table is that was live in between; null when it is gone
   */
  record RolledBack(AuditFigures figures, String kept) {}

  /** What was left to do after a publish, and what somebody should know. */
  record Afterwards(List<String> pending, List<String> warnings) {}

  /** Checks the request against the configuration; the state must answer. */
  Admitted admit(RefreshInput input);

  /** Claims the target for this run; fails with {@code LEASE_HELD}. */
  void claim(Task task, String workflowId);

  /** Decides what an earlier run left, and refuses what can't be refreshed. */
  Plan preflight(Task task);

  /** Audits the source. */
  SourceFigures auditSource(Task task, Plan plan);

  /** Audits the live table. */
  Live auditLive(Task task, Plan plan);

  /**
   * Removes the shadow of before, builds a new one and loads it.
   *
   * @param source what the source's audit found
   */
  Loaded load(Task task, Plan plan, SourceFigures source);

  /** Audits the shadow. */
  AuditFigures auditShadow(Task task, Plan plan, String shadowUuid);

  /** Makes sure that nothing writes the shadow, and audits both tables. */
  Rechecked recheck(Task task, Plan plan, String shadowUuid);

  /** Swaps the shadow in. */
  void swap(Task task, Publication publication);

  /** Audits what readers see now. */
  AuditFigures auditPublished(Task task, Publication publication);

  /** Records what was published. */
  void saveState(Task task, Publication publication);

  /** Swaps the old table back, and looks at what readers see then. */
  RolledBack rollBack(Task task, Publication publication);

  /** Reloads dictionaries and removes what is no longer needed. */
  Afterwards cleanUp(Task task);

  /** Returns the client that sent an answer, as the history has it. */
  String identity(String workflowId, String temporalRunId, String updateId, int signal);

  /** Lets go of the target and of the lease. */
  void close(Task task);
}
