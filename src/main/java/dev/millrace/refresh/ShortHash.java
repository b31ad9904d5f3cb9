package dev.millrace.refresh;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The first digits of a SHA-256, for people to compare and to tell apart. Pure. */
final class ShortHash {
  private ShortHash() {}

  /**
   * Returns the beginning of a text's SHA-256.
   *
   * @param digits how many hexadecimal digits
   */
  static String of(String text, int digits) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest).substring(0, digits);
    } catch (NoSuchAlgorithmException exception) {
      throw new IllegalStateException("this JVM has no SHA-256", exception);
    }
  }
}
