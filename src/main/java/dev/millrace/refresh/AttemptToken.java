package dev.millrace.refresh;

import dev.millrace.clickhouse.ShadowNames;
import java.security.SecureRandom;
import java.util.HexFormat;

/** Draws what keeps the names of attempts apart. Thread-safe. */
final class AttemptToken {
  private static final SecureRandom RANDOM = new SecureRandom();

  private AttemptToken() {}

  /** Returns a token that no attempt had before. */
  static String draw() {
    byte[] bytes = new byte[ShadowNames.TOKEN_LENGTH / 2];
    RANDOM.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes);
  }
}
