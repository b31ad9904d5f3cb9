package dev.millrace.control;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Instant;
import java.time.LocalDate;

/**
 * One line of a write-ahead log, before it is written.
 *
 * <p>The fields are those of feather-control-plane 0.1.0, in its order; {@link WalFormat} writes
 * them. Everything may be null unless it says otherwise.
 */
public sealed interface WalRecord {
  /** The most code points of an event's {@code error_detail}; the rest is cut. */
  int ERROR_DETAIL_CAP = 2000;

  /** Returns whose run it is; never null. */
  String extractor();

  /** Returns the run; never null. */
  String runId();

  /**
   * A run begins.
   *
   * @param mode what kind of run, such as {@code replicate}
   * @param host where it runs
   * @param pid the process
   * @param startedAt never null
   * @param walPath the file that holds this record
   * @param extra anything else worth keeping; left out of the line when null
   */
  record RunStart(
      String runId,
      String extractor,
      String mode,
      String host,
      Integer pid,
      Instant startedAt,
      String walPath,
      ObjectNode extra)
      implements WalRecord {}

  /**
   * What became of one unit of work.
   *
   * @param seq its number in the run, from 0; the projection keeps one of a number
   * @param ranAt never null
   * @param entity such as a table
   * @param unit which part of it, such as a window
   * @param businessDate the business's own date, years 1 to 9999
   * @param status never null
   * @param httpStatus only for HTTP
   * @param pullMs milliseconds of reading
   * @param loadMs milliseconds of writing
   * @param errorDetail cut at {@link #ERROR_DETAIL_CAP} code points; empty becomes null
   */
  record Event(
      String extractor,
      String runId,
      long seq,
      Instant ranAt,
      String entity,
      String unit,
      LocalDate businessDate,
      EventStatus status,
      Integer httpStatus,
      Long rows,
      Integer sourceAttempts,
      Integer sinkAttempts,
      Integer pullMs,
      Integer loadMs,
      String errorDetail,
      ObjectNode extra)
      implements WalRecord {}

  /**
   * How much of a budget is used; the last record of a name counts.
   *
   * @param budgetName a {@link BudgetName}'s word or another one; never null
   * @param hit whether the budget ended the run
   * @param ranAt never null
   */
  record Budget(
      String extractor,
      String runId,
      String budgetName,
      Long limit,
      Long used,
      Long remaining,
      boolean hit,
      Instant ranAt)
      implements WalRecord {}

  /**
   * A run ended.
   *
   * @param startedAt never null
   * @param finishedAt never null
   * @param status never null
   * @param stopReason never null
   * @param ok units that went well
   * @param failed units that failed
   * @param skipped units that were left out
   * @param extra replaces the run's when not null; left out of the line when null
   */
  record RunFinish(
      String extractor,
      String runId,
      Instant startedAt,
      Instant finishedAt,
      RunStatus status,
      StopReason stopReason,
      Integer ok,
      Integer failed,
      Integer skipped,
      ObjectNode extra)
      implements WalRecord {}
}
