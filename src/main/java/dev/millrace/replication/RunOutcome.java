package dev.millrace.replication;

import dev.millrace.control.RunStatus;
import dev.millrace.control.StopReason;

/** The rules by which the ends of tables become the end of their run. */
final class RunOutcome {
  private RunOutcome() {}

  /**
   * Returns the control plane's word for the end of a run.
   *
   * @param ok tables that went well
   * @param failed tables that failed; the rest was left out
   * @param stopped what ended the run before its tables were through; null when nothing did
   */
  static RunStatus status(int ok, int failed, StopReason stopped) {
    if (stopped == StopReason.BUDGET_TIME) {
      return RunStatus.PARTIAL;
    }
    if (stopped != null || (ok == 0 && failed > 0)) {
      return RunStatus.FAILED;
    }
    return failed == 0 ? RunStatus.OK : RunStatus.PARTIAL;
  }

  /** Returns why it ended. */
  static StopReason reason(int failed, StopReason stopped) {
    if (stopped != null) {
      return stopped;
    }
    return failed == 0 ? StopReason.CLEAN : StopReason.ERROR;
  }
}
