package dev.millrace.clickhouse;

import java.time.Duration;

/**
 * The statements of one attempt at one step, each under an id of its own: {@code
 * millrace-<run>-<step>-<token>-<n>}. For one thread.
 */
final class AttemptStatements {
  private static final String PREFIX = "millrace-";

  private final ClickHouse clickhouse;
  private final String prefix;
  private int sent;

  AttemptStatements(ClickHouse clickhouse, String runId, String step, String token) {
    this.clickhouse = clickhouse;
    this.prefix = "%s%s-%s-%s-".formatted(PREFIX, runId, step, token);
  }

  /** Returns the next id. */
  String nextId() {
    sent++;
    return prefix + sent;
  }

  /** Runs a statement within the connection's limit. */
  void run(String sql) {
    run(sql, clickhouse.settings().statementTimeout());
  }

  /** Runs a statement within a limit. */
  void run(String sql, Duration limit) {
    clickhouse.execute(sql, nextId(), limit);
  }

  /** Returns a condition, on system.processes, of this user's statements of a step of any run. */
  static String ofStep(String step) {
    return "user = currentUser() AND startsWith(query_id, '%s') AND position(query_id, '-%s-') > 0"
        .formatted(PREFIX, step);
  }
}
