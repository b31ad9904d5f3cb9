package dev.millrace.replication;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.StagedObject;
import dev.millrace.parquet.ReplacedValues;
import java.util.List;

/**
 * A window's rows, staged but not visible.
 *
 * @param staged the object; null when there were no rows
 * @param rowsCopied rows that Postgres says it sent (COPY's command tag)
 * @param rowsEncoded rows that were encoded
 * @param rowsInFooter rows that the file's footer declares
 * @param window what was read
 * @param more whether the run's window goes on after it
 * @param reading the attempt whose snapshot the state keeps; null when the watermark must stay
 * @param warnings what a person should know
 * @param longTransaction one that has been open for long; null for none
 * @param attempt the attempt that staged them, from 1
 * @param replaced values that rules have replaced; few
 */
public record Extracted(
    StagedObject staged,
    long rowsCopied,
    long rowsEncoded,
    long rowsInFooter,
    Window window,
    boolean more,
    String reading,
    List<String> warnings,
    LongTransaction longTransaction,
    int attempt,
    List<ReplacedValues> replaced) {
  public Extracted {
    warnings = List.copyOf(warnings);
    replaced = replaced == null ? List.of() : List.copyOf(replaced);
  }

  /**
   * Compares the three counts.
   *
   * @throws MillraceException with {@code AUDIT_FAILED} when they differ
   */
  void audit(String table) {
    if (rowsCopied != rowsEncoded || rowsEncoded != rowsInFooter) {
      throw new MillraceException(
          ErrorCode.AUDIT_FAILED,
          "%s: Postgres sent %d rows, %d were encoded and the footer says %d; nothing was published, the next run copies the window again"
              .formatted(table, rowsCopied, rowsEncoded, rowsInFooter));
    }
  }
}
