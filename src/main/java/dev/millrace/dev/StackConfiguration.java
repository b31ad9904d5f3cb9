package dev.millrace.dev;

import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The configuration file of a stack, and the S3 keys it refers to.
 *
 * <p>Immutable.
 *
 * @param home the data folder of the stack
 * @param kind who started it
 * @param kept whether the data folder outlives the stack
 * @param accessKeyId the S3 access key id
 * @param secretAccessKey the S3 secret access key
 */
record StackConfiguration(
    Path home, EmbeddedStack.Kind kind, boolean kept, String accessKeyId, String secretAccessKey) {
  /** Returns the configuration in a data folder, with keys that are made at the first start. */
  static StackConfiguration in(Path home, EmbeddedStack.Kind kind, boolean kept) {
    Folders.create(home.resolve("s3"));
    return new StackConfiguration(
        home,
        kind,
        kept,
        Folders.secret(accessKeyIdFile(home)),
        Folders.secret(secretAccessKeyFile(home)));
  }

  /** Returns where the file is. */
  Path file() {
    return home.resolve("millrace.yaml");
  }

  /**
   * Writes the file for servers that run.
   *
   * @param clickHouse the ClickHouse server, where there is one
   * @param webhook where alerts go, if anywhere
   */
  void write(
      PostgresServer postgres,
      S3Server s3,
      TemporalServer temporal,
      Optional<ClickHouseServer> clickHouse,
      Optional<URI> webhook) {
    String text = text(postgres, s3, temporal);
    text += clickHouse.map(StackConfiguration::text).orElse("");
    if (webhook.isPresent()) {
      Folders.writePrivate(webhookFile(), webhook.get().toString());
      text += "slack:\n  webhook: \"${file:%s}\"\n".formatted(webhookFile());
    }
    Folders.writePrivate(file(), text);
  }

  /** Returns where the worker's records are before they are in Postgres. */
  Path walFolder() {
    return home.resolve("control_wal");
  }

  private Path webhookFile() {
    return home.resolve("slack-webhook");
  }

  private String text(PostgresServer postgres, S3Server s3, TemporalServer temporal) {
    String text =
        """
        # Written by the embedded stack at each start; changes are lost.
        temporal:
          address: %s
          namespace: %s
          task_queue: millrace
        postgres:
          appdb:
            host: %s
            port: %d
            database: %s
            user: %s
            password: "${file:%s}"
            sslmode: disable
        state: appdb
        lakes:
          lake:
            bucket: %s
            prefix: raw/postgres/
            region: %s
            endpoint: "%s"
            path_style: true
            access_key_id: "${file:%s}"
            secret_access_key: "${file:%s}"
        control:
          wal_dir: "%s"
        allow_demo: true
        stack: %s
        """
            .formatted(
                temporal.address(),
                temporal.namespace(),
                postgres.host(),
                postgres.port(),
                PostgresServer.DATABASE,
                PostgresServer.USER,
                postgres.passwordFile(),
                EmbeddedStack.BUCKET,
                EmbeddedStack.REGION,
                s3.endpoint(),
                accessKeyIdFile(home),
                secretAccessKeyFile(home),
                walFolder(),
                kind.text());
    return kept ? text + "demo_folder: \"%s\"\n".formatted(home.resolve("sling_demo")) : text;
  }

  private static String text(ClickHouseServer server) {
    return """
        clickhouse:
          %s:
            host: %s
            port: %d
            user: %s
            password: "${file:%s}"
        """
        .formatted(
            EmbeddedStack.CLICKHOUSE,
            server.host(),
            server.httpPort(),
            server.user(),
            server.passwordFile());
  }

  private static Path accessKeyIdFile(Path home) {
    return home.resolve("s3").resolve("access-key-id");
  }

  private static Path secretAccessKeyFile(Path home) {
    return home.resolve("s3").resolve("secret-access-key");
  }
}
