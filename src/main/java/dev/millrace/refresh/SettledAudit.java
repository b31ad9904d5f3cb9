package dev.millrace.refresh;

import dev.millrace.clickhouse.ClickHouse;
import dev.millrace.clickhouse.Replicas;
import dev.millrace.clickhouse.ShadowStatements;
import dev.millrace.clickhouse.TargetTable;
import java.time.Duration;

/**
 * The audit of a table once each replica has what the others wrote: one that lags would look like a
 * table that has lost rows. Thread-safe.
 */
final class SettledAudit {
  private final ClickHouse clickHouse;
  private final Replicas replicas;
  private final TargetAudit audit;
  private final String runId;

  /**
   * Makes an audit.
   *
   * @param statements how the target is replicated
   * @param plan what is asked
   * @param runId the run, for the names of its statements
   */
  SettledAudit(ClickHouse clickHouse, ShadowStatements statements, AuditPlan plan, String runId) {
    this.clickHouse = clickHouse;
    this.replicas = new Replicas(clickHouse, statements);
    this.audit = new TargetAudit(plan);
    this.runId = runId;
  }

  /**
   * Reads the figures.
   *
   * @throws dev.millrace.failure.MillraceException as {@link ClickHouse#query}
   */
  AuditFigures read(TargetTable table) {
    Duration limit = clickHouse.settings().statementTimeout();
    replicas.sync(table, "millrace-%s-sync-%s".formatted(runId, AttemptToken.draw()), limit);
    return audit.read(clickHouse, table, limit);
  }
}
