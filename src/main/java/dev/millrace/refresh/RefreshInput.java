package dev.millrace.refresh;

import java.time.Duration;
import java.util.List;

/**
 * What a refresh is asked to do, checked; {@link RefreshInputParser} reads it.
 *
 * @param pipeline the name of what is kept going
 * @param source the configured Postgres connection
 * @param sourceSchema the schema of the source table
 * @param sourceTable the source table
 * @param clickhouse the configured ClickHouse connection
 * @param targetDatabase the database of the live table
 * @param targetTable the live table
 * @param columns columns to copy; empty for those that both sides share
 * @param pkColumn the key, one column without NULLs
 * @param checksumColumn an integer or decimal column whose sum is compared
 * @param updatedColumn the source's column whose greatest value is part of its fingerprint
 * @param maxShrinkPct 0 to 100; a table that would shrink by more waits for approval
 * @param alwaysRequireApproval whether each publish waits for approval
 * @param allowEmptySource whether a table without rows may be published
 * @param approvalTimeout how long a question waits; more than zero
 * @param load how rows travel
 * @param audit what is compared
 * @param force whether an unchanged source is refreshed too
 * @param cluster the ClickHouse cluster for statements ON CLUSTER; null for none
 * @param reloadDictionaries dictionaries, as {@code database.name}, that are reloaded after the
 *     swap
 */
public record RefreshInput(
    String pipeline,
    String source,
    String sourceSchema,
    String sourceTable,
    String clickhouse,
    String targetDatabase,
    String targetTable,
    List<String> columns,
    String pkColumn,
    String checksumColumn,
    String updatedColumn,
    int maxShrinkPct,
    boolean alwaysRequireApproval,
    boolean allowEmptySource,
    Duration approvalTimeout,
    Load load,
    AuditMode audit,
    boolean force,
    String cluster,
    List<String> reloadDictionaries) {
  public RefreshInput {
    columns = List.copyOf(columns);
    reloadDictionaries = List.copyOf(reloadDictionaries);
  }

  /** Returns {@code database.table}, as records and messages name the target. */
  public String target() {
    return targetDatabase + "." + targetTable;
  }

  /** Returns {@code schema.table}, as messages name the source. */
  public String sourceName() {
    return sourceSchema + "." + sourceTable;
  }

  /** Returns the name of the table beside the live one. */
  public String shadow() {
    return targetTable + "__refresh";
  }
}
