package dev.millrace.failure;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;

/**
 * Removes secrets from text before anybody sees it: messages of drivers may quote a password.
 *
 * <p>Process-wide, because the logging system makes its converters by class name. Thread-safe.
 */
public final class Redactor {
  private static final String HIDDEN = "***";

  /** Shorter values would hide ordinary words; a configuration with such a secret is refused. */
  public static final int LEAST_SECRET_LENGTH = 4;

  private static final Pattern USER_INFO = Pattern.compile("(?<=://)[^/@\\s]+@");
  private static final Pattern NAMED =
      Pattern.compile(
          "(?i)\\b(password|passwd|pwd|secret|token|api[_-]?key|authorization|aws_secret_access_key)"
              + "(\\s*[=:]\\s*)(\"[^\"]*\"|'[^']*'|[^\\s,;&\"']+)");

  private static final List<String> SECRETS = new CopyOnWriteArrayList<>();

  private Redactor() {}

  /**
   * Remembers a secret for the rest of the process.
   *
   * @param secret a resolved secret; ignored when shorter than {@link #LEAST_SECRET_LENGTH}
   */
  public static void register(String secret) {
    if (secret.length() < LEAST_SECRET_LENGTH || SECRETS.contains(secret)) {
      return;
    }
    SECRETS.add(secret);
    // Longest first: a secret may contain another one.
    SECRETS.sort(Comparator.comparingInt(String::length).reversed());
  }

  /**
   * Returns the text without secrets.
   *
   * @param text any text, or null
   * @return the text with each secret replaced by {@code ***}, or null for null
   */
  public static String redact(String text) {
    if (text == null) {
      return null;
    }
    String redacted = text;
    for (String secret : SECRETS) {
      redacted = redacted.replace(secret, HIDDEN);
    }
    redacted = USER_INFO.matcher(redacted).replaceAll(HIDDEN + "@");
    return NAMED.matcher(redacted).replaceAll("$1$2" + HIDDEN);
  }
}
