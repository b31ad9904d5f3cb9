package dev.millrace.refresh;

import java.util.Locale;

/** What a refresh does, in this order; the control plane has an event for each that was done. */
enum RefreshStep {
  PREFLIGHT,
  AUDIT_SOURCE,
  AUDIT_LIVE,
  UNCHANGED,
  LOAD,
  AUDIT_SHADOW,
  VERDICT,
  APPROVAL,
  RECHECK,
  SWAP,
  AUDIT_PUBLISHED,
  SAVE_STATE,
  ROLLBACK,
  CLEAN_UP;

  /** Returns how records and people call it. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
