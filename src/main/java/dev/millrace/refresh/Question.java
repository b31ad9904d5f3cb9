package dev.millrace.refresh;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

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
  private static final int DIGEST_BYTES = 8;

  /**
   * Returns the first 16 hexadecimal digits of the SHA-256 of what would be published and of what
   * it would take the place of.
   */
  static String digest(String target, String shadowUuid, AuditFigures shadow, AuditFigures live) {
    String text = String.join("\n", target, shadowUuid, shadow.toString(), live.toString());
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, DIGEST_BYTES);
    } catch (NoSuchAlgorithmException exception) {
      throw new IllegalStateException("this JVM has no SHA-256", exception);
    }
  }
}
