package dev.millrace.refresh;

import dev.millrace.control.RunQueue;
import dev.millrace.postgres.Postgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.function.Supplier;

/**
 * Lets only the run publish that holds the lease and the target; nobody can take either from it
 * meanwhile.
 *
 * @param state where both are
 * @param task the run
 */
record Fence(Postgres state, RefreshActivities.Task task) {
  /** A worker that freezes inside must not hold up the run's end for long. */
  private static final String BOUND = "SET LOCAL idle_in_transaction_session_timeout = '60s'";

  /**
   * Acts inside the fence. The action may run to its end though this throws, when the state went
   * away meanwhile, so it has to be one that can be done again.
   *
   * @throws dev.millrace.failure.MillraceException with {@code LEASE_LOST}
   */
  <T> T inside(Supplier<T> action) {
    return state.transact(
        connection -> {
          check(connection);
          return action.get();
        });
  }

  /** Makes sure until the end of the transaction that the run may publish. */
  void check(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(BOUND);
    }
    RunQueue.check(connection, task.input().pipeline(), task.runId());
    RefreshState.checkClaim(connection, TargetKey.of(task.input()), task.runId());
  }
}
