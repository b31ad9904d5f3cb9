package dev.millrace.refresh;

import dev.millrace.clickhouse.Dependants;
import dev.millrace.clickhouse.Seen;
import dev.millrace.clickhouse.TableFacts;
import java.util.ArrayList;
import java.util.List;

/** What a swap means for what hangs on a table, a sentence each. Pure. */
final class TargetWarnings {
  private TargetWarnings() {}

  /**
   * Returns what to tell.
   *
   * @param reloaded dictionaries that are reloaded after the swap, of which nobody need be told
   */
  static List<String> of(TableFacts table, Dependants dependants, List<String> reloaded) {
    List<String> warnings = new ArrayList<>();
    tell(
        warnings,
        "materialized views that read the table",
        "go on with the new one, and don't fire for its rows",
        dependants.readingViews());
    tell(
        warnings,
        "materialized views that write the table",
        "rows that they wrote since the last refresh are lost with the swap",
        dependants.feedingViews());
    tell(
        warnings,
        "dictionaries over the table",
        "keep the old rows until they are reloaded; name them in reload_dictionaries",
        without(dependants.dictionaries(), reloaded));
    tell(warnings, "row policies on the table", "go by name, so they stay", dependants.policies());
    tellUnknown(warnings, "rights on the table", dependants.grants());
    if (!table.comment().isEmpty()) {
      warnings.add("the comment of the table stays with the old table");
    }
    return warnings;
  }

  private static Seen without(Seen seen, List<String> names) {
    return new Seen(
        seen.names().stream().filter(name -> !names.contains(name)).toList(), seen.unknown());
  }

  private static void tell(List<String> warnings, String what, String meaning, Seen seen) {
    if (!seen.names().isEmpty()) {
      warnings.add("%s: %s; they %s".formatted(what, String.join(", ", seen.names()), meaning));
    }
    tellUnknown(warnings, what, seen);
  }

  private static void tellUnknown(List<String> warnings, String what, Seen seen) {
    if (!seen.complete()) {
      warnings.add("%s: unknown, %s".formatted(what, seen.unknown()));
    }
  }
}
