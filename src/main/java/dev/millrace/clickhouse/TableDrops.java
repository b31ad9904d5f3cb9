package dev.millrace.clickhouse;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Drops tables that were renamed to be thrown away, and says why one stays. Thread-safe. */
final class TableDrops {
  /** What the server answers when a wait was ended. */
  private static final int QUERY_WAS_CANCELLED = 394;

  private final ClickHouse clickhouse;
  private final ShadowStatements statements;
  private final Duration patience;

  TableDrops(ClickHouse clickhouse, ShadowStatements statements, Duration patience) {
    this.clickhouse = clickhouse;
    this.statements = statements;
    this.patience = patience;
  }

  /**
   * Drops a table and waits, for as long as patience lasts, until its data is gone.
   *
   * @return why it stays; empty when it is gone
   * @throws MillraceException for any other cause
   */
  Optional<Pending> drop(AttemptStatements attempt, TargetTable table) {
    try {
      attempt.run(statements.drop(table), patience);
      return Optional.empty();
    } catch (MillraceException e) {
      return Optional.of(pending(table, e));
    }
  }

  private Pending pending(TargetTable table, MillraceException failure) {
    int number = ClickHouseFailure.number(failure);
    if (number == ClickHouseFailure.TABLE_SIZE_EXCEEDS_MAX_DROP_SIZE_LIMIT) {
      return new Pending(
          table,
          Pending.Reason.SIZE_LIMIT,
          ("it is larger than max_table_size_to_drop; run DROP TABLE %s SETTINGS"
                  + " max_table_size_to_drop = 0")
              .formatted(table.sql()));
    }
    if (number == ClickHouseFailure.HAVE_DEPENDENT_OBJECTS) {
      return new Pending(
          table,
          Pending.Reason.DEPENDANTS,
          "drop or move what depends on it, then run DROP TABLE %s: %s"
              .formatted(table.sql(), failure.getMessage()));
    }
    if (number == QUERY_WAS_CANCELLED || failure.code() == ErrorCode.TIMEOUT) {
      return new Pending(
          table,
          Pending.Reason.READERS,
          "the server drops it when those that use it have ended: " + holders());
    }
    throw failure;
  }

  /** Queries that name the target, or a table beside it, and are older than the wait. */
  private String holders() {
    List<RunningQuery> holders =
        clickhouse.runningWhere(
            "elapsed >= ? AND query_kind NOT IN ('Drop', 'Rename') AND match(query, ?)",
            patience.toSeconds(),
            QueryText.namingAnyOf(statements.live()));
    return holders.isEmpty()
        ? "queries that don't name it, or that user %s may not see"
            .formatted(clickhouse.settings().user())
        : holders.stream().map(RunningQuery::toString).collect(Collectors.joining(", "));
  }
}
