package dev.millrace.postgres;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/**
 * What it takes to connect to a database.
 *
 * @param name the connection's name in the configuration; it is in each message
 * @param host a host name or address
 * @param port 1 to 65535
 * @param database the database's name
 * @param user the role to log in as
 * @param password its password, or null for none
 * @param sslMode how the connection is encrypted
 * @param sslRootCertificate PEM file of the authorities that are trusted by {@code verify-ca} and
 *     {@code verify-full}, or null for the JVM's own
 * @param maxConnections the most connections open at once, at least 1
 * @param connectTimeout for a new connection
 * @param socketTimeout for an answer; a COPY may be silent for longer while its server process
 *     works
 */
public record PostgresSettings(
    String name,
    String host,
    int port,
    String database,
    String user,
    String password,
    SslMode sslMode,
    Path sslRootCertificate,
    int maxConnections,
    Duration connectTimeout,
    Duration socketTimeout) {

  public PostgresSettings {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(host, "host");
    Objects.requireNonNull(database, "database");
    Objects.requireNonNull(user, "user");
    Objects.requireNonNull(sslMode, "sslMode");
    Objects.requireNonNull(connectTimeout, "connectTimeout");
    Objects.requireNonNull(socketTimeout, "socketTimeout");
    if (maxConnections < 1) {
      throw new IllegalArgumentException("maxConnections is less than 1");
    }
  }

  /** Returns the same settings with another bound of connections. */
  public PostgresSettings withMaxConnections(int connections) {
    return new PostgresSettings(
        name,
        host,
        port,
        database,
        user,
        password,
        sslMode,
        sslRootCertificate,
        connections,
        connectTimeout,
        socketTimeout);
  }

  /** Returns the settings without the password. */
  @Override
  public String toString() {
    return "%s (%s@%s:%d/%s, sslmode=%s)"
        .formatted(name, user, host, port, database, sslMode.text());
  }
}
