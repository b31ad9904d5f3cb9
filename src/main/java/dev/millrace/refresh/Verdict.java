package dev.millrace.refresh;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;

/**
 * What the audits mean for publishing.
 *
 * @param parity whether the shadow is what the source is
 * @param empty whether the shadow has no rows
 * @param emptyRefused whether it may not be published for that
 * @param shrink whether the live table would lose more than the allowed part of its rows
 * @param needsApproval whether a human has to decide
 * @param differences one sentence for each figure that breaks parity
 */
record Verdict(
    boolean parity,
    boolean empty,
    boolean emptyRefused,
    boolean shrink,
    boolean needsApproval,
    List<String> differences) {
  private static final int WHOLE = 100;

  Verdict {
    differences = List.copyOf(differences);
  }

  /**
   * What the input allows.
   *
   * @param maxShrinkPercent 0 to 100
   * @param alwaysRequireApproval whether each publish is held
   * @param allowEmptySource whether a table without rows may be published
   */
  record Rules(int maxShrinkPercent, boolean alwaysRequireApproval, boolean allowEmptySource) {
    Rules {
      if (maxShrinkPercent < 0 || maxShrinkPercent > WHOLE) {
        throw new IllegalArgumentException("max_shrink_pct is " + maxShrinkPercent);
      }
    }
  }

  /**
   * Judges.
   *
   * @param names the copied columns, in the order of the NULL counts
   * @param source figures of Postgres
   * @param shadow figures of the new table
   * @param live figures of the table that readers see
   */
  static Verdict of(
      List<String> names,
      AuditFigures source,
      AuditFigures shadow,
      AuditFigures live,
      Rules rules) {
    List<String> differences = differences(names, source, shadow);
    BigInteger after = new BigInteger(shadow.rows());
    BigInteger before = new BigInteger(live.rows());
    boolean empty = after.signum() == 0;
    boolean shrink =
        before.signum() > 0
            && after
                    .multiply(BigInteger.valueOf(WHOLE))
                    .compareTo(
                        before.multiply(BigInteger.valueOf(WHOLE - rules.maxShrinkPercent())))
                < 0;
    return new Verdict(
        differences.isEmpty(),
        empty,
        empty && !rules.allowEmptySource(),
        shrink,
        rules.alwaysRequireApproval() || shrink,
        differences);
  }

  /** Returns one sentence for each figure in which two tables differ; empty when they are equal. */
  static List<String> differences(List<String> names, AuditFigures source, AuditFigures target) {
    List<String> differences = new ArrayList<>();
    compare(differences, "rows", source.rows(), target.rows());
    compare(differences, "different keys", source.distinct(), target.distinct());
    compare(differences, "checksum", source.sum(), target.sum());
    if (source.nulls().size() != names.size() || target.nulls().size() != names.size()) {
      throw new IllegalArgumentException("NULL counts of other columns than " + names);
    }
    for (int i = 0; i < names.size(); i++) {
      compare(
          differences,
          "NULLs of \"" + names.get(i) + "\"",
          source.nulls().get(i),
          target.nulls().get(i));
    }
    compare(differences, "hash of all values", source.hash(), target.hash());
    return differences;
  }

  private static void compare(List<String> differences, String what, String source, String target) {
    boolean equal = source == null ? target == null : source.equals(target);
    if (!equal) {
      differences.add("%s: %s in Postgres, %s in ClickHouse".formatted(what, source, target));
    }
  }
}
