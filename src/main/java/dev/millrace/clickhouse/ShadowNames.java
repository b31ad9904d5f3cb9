package dev.millrace.clickhouse;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.regex.Pattern;

/**
 * The names of the tables beside a live one. A token is of one attempt, so whoever comes late meets
 * names that are gone.
 *
 * @param live the table that readers use
 */
public record ShadowNames(TargetTable live) {
  /** The digits of a token. */
  public static final int TOKEN_LENGTH = 12;

  private static final Pattern TOKEN = Pattern.compile("[0-9a-f]{12}");
  private static final String SHADOW = "__refresh";
  private static final String LOAD = "__load_";
  private static final String SWAP = "__swap_";
  private static final String DROP = "__drop_";
  private static final String BACK = "__back_";

  /** What a name that belongs to another table ends with: such a table can't be a target itself. */
  public static final Pattern RESERVED = Pattern.compile("(?s).*" + beside());

  /** Returns the table that waits to be published, or was live before. */
  public TargetTable shadow() {
    return live.sibling(live.table() + SHADOW);
  }

  /** Returns the table that an attempt loads. */
  public TargetTable load(String token) {
    return named(LOAD, token);
  }

  /** Returns the table that an attempt swaps. */
  public TargetTable swap(String token) {
    return named(SWAP, token);
  }

  /** Returns the table that an attempt throws away. */
  public TargetTable drop(String token) {
    return named(DROP, token);
  }

  /** Returns the table as which an attempt throws away one of several leftovers. */
  TargetTable drop(String token, String leftover) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256")
              .digest((token + ' ' + leftover).getBytes(StandardCharsets.UTF_8));
      return drop(HexFormat.of().formatHex(digest).substring(0, TOKEN_LENGTH));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this JVM has no SHA-256", e);
    }
  }

  /** Returns the table that an attempt takes back, and as which it stays to be looked at. */
  public TargetTable back(String token) {
    return named(BACK, token);
  }

  private TargetTable named(String infix, String token) {
    if (!TOKEN.matcher(token).matches()) {
      throw new IllegalArgumentException("a token is 12 hex digits, not " + token);
    }
    return live.sibling(live.table() + infix + token);
  }

  Pattern loads() {
    return like(LOAD + TOKEN);
  }

  Pattern swaps() {
    return like(SWAP + TOKEN);
  }

  Pattern drops() {
    return like(DROP + TOKEN);
  }

  Pattern backs() {
    return like(BACK + TOKEN);
  }

  /** Matches the live table and all that belong to it. */
  Pattern all() {
    return like(beside() + "?");
  }

  /** Returns a regular expression for what the names beside a live one end with. */
  static String beside() {
    return "(" + SHADOW + "|__(load|swap|drop|back)_" + TOKEN + ")";
  }

  private Pattern like(String suffix) {
    return Pattern.compile(Pattern.quote(live.table()) + suffix);
  }

  static String token(String name) {
    return name.substring(name.length() - TOKEN_LENGTH);
  }
}
