package dev.millrace.postgres;

/**
 * How a connection is encrypted and whom it trusts, as in <a
 * href="https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-PROTECTION">libpq</a>.
 */
public enum SslMode {
  DISABLE("disable"),
  ALLOW("allow"),
  PREFER("prefer"),
  REQUIRE("require"),
  VERIFY_CA("verify-ca"),
  VERIFY_FULL("verify-full");

  private final String text;

  SslMode(String text) {
    this.text = text;
  }

  /** Returns libpq's spelling, which is also the driver's. */
  public String text() {
    return text;
  }

  /** Returns whether the server's certificate is checked. */
  boolean verifies() {
    return this == VERIFY_CA || this == VERIFY_FULL;
  }
}
