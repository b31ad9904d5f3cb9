package dev.millrace.clickhouse;

import java.time.Duration;
import java.util.Objects;

/**
 * What it takes to talk to a ClickHouse server.
 *
 * @param name the connection's name in the configuration; it is in each message
 * @param host a host name or address
 * @param port of the HTTP interface, 1 to 65535
 * @param tls whether the port speaks HTTPS; the certificate is verified
 * @param user who to log in as
 * @param password the user's password, or null for none
 * @param connectTimeout for a new connection
 * @param socketTimeout how long an answer may be silent; a statement that takes longer goes on, and
 *     is asked for
 * @param statementTimeout how long a statement without a limit of its own may take
 */
public record ClickHouseSettings(
    String name,
    String host,
    int port,
    boolean tls,
    String user,
    String password,
    Duration connectTimeout,
    Duration socketTimeout,
    Duration statementTimeout) {

  public ClickHouseSettings {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(host, "host");
    Objects.requireNonNull(user, "user");
    Objects.requireNonNull(connectTimeout, "connectTimeout");
    Objects.requireNonNull(socketTimeout, "socketTimeout");
    Objects.requireNonNull(statementTimeout, "statementTimeout");
    if (port < 1 || port > 65535) {
      throw new IllegalArgumentException("the port is not within 1 to 65535");
    }
  }

  /** Returns the same settings with another socket timeout. */
  public ClickHouseSettings withSocketTimeout(Duration timeout) {
    return new ClickHouseSettings(
        name, host, port, tls, user, password, connectTimeout, timeout, statementTimeout);
  }

  /** Returns the settings without the password. */
  @Override
  public String toString() {
    return "%s (%s@%s:%d%s)".formatted(name, user, host, port, tls ? ", tls" : "");
  }
}
