package dev.millrace.app;

import dev.millrace.app.Configuration.BucketLake;
import dev.millrace.app.Configuration.ClickHouseConnection;
import dev.millrace.app.Configuration.FolderLake;
import dev.millrace.app.Configuration.LakeCredentials;
import dev.millrace.app.Configuration.PostgresConnection;
import dev.millrace.clickhouse.ClickHouseSettings;
import dev.millrace.lake.Credentials;
import dev.millrace.lake.FolderLakeSettings;
import dev.millrace.lake.Lake;
import dev.millrace.lake.S3Lake;
import dev.millrace.lake.S3LakeSettings;
import dev.millrace.postgres.PostgresSettings;
import dev.millrace.refresh.PostgresSeen;

/**
 * Turns parts of the configuration into the settings of the adapters, which know nothing of the
 * file. Stateless, so thread-safe.
 */
final class Adapters {
  private Adapters() {}

  /** Returns what {@link dev.millrace.postgres.Postgres} takes. */
  static PostgresSettings postgres(String name, PostgresConnection connection) {
    return new PostgresSettings(
        name,
        connection.host(),
        connection.port(),
        connection.database(),
        connection.user(),
        connection.password().map(Secret::value).orElse(null),
        connection.sslMode(),
        connection.sslRootCertificate().orElse(null),
        connection.maxConnections(),
        connection.connectTimeout(),
        connection.socketTimeout());
  }

  /** Returns what {@link dev.millrace.clickhouse.ClickHouse} takes. */
  static ClickHouseSettings clickHouse(String name, ClickHouseConnection connection) {
    return new ClickHouseSettings(
        name,
        connection.host(),
        connection.port(),
        connection.tls(),
        connection.user(),
        connection.password().map(Secret::value).orElse(null),
        connection.connectTimeout(),
        connection.socketTimeout(),
        connection.statementTimeout());
  }

  /** Returns how a ClickHouse server reaches the database. */
  static PostgresSeen seen(PostgresConnection connection) {
    return new PostgresSeen(
        connection.addressSeenByClickHouse(),
        connection.database(),
        connection.user(),
        connection.password().map(Secret::value).orElse(null),
        connection.clickHouseCollection().orElse(null));
  }

  /** Returns what {@link dev.millrace.lake.S3Lake} takes. */
  static S3LakeSettings bucket(String name, BucketLake lake) {
    return new S3LakeSettings(
        name,
        lake.bucket(),
        lake.prefix(),
        lake.region(),
        lake.endpoint().orElse(null),
        lake.pathStyle(),
        lake.encryption(),
        lake.kmsKey().orElse(null),
        lake.checksums(),
        lake.credentials().map(Adapters::credentials).orElse(null));
  }

  /** Returns what {@link dev.millrace.lake.FolderLake} takes. */
  static FolderLakeSettings folder(String name, FolderLake lake) {
    return new FolderLakeSettings(name, lake.folder(), lake.prefix());
  }

  /** Returns the lake itself. */
  static Lake lake(String name, Configuration.LakeStore store) {
    if (store instanceof FolderLake folder) {
      return new dev.millrace.lake.FolderLake(folder(name, folder));
    }
    return new S3Lake(bucket(name, (BucketLake) store));
  }

  private static Credentials credentials(LakeCredentials credentials) {
    return new Credentials(
        credentials.accessKeyId().value(),
        credentials.secretAccessKey().value(),
        credentials.sessionToken().map(Secret::value).orElse(null));
  }
}
