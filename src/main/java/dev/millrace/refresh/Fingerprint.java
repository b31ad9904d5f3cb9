package dev.millrace.refresh;

/**
 * The text by which a later run sees that nothing changed.
 *
 * @param source {@code rows|distinct|sum|newest} of Postgres, with the hash after it where there is
 *     one
 * @param live {@code rows|distinct|sum} of the live table, likewise
 */
public record Fingerprint(String source, String live) {

  /** Returns the fingerprint of what was audited. */
  static Fingerprint of(AuditFigures source, AuditFigures live) {
    return new Fingerprint(
        withHash(triple(source) + "|" + source.newest(), source), withHash(triple(live), live));
  }

  /** Returns {@code rows|distinct|sum}. */
  static String triple(AuditFigures figures) {
    return "%s|%s|%s".formatted(figures.rows(), figures.distinct(), figures.sum());
  }

  private static String withHash(String text, AuditFigures figures) {
    return figures.hash() == null ? text : text + "|" + figures.hash();
  }

  /**
   * Returns whether the source is as it was at the last publish, and the live table as that publish
   * left it.
   *
   * @param published what the last publish recorded; null when there was none
   */
  boolean unchangedSince(Fingerprint published) {
    return equals(published);
  }
}
