package dev.millrace.verify;

import java.util.List;

/**
 * What came of reading a table's lake back.
 *
 * @param pipeline the pipeline
 * @param table {@code schema.table}
 * @param verdict in a word
 * @param watermark how far the table is copied, which is what is proved
 * @param source the connection that was asked
 * @param folder the table's folder in the lake, as people write it
 * @param openRun the run that is at work on the pipeline; null for none
 * @param publishing the object that is being published, which is left out; null for none
 * @param objects objects of the windows up to the watermark
 * @param bytes their size
 * @param rowsInLake their rows, by their footers
 * @param rowsAtSource rows of the table up to the watermark
 * @param pending of these, rows that came since and that the next run takes
 * @param rows the comparison of each row; null where only figures were compared
 * @param findings what is not as it has to be
 * @param notes what a person should know
 */
public record Proof(
    String pipeline,
    String table,
    Verdict verdict,
    String watermark,
    String source,
    String folder,
    String openRun,
    String publishing,
    int objects,
    long bytes,
    long rowsInLake,
    long rowsAtSource,
    long pending,
    Rows rows,
    List<Finding> findings,
    List<String> notes) {

  /** The end of it in a word. */
  public enum Verdict {
    /** Each row of the table up to the watermark is in the lake, and nothing else but versions. */
    PROVEN,
    /** The same, but the lake has rows, too, that are gone at the source. No parity is claimed. */
    PROVEN_BUT_DELETED_ROWS,
    /** Objects, manifests, windows and counts agree; no row was compared. */
    FIGURES_AGREE,
    /** Something is not as it has to be. */
    DIFFERS
  }

  /**
   * The comparison of each row.
   *
   * @param equal rows of the table that are in the lake as they are
   * @param missing rows of the table that are in no object, and that no run takes
   * @param stale rows of the table of which the lake has other versions only, and that no run takes
   * @param twice rows of the lake beyond what the source can have had
   * @param again rows of the lake with the content of an earlier one that came late, so that they
   *     may be versions of their own
   * @param olderVersions rows of the lake that are older versions of rows of the table; -1 without
   *     a primary key, which alone tells them from deleted ones
   * @param deletedRows rows of the lake whose primary key is no longer in the table; -1 without one
   * @param deletedVersions their versions in the lake; without a primary key also older versions of
   *     rows that are still there
   * @param deletedExamples some of them
   * @param aboveWatermark rows of the table that the windows have not come to
   * @param withoutKey rows of the table without a key that are not in the lake
   * @param replacedValues values of the table that their type in the lake can't hold, so that a
   *     rule of the run has replaced them
   */
  public record Rows(
      long equal,
      long missing,
      long stale,
      long twice,
      long again,
      long olderVersions,
      long deletedRows,
      long deletedVersions,
      List<String> deletedExamples,
      long aboveWatermark,
      long withoutKey,
      long replacedValues) {
    public Rows {
      deletedExamples = List.copyOf(deletedExamples);
    }
  }

  public Proof {
    findings = List.copyOf(findings);
    notes = List.copyOf(notes);
  }
}
