package dev.millrace.refresh;

/**
 * What a person is asked.
 *
 * @param number 1 for the first of a run; a change of what would be published asks again
 * @param digest what tells this question from all others
 * @param rowsBefore rows of the live table
 * @param rowsAfter rows of the shadow table
 * @param until when it is too late, an ISO-8601 instant
 */
public record Question(
    int number, String digest, String rowsBefore, String rowsAfter, String until) {
  private static final int DIGEST_DIGITS = 16;

  /**
   * Returns the first 16 hexadecimal digits of the SHA-256 of what would be published and of what
   * it would take the place of.
   */
  static String digest(String target, String shadowUuid, AuditFigures shadow, AuditFigures live) {
    String text = String.join("\n", target, shadowUuid, shadow.toString(), live.toString());
    return ShortHash.of(text, DIGEST_DIGITS);
  }
}
