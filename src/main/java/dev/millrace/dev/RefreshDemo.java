package dev.millrace.dev;

import io.temporal.client.WorkflowStub;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The part of {@code millrace demo} that refreshes a dimension: each way in which a refresh can
 * end, and what the live table holds after it. Not thread-safe.
 */
final class RefreshDemo {
  /** The point at which the audit of what was published is made to fail. */
  private static final String MISMATCH = "audit-published.end=mismatch";

  private static final int AFTER_ADDING = DemoDimension.ROWS + 100;
  private static final int AFTER_SHRINKING = 3_000;
  private static final int AFTER_SHRINKING_MORE = 1_000;

  private final EmbeddedStack stack;
  private final Consumer<String> restartWorker;
  private final Consumer<String> say;
  private boolean right = true;

  /**
   * Prepares the show.
   *
   * @param restartWorker starts the worker anew with the value of {@code MILLRACE_POINTS}
   * @param say prints a line
   */
  RefreshDemo(EmbeddedStack stack, Consumer<String> restartWorker, Consumer<String> say) {
    this.stack = stack;
    this.restartWorker = restartWorker;
    this.say = say;
  }

  /**
   * Runs it.
   *
   * @param id what workflow ids begin with
   * @return whether each refresh ended as it should, and the live table was right after it
   */
  boolean run(ClickHouseServer clickHouse, Connection postgres, String id) throws SQLException {
    heading(
        "Refreshing ClickHouse %s from Postgres %s"
            .formatted(DemoDimension.TARGET, DemoDimension.SOURCE));
    DemoDimension dimension = DemoDimension.make(postgres, clickHouse);
    try (DemoRefresh runs = DemoRefresh.on(stack)) {
      heading("  First load");
      refresh(runs, dimension, id + "-1", "published");

      heading("  Nothing has changed");
      refresh(runs, dimension, id + "-2", "skipped");

      heading("  New prices and new products");
      dimension.reprice(20);
      dimension.add(DemoDimension.ROWS + 1, AFTER_ADDING);
      refresh(runs, dimension, id + "-3", "published");

      heading("  Two of five products are gone: it waits for a decision, and is approved");
      dimension.deleteAfter(AFTER_SHRINKING);
      decide(runs, dimension, id + "-4", true, "old products were removed", "published");

      heading("  Two of three products are gone: it waits, and is rejected");
      dimension.deleteAfter(AFTER_SHRINKING_MORE);
      List<String> before = dimension.live();
      decide(runs, dimension, id + "-5", false, "the import is broken", "rejected");
      requireUntouched(dimension, before);

      heading("  What is live after the swap is made to look wrong: it is swapped back");
      dimension.add(AFTER_SHRINKING_MORE + 1, DemoDimension.ROWS);
      restartWorker.accept(MISMATCH);
      end(runs.await(runs.start(id + "-6")), "ROLLED_BACK");
      requireUntouched(dimension, before);

      heading("  And again, without that");
      refresh(runs, dimension, id + "-7", "published");
    }
    return right;
  }

  private void refresh(DemoRefresh runs, DemoDimension dimension, String id, String outcome)
      throws SQLException {
    end(runs.await(runs.start(id)), outcome);
    requireEqual(dimension);
  }

  private void decide(
      DemoRefresh runs,
      DemoDimension dimension,
      String id,
      boolean approved,
      String reason,
      String outcome)
      throws SQLException {
    List<String> before = dimension.live();
    WorkflowStub run = runs.start(id);
    DemoRefresh.Asked asked = runs.awaitQuestion(run);
    say.accept(
        "    asks: %s rows now, %s rows after; a person would run"
            .formatted(asked.rowsBefore(), asked.rowsAfter()));
    say.accept("      " + asked.command());
    requireUntouched(dimension, before);
    say.accept("    " + runs.decide(run, asked, approved, reason));
    end(runs.await(run), outcome);
    if (approved) {
      requireEqual(dimension);
    }
  }

  private void end(DemoRefresh.Ended ended, String outcome) {
    say.accept("    %s: %s".formatted(ended.outcome(), ended.summary()));
    require(ended.outcome().equals(outcome), "it should have been " + outcome);
  }

  private void requireEqual(DemoDimension dimension) throws SQLException {
    Optional<String> difference = dimension.difference();
    require(difference.isEmpty(), "the live table differs: " + difference.orElse(""));
    if (difference.isEmpty()) {
      say.accept("    live equals Postgres, all columns of all rows");
    }
  }

  private void requireUntouched(DemoDimension dimension, List<String> before) {
    boolean same = dimension.live().equals(before);
    require(same, "the live table is not as it was");
    if (same) {
      say.accept("    live is untouched, all columns of %,d rows".formatted(before.size()));
    }
  }

  private void require(boolean condition, String otherwise) {
    if (!condition) {
      right = false;
      say.accept("    WRONG: " + otherwise);
    }
  }

  private void heading(String text) {
    say.accept("");
    say.accept(text);
  }
}
