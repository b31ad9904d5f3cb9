package dev.millrace.refresh;

/**
 * A Postgres database as a ClickHouse server reaches it.
 *
 * @param hostAndPort {@code host:port}, as that server resolves it
 * @param database the database
 * @param user who reads
 * @param password a secret; null for none
 * @param namedCollection a <a href="https://clickhouse.com/docs/operations/named-collections">named
 *     collection</a> of that server, which has all of the above; null for none
 */
public record PostgresSeen(
    String hostAndPort, String database, String user, String password, String namedCollection) {
  /** Hides the password. */
  @Override
  public String toString() {
    return namedCollection == null ? hostAndPort + "/" + database : "collection " + namedCollection;
  }
}
