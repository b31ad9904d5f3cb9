package dev.millrace.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.app.Configuration.BucketLake;
import dev.millrace.app.Configuration.ClickHouseConnection;
import dev.millrace.app.Configuration.FolderLake;
import dev.millrace.app.Configuration.LakeCredentials;
import dev.millrace.app.Configuration.PostgresConnection;
import dev.millrace.clickhouse.ClickHouseSettings;
import dev.millrace.lake.Checksums;
import dev.millrace.lake.Credentials;
import dev.millrace.lake.Encryption;
import dev.millrace.lake.FolderLakeSettings;
import dev.millrace.lake.S3LakeSettings;
import dev.millrace.parquet.FileFormat;
import dev.millrace.postgres.PostgresSettings;
import dev.millrace.postgres.SslMode;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class AdaptersTest {
  @Test
  void aConnectionIsTakenAsItIs() {
    Duration connect = Duration.ofSeconds(3);
    Duration socket = Duration.ofSeconds(4);

    assertThat(
            Adapters.postgres(
                "appdb",
                new PostgresConnection(
                    "h",
                    1,
                    "d",
                    "u",
                    Optional.of(new Secret("adapters-password")),
                    SslMode.VERIFY_CA,
                    Optional.of(Path.of("/root.crt")),
                    2,
                    connect,
                    socket,
                    Optional.empty(),
                    Optional.empty(),
                    Map.of())))
        .isEqualTo(
            new PostgresSettings(
                "appdb",
                "h",
                1,
                "d",
                "u",
                "adapters-password",
                SslMode.VERIFY_CA,
                Path.of("/root.crt"),
                2,
                connect,
                socket));
    assertThat(
            Adapters.postgres(
                "appdb",
                new PostgresConnection(
                    "h",
                    1,
                    "d",
                    "u",
                    Optional.empty(),
                    SslMode.DISABLE,
                    Optional.empty(),
                    2,
                    connect,
                    socket,
                    Optional.empty(),
                    Optional.empty(),
                    Map.of())))
        .isEqualTo(
            new PostgresSettings(
                "appdb", "h", 1, "d", "u", null, SslMode.DISABLE, null, 2, connect, socket));
  }

  @Test
  void aClickHouseConnectionIsTakenAsItIs() {
    Duration connect = Duration.ofSeconds(3);
    Duration socket = Duration.ofSeconds(4);
    Duration statement = Duration.ofSeconds(5);
    Optional<Secret> password = Optional.of(new Secret("adapters-clickhouse"));

    assertThat(
            Adapters.clickHouse(
                "dims",
                new ClickHouseConnection("h", 1, "u", password, true, connect, socket, statement)))
        .isEqualTo(
            new ClickHouseSettings(
                "dims", "h", 1, true, "u", "adapters-clickhouse", connect, socket, statement));
    assertThat(
            Adapters.clickHouse(
                "dims",
                new ClickHouseConnection(
                    "h", 1, "u", Optional.empty(), false, connect, socket, statement)))
        .isEqualTo(
            new ClickHouseSettings("dims", "h", 1, false, "u", null, connect, socket, statement));
  }

  @Test
  void aBucketIsTakenAsItIs() {
    URI endpoint = URI.create("http://127.0.0.1:9000");

    assertThat(
            Adapters.bucket(
                "lake",
                new BucketLake(
                    "abc",
                    "p/",
                    FileFormat.DEFAULT,
                    "r",
                    Optional.of(endpoint),
                    true,
                    Encryption.KMS,
                    Optional.of("k"),
                    Checksums.WHEN_REQUIRED,
                    Optional.of(
                        new LakeCredentials(
                            new Secret("adapters-id"),
                            new Secret("adapters-key"),
                            Optional.of(new Secret("adapters-token")))))))
        .isEqualTo(
            new S3LakeSettings(
                "lake",
                "abc",
                "p/",
                "r",
                endpoint,
                true,
                Encryption.KMS,
                "k",
                Checksums.WHEN_REQUIRED,
                new Credentials("adapters-id", "adapters-key", "adapters-token")));
    assertThat(
            Adapters.bucket(
                "lake",
                new BucketLake(
                    "abc",
                    "",
                    FileFormat.DEFAULT,
                    "r",
                    Optional.empty(),
                    false,
                    Encryption.NONE,
                    Optional.empty(),
                    Checksums.DEFAULT,
                    Optional.empty())))
        .isEqualTo(
            new S3LakeSettings(
                "lake",
                "abc",
                "",
                "r",
                null,
                false,
                Encryption.NONE,
                null,
                Checksums.DEFAULT,
                null));
  }

  @Test
  void aFolderIsTakenAsItIs() {
    assertThat(Adapters.folder("local", new FolderLake(Path.of("/data"), "p/", FileFormat.DEFAULT)))
        .isEqualTo(new FolderLakeSettings("local", Path.of("/data"), "p/"));
  }
}
