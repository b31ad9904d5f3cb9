package dev.millrace.app;

import dev.millrace.failure.Redactor;
import java.util.Objects;

/**
 * A secret that a reference of the configuration led to; its text is only seen by who asks for it.
 *
 * <p>Immutable, so safe for use by several threads.
 */
public final class Secret {
  private final String value;

  /**
   * Makes a secret, and has {@link Redactor} remove it from all messages from now on.
   *
   * @param value the text, not null
   */
  public Secret(String value) {
    this.value = Objects.requireNonNull(value, "value");
    Redactor.register(value);
  }

  /** Returns the secret itself, for the one adapter that needs it. */
  public String value() {
    return value;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Secret secret && secret.value.equals(value);
  }

  @Override
  public int hashCode() {
    return value.hashCode();
  }

  @Override
  public String toString() {
    return "***";
  }
}
