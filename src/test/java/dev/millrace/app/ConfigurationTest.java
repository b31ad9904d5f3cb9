package dev.millrace.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.app.Configuration.BucketLake;
import dev.millrace.app.Configuration.ClickHouseConnection;
import dev.millrace.app.Configuration.Control;
import dev.millrace.app.Configuration.FolderLake;
import dev.millrace.app.Configuration.LakeCredentials;
import dev.millrace.app.Configuration.Limits;
import dev.millrace.app.Configuration.PostgresConnection;
import dev.millrace.app.Configuration.Stack;
import dev.millrace.app.Configuration.Temporal;
import dev.millrace.app.Configuration.Tls;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Redactor;
import dev.millrace.lake.Checksums;
import dev.millrace.lake.Encryption;
import dev.millrace.parquet.FileFormat;
import dev.millrace.parquet.FileFormat.Compression;
import dev.millrace.postgres.SslMode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigurationTest {
  private static final String CONNECTION =
      """
      postgres:
        appdb: {host: db.example, database: app, user: millrace}
      state: appdb
      """;

  private static final Map<String, String> ENVIRONMENT =
      Map.ofEntries(
          Map.entry("PASSWORD", "correct-horse"),
          Map.entry("KEY_ID", "AKIDEXAMPLE"),
          Map.entry("KEY", "wJalrXUtnFEMI"),
          Map.entry("SESSION", "session-of-today"),
          Map.entry("CLICKHOUSE", "click-house-word"),
          Map.entry("API_KEY", "temporal-api-key"),
          Map.entry("WEBHOOK", "https://hooks.example/services/T0/B0/x1y2z3"),
          Map.entry("WEBHOOK_USER", "https://somebody:hidden-word@hooks.example/services"),
          Map.entry("SHORT", "abc"),
          Map.entry("EMPTY", ""),
          Map.entry("HOST", "db.from.environment"),
          Map.entry("PORT", "6543"),
          Map.entry("NO_PORT", "65a"),
          Map.entry("FLAG", "true"),
          Map.entry("TWO_LINES", "a\nb"));

  @TempDir Path folder;

  @Test
  void theLeastFileGetsEveryDefault() {
    assertThat(load(CONNECTION))
        .isEqualTo(
            new Configuration(
                new Temporal(
                    "127.0.0.1:7233", "default", "millrace", Optional.empty(), Optional.empty()),
                Map.of(
                    "appdb",
                    new PostgresConnection(
                        "db.example",
                        5432,
                        "app",
                        "millrace",
                        Optional.empty(),
                        SslMode.REQUIRE,
                        Optional.empty(),
                        8,
                        Duration.ofSeconds(10),
                        Duration.ofSeconds(60),
                        Optional.empty(),
                        Optional.empty(),
                        Map.of())),
                "appdb",
                Map.of(),
                Map.of(),
                List.of(),
                Optional.empty(),
                new Limits(5, Duration.ofHours(6), Optional.empty()),
                new Control(folder.resolve("control_wal"), Optional.empty(), Optional.empty()),
                Optional.empty(),
                true,
                Stack.PRODUCTION,
                Path.of("sling_demo")));
  }

  @Test
  void lakesGetTheirDefaults() {
    Configuration configuration =
        load(CONNECTION + "lakes:\n  lake: {bucket: my-data-lake}\n  local: {folder: /data}\n");

    assertThat(configuration.lakes())
        .isEqualTo(
            Map.of(
                "lake",
                new BucketLake(
                    "my-data-lake",
                    "raw/postgres/",
                    FileFormat.DEFAULT,
                    "eu-west-1",
                    Optional.empty(),
                    false,
                    Encryption.NONE,
                    Optional.empty(),
                    Checksums.DEFAULT,
                    Optional.empty()),
                "local",
                new FolderLake(Path.of("/data"), "raw/postgres/", FileFormat.DEFAULT)));
  }

  @Test
  void clickHouseConnectionsGetTheirDefaults() {
    Configuration configuration =
        load(CONNECTION + "clickhouse: {dims: {host: ch.example, user: millrace}}\n");

    assertThat(configuration.clickHouse())
        .isEqualTo(
            Map.of(
                "dims",
                new ClickHouseConnection(
                    "ch.example",
                    8123,
                    "millrace",
                    Optional.empty(),
                    false,
                    Duration.ofSeconds(10),
                    Duration.ofSeconds(60),
                    Duration.ofHours(1))));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          db.example | ''                              | db.example:5432
          '::1'      | ''                              | [::1]:5432
          db.example | postgres:6432                   | postgres:6432
          """)
  void clickHouseSeesADatabaseWhereTheWorkerDoesUnlessTold(
      String host, String told, String address) {
    String more = told.isEmpty() ? "" : ", postgres_host_for_clickhouse: '" + told + "'";

    assertThat(
            load("postgres: {appdb: {host: '%s', database: d, user: u%s}}\nstate: appdb\n"
                    .formatted(host, more))
                .postgres()
                .get("appdb")
                .addressSeenByClickHouse())
        .isEqualTo(address);
  }

  @Test
  void oneClickHouseServerHasOneName() {
    String other = "clickhouse: {a: {host: H.example, user: u}, b: {host: h.example, user: v%s}}\n";

    assertThat(refusal(CONNECTION + other.formatted("")))
        .contains(
            ":4: clickhouse.b is the same server as clickhouse.a, h.example:8123; give one server"
                + " one name");
    assertThat(load(CONNECTION + other.formatted(", port: 8124")).clickHouse())
        .containsOnlyKeys("a", "b");
  }

  @Test
  void everySettingIsTaken() throws IOException {
    Files.writeString(folder.resolve("root.crt"), "a certificate");
    Files.writeString(folder.resolve("ca.pem"), pem("CERTIFICATE", "ca") + "\n");
    Files.writeString(folder.resolve("client.pem"), pem("CERTIFICATE", "client") + "\r\n");
    Files.writeString(folder.resolve("client.key"), pem("PRIVATE KEY", "key"));

    Configuration configuration =
        load(
            """
            temporal:
              address: temporal.example:7234
              namespace: sales
              task_queue: loads
              api_key: ${env:API_KEY}
              tls:
                server_name: other.example
                ca: ${file:ca.pem}
                certificate: ${file:client.pem}
                key: ${file:client.key}
            postgres:
              appdb:
                host: ::1
                port: 5433
                database: app
                user: millrace
                password: ${env:PASSWORD}
                sslmode: verify-full
                sslrootcert: root.crt
                max_connections: 3
                connect_timeout: PT5S
                socket_timeout: PT2M
                postgres_host_for_clickhouse: postgres:5432
              a-second_1: {host: db2, database: other, user: reader, clickhouse_named_collection: pg_1}
            state: a-second_1
            lakes:
              lake:
                bucket: my-data-lake
                prefix: ""
                region: eu-central-1
                endpoint: http://127.0.0.1:9000
                path_style: true
                encryption: aws:kms
                kms_key: alias/lake
                checksums: when-required
                access_key_id: ${env:KEY_ID}
                secret_access_key: ${env:KEY}
                session_token: ${env:SESSION}
                compression: zstd
                zstd_level: 9
                row_group_mebibytes: 64
              local: {folder: data/lake, prefix: raw/, compression: snappy}
            clickhouse:
              dims:
                host: ch.example
                port: 8443
                user: millrace
                password: ${env:CLICKHOUSE}
                tls: true
                connect_timeout: PT3S
                socket_timeout: PT4M
                statement_timeout: PT5H
            approvers: [anna, "ben:7", "${env:HOST}"]
            slack: {webhook: "${env:WEBHOOK}"}
            limits: {max_attempts: 7, table_timeout: PT90M, run_timeout: PT3H}
            control: {wal_dir: /data/wal, keep_wal: P7D, keep_runs: P90D}
            business_time_zone: Asia/Kolkata
            allow_demo: false
            stack: dev
            demo_folder: /data/demo
            """);

    assertThat(configuration.temporal())
        .isEqualTo(
            new Temporal(
                "temporal.example:7234",
                "sales",
                "loads",
                Optional.of(new Secret("temporal-api-key")),
                Optional.of(
                    new Tls(
                        Optional.of("other.example"),
                        Optional.of(new Secret(pem("CERTIFICATE", "ca"))),
                        Optional.of(new Secret(pem("CERTIFICATE", "client"))),
                        Optional.of(new Secret(pem("PRIVATE KEY", "key")))))));
    assertThat(configuration.postgres().keySet()).containsExactly("appdb", "a-second_1");
    assertThat(configuration.postgres().get("appdb"))
        .isEqualTo(
            new PostgresConnection(
                "::1",
                5433,
                "app",
                "millrace",
                Optional.of(new Secret("correct-horse")),
                SslMode.VERIFY_FULL,
                Optional.of(folder.resolve("root.crt")),
                3,
                Duration.ofSeconds(5),
                Duration.ofMinutes(2),
                Optional.of("postgres:5432"),
                Optional.empty(),
                Map.of()));
    assertThat(configuration.postgres().get("a-second_1").clickHouseCollection()).contains("pg_1");
    assertThat(configuration.state()).isEqualTo("a-second_1");
    assertThat(configuration.lakes())
        .isEqualTo(
            Map.of(
                "lake",
                new BucketLake(
                    "my-data-lake",
                    "",
                    new FileFormat(Compression.ZSTD, 9, 64L << 20),
                    "eu-central-1",
                    Optional.of(URI.create("http://127.0.0.1:9000")),
                    true,
                    Encryption.KMS,
                    Optional.of("alias/lake"),
                    Checksums.WHEN_REQUIRED,
                    Optional.of(
                        new LakeCredentials(
                            new Secret("AKIDEXAMPLE"),
                            new Secret("wJalrXUtnFEMI"),
                            Optional.of(new Secret("session-of-today"))))),
                "local",
                new FolderLake(
                    folder.resolve("data/lake"),
                    "raw/",
                    new FileFormat(Compression.SNAPPY, 1, 16L << 20))));
    assertThat(configuration.clickHouse())
        .isEqualTo(
            Map.of(
                "dims",
                new ClickHouseConnection(
                    "ch.example",
                    8443,
                    "millrace",
                    Optional.of(new Secret("click-house-word")),
                    true,
                    Duration.ofSeconds(3),
                    Duration.ofMinutes(4),
                    Duration.ofHours(5))));
    assertThat(configuration.approvers()).containsExactly("anna", "ben:7", "db.from.environment");
    assertThat(configuration.slackWebhook())
        .contains(new Secret("https://hooks.example/services/T0/B0/x1y2z3"));
    assertThat(configuration.limits())
        .isEqualTo(new Limits(7, Duration.ofMinutes(90), Optional.of(Duration.ofHours(3))));
    assertThat(configuration.control())
        .isEqualTo(
            new Control(
                Path.of("/data/wal"),
                Optional.of(Duration.ofDays(7)),
                Optional.of(Duration.ofDays(90))));
    assertThat(configuration.businessTimeZone()).contains(ZoneId.of("Asia/Kolkata"));
    assertThat(configuration.allowDemo()).isFalse();
    assertThat(configuration.stack()).isEqualTo(Stack.DEV);
    assertThat(configuration.demoFolder()).isEqualTo(Path.of("/data/demo"));
    assertThat(configuration.toString())
        .contains("db2", "***")
        .doesNotContain(
            "temporal-api-key",
            "correct-horse",
            "AKIDEXAMPLE",
            "wJalrXUtnFEMI",
            "session-of-today",
            "click-house-word",
            "hooks.example",
            "BEGIN");
  }

  @Test
  void ordinarySettingsMayBeReferencesToo() throws IOException {
    Files.writeString(folder.resolve("bucket"), "lake-from-a-file\n");
    Configuration configuration =
        load(
            """
            postgres:
              appdb:
                host: ${env:HOST}
                port: ${env:PORT}
                database: app
                user: millrace
            state: appdb
            lakes: {lake: {bucket: "${file:bucket}", path_style: "${env:FLAG}"}}
            """);

    assertThat(configuration.postgres().get("appdb").host()).isEqualTo("db.from.environment");
    assertThat(configuration.postgres().get("appdb").port()).isEqualTo(6543);
    assertThat(configuration.lakes().get("lake"))
        .isInstanceOfSatisfying(
            BucketLake.class,
            lake -> {
              assertThat(lake.bucket()).isEqualTo("lake-from-a-file");
              assertThat(lake.pathStyle()).isTrue();
            });
    assertThat(Redactor.redact("db.from.environment")).isEqualTo("db.from.environment");
  }

  @Test
  void anApiKeyAloneMeansTls() {
    Temporal temporal = load(CONNECTION + "temporal: {api_key: '${env:API_KEY}'}\n").temporal();

    assertThat(temporal.tls())
        .contains(new Tls(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty()));
    assertThat(load(CONNECTION + "temporal: {tls: {}}\n").temporal().tls()).isPresent();
  }

  @Test
  void aResolvedSecretIsRedactedFromThenOn() {
    Map<String, String> environment = Map.of("PASSWORD", "only-seen-here-4711");
    load(connection("password: \"${env:PASSWORD}\""), environment);

    assertThat(Redactor.redact("it said only-seen-here-4711 to me")).isEqualTo("it said *** to me");
  }

  @Test
  void anUnknownKeyNamesTheNearestOneWithFileAndLine() {
    Path file = folder.resolve("millrace.yaml");

    assertThat(refusal("postgres:\n  appdb:\n    host: h\n    pasword: \"${env:PASSWORD}\"\n"))
        .contains(file + ":4: postgres.appdb.pasword is not a setting; did you mean password?");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          temproal: {}               | temproal is not a setting; did you mean temporal?
          Lakes: {}                  | Lakes is not a setting; did you mean lakes?
          password: x                | password is not a setting; did you mean postgres.<name>.password?
          max-attempts: 5            | max-attempts is not a setting; did you mean limits.max_attempts?
          limits: {max-attempts: 5}  | limits.max-attempts is not a setting; did you mean max_attempts?
          limits: {table_timout: 5}  | limits.table_timout is not a setting; did you mean table_timeout?
          slack: {webhok: x}         | slack.webhok is not a setting; did you mean webhook?
          temporal: {tls: {cert: x}} | temporal.tls.cert is not a setting; did you mean ca?
          temporal: {adress: x}      | temporal.adress is not a setting; did you mean address?
          '<<: {stack: dev}'         | << is not a setting; did you mean
          """)
  void unknownKeys(String line, String message) {
    assertThat(refusal(CONNECTION + line + "\n")).contains(":4: " + message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          temporal: {address: localhost}            | temporal.address must be host:port without a scheme, not localhost
          temporal: {address: 'http://t:7233'}      | temporal.address must be host:port
          temporal: {address: 't:70000'}            | temporal.address must be host:port
          temporal: {namespace: ''}                 | temporal.namespace must not be empty
          temporal: {namespace: 5}                  | temporal.namespace must be text; put it in quotes
          temporal: {namespace: true}               | temporal.namespace must be text; put it in quotes
          temporal: {namespace: [a]}                | temporal.namespace must be one value, not a list or settings
          temporal: {namespace: {a: b}}             | temporal.namespace must be one value, not a list or settings
          temporal: {namespace: ~}                  | temporal.namespace has no value; give it one or remove the line
          temporal: {namespace: 'a '}               | temporal.namespace must not begin or end with a blank
          temporal: {namespace: "a\\tb"}            | temporal.namespace must be one line without control characters
          temporal: text                            | temporal must hold settings
          temporal: {namespace: 'a${env:HOST}'}     | temporal.namespace has ${ in it
          temporal: {namespace: '${HOST}'}          | temporal.namespace has ${ in it
          temporal: {namespace: '${env:GONE}'}      | temporal.namespace refers to ${env:GONE}, but the environment variable GONE is not set
          temporal: {namespace: '${env:EMPTY}'}     | temporal.namespace refers to ${env:EMPTY}, which is empty
          temporal: {namespace: '${env:TWO_LINES}'} | temporal.namespace must be one line
          temporal: {tls: {key: '${env:KEY}'}}      | temporal.tls.key needs certificate beside it
          temporal: {tls: {ca: '${env:KEY}'}}       | temporal.tls.ca must lead to PEM text with BEGIN CERTIFICATE, which ${env:KEY} does not
          lakes: ~                                  | lakes has no value
          lakes: {Lake: {bucket: abc}}              | lakes.Lake is no name: a lower-case letter, then
          lakes: {1a: {bucket: abc}}                | lakes.1a is no name
          lakes: {lake: {}}                         | lakes.lake must have either bucket or folder
          lakes: {lake: {bucket: abc, folder: /a}}  | lakes.lake must have either bucket or folder, not both
          lakes: {lake: {folder: /a, region: abc}}  | lakes.lake.region is a setting of lakes with a bucket; this is a folder
          lakes: {lake: {folder: /a, compression: gzip}} | lakes.lake.compression must be zstd, snappy or none, not gzip
          lakes: {lake: {folder: /a, compression: none, zstd_level: 3}} | lakes.lake.zstd_level is only allowed with compression zstd
          lakes: {lake: {folder: /a, zstd_level: 23}} | lakes.lake.zstd_level must be a whole number from 1 to 22, not 23
          lakes: {lake: {folder: /a, row_group_mebibytes: 0}} | lakes.lake.row_group_mebibytes must be a whole number from 1 to 1024, not 0
          lakes: {lake: {bucket: A_B}}              | lakes.lake.bucket must be the name of a bucket
          lakes: {lake: {bucket: 's3://abc'}}       | lakes.lake.bucket must be the name of a bucket
          lakes: {lake: {bucket: abc, region: A b}} | lakes.lake.region must be a region
          lakes: {lake: {bucket: abc, prefix: a}}   | lakes.lake.prefix must be empty, or end with / and not begin with it, unlike a
          lakes: {lake: {bucket: abc, prefix: /a/}} | lakes.lake.prefix must be empty, or end with / and not begin with it
          lakes: {lake: {bucket: abc, prefix: /}}   | lakes.lake.prefix must be empty, or end with / and not begin with it
          lakes: {lake: {folder: /a, prefix: ../}}  | lakes.lake.prefix must not have empty parts, . or ..
          lakes: {lake: {bucket: abc, prefix: a//}} | lakes.lake.prefix must not have empty parts, . or ..
          lakes: {lake: {bucket: abc, encryption: kms}} | lakes.lake.encryption must be none, AES256 or aws:kms, not kms
          lakes: {lake: {bucket: abc, kms_key: k}}  | lakes.lake.kms_key is only allowed with encryption aws:kms
          lakes: {lake: {bucket: abc, checksums: x}} | lakes.lake.checksums must be default or when-required, not x
          lakes: {lake: {bucket: abc, path_style: yes}} | lakes.lake.path_style must be true or false, not yes
          lakes: {lake: {bucket: abc, path_style: 'true'}} | lakes.lake.path_style must be true or false, without quotes
          lakes: {lake: {bucket: abc, path_style: '${env:HOST}'}} | lakes.lake.path_style must be true or false, not what ${env:HOST} holds
          lakes: {lake: {bucket: abc, endpoint: host}} | lakes.lake.endpoint must be an http or https address with a host
          lakes: {lake: {bucket: abc, endpoint: 'ftp://h'}} | lakes.lake.endpoint must be an http or https address with a host
          lakes: {lake: {bucket: abc, endpoint: 'http://h h'}} | lakes.lake.endpoint must be an http or https address
          lakes: {lake: {bucket: abc, access_key_id: '${env:KEY_ID}'}} | lakes.lake.access_key_id needs secret_access_key beside it
          lakes: {lake: {bucket: abc, secret_access_key: '${env:KEY}'}} | lakes.lake.secret_access_key needs access_key_id beside it
          lakes: {lake: {bucket: abc, session_token: '${env:KEY}'}} | lakes.lake.session_token needs access_key_id beside it
          clickhouse: {ch: {user: u}}               | clickhouse.ch.host is required
          clickhouse: {ch: {host: h}}               | clickhouse.ch.user is required
          clickhouse: {ch: {host: 'http://h', user: u}} | clickhouse.ch.host must be a host name or address without port
          clickhouse: {ch: {host: h, user: u, port: 0}} | clickhouse.ch.port must be a whole number from 1 to 65535, not 0
          clickhouse: {ch: {host: h, user: u, tls: on}} | clickhouse.ch.tls must be true or false, not on
          clickhouse: {ch: {host: h, user: u, statement_timeout: P8D}} | clickhouse.ch.statement_timeout must be whole seconds from PT1S to PT168H, not P8D
          clickhouse: {Ch: {host: h, user: u}}      | clickhouse.Ch is no name
          approvers: anna                           | approvers must be a list, written as [one, another]
          approvers: '${env:HOST}'                  | approvers must be a list
          approvers: {anna: true}                   | approvers must be a list
          approvers: ~                              | approvers has no value
          approvers: [anna, [ben]]                  | approvers must hold texts only
          approvers: [anna, ~]                      | approvers must hold texts only
          approvers: [anna, 7]                      | approvers must be text; put it in quotes
          approvers: [anna, '']                     | approvers must not be empty
          approvers: [anna, ben, anna]              | approvers names somebody twice
          approvers: [*anna]                        | approvers is an alias
          slack: {}                                 | slack.webhook is required
          slack: {webhook: '${env:GONE}'}           | slack.webhook refers to ${env:GONE}, but the environment variable GONE is not set
          slack: {webhook: '${env:SHORT}'}          | slack.webhook is too short in ${env:SHORT}: a secret has at least 4 characters
          slack: {webhook: '${env:PASSWORD}'}       | slack.webhook must be an http or https address
          slack: {webhook: '${file:gone}'}          | slack.webhook refers to ${file:gone}, but there is no such file
          slack: {webhook: '${file:.}'}             | slack.webhook refers to ${file:.}, which is no file
          limits: {max_attempts: '5'}               | limits.max_attempts must be a number, without quotes
          limits: {max_attempts: 0}                 | limits.max_attempts must be a whole number from 1 to 1000, not 0
          limits: {max_attempts: -1}                | limits.max_attempts must be a whole number
          limits: {max_attempts: 5.7}               | limits.max_attempts must be a whole number
          limits: {max_attempts: 0x10}              | limits.max_attempts must be a whole number
          limits: {max_attempts: 010}               | limits.max_attempts must be a whole number
          limits: {max_attempts: 1_000}             | limits.max_attempts must be a
          limits: {max_attempts: 99999999999999999999} | limits.max_attempts must be a whole number
          limits: {max_attempts: '${env:NO_PORT}'}  | limits.max_attempts must be a whole number from 1 to 1000, not what ${env:NO_PORT} holds
          limits: {table_timeout: 6h}               | limits.table_timeout must be an ISO-8601 duration such as PT30S or PT6H, not 6h
          limits: {table_timeout: 21600}            | limits.table_timeout must be text; put it in quotes
          limits: {table_timeout: PT0S}             | limits.table_timeout must be whole seconds from PT1S to
          limits: {table_timeout: PT1.5S}           | limits.table_timeout must be whole seconds
          limits: {table_timeout: PT-1H}            | limits.table_timeout must be whole seconds
          stack: staging                            | stack must be production, dev, demo or test, not staging
          stack: DEV                                | stack must be production, dev, demo or test, not DEV
          demo_folder: ''                           | demo_folder must not be empty
          allow_demo: no                            | allow_demo must be true or false, not no
          state: appdb                              | state is given twice, first in line 3
          stack: *name                              | stack is an alias
          stack: !!str dev                          | stack has a tag
          """)
  void whatIsRefused(String line, String message) {
    assertThat(refusal(CONNECTION + line + "\n")).contains(":4: " + message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          port: 0                  | port must be a whole number from 1 to 65535, not 0
          port: 65536              | port must be a whole number from 1 to 65535, not 65536
          port: "5432"             | port must be a number, without quotes
          sslmode: none            | sslmode must be disable, allow, prefer, require, verify-ca or verify-full, not none
          sslmode: off             | sslmode must be text; put it in quotes
          sslrootcert: gone.crt    | sslrootcert must be a file that can be read, not gone.crt
          max_connections: 0       | max_connections must be a whole number from 1 to 1000, not 0
          connect_timeout: PT0.5S  | connect_timeout must be whole seconds from PT1S to PT10M, not PT0.5S
          socket_timeout: PT0S     | socket_timeout must be whole seconds from PT1S to PT24H, not PT0S
          postgres_host_for_clickhouse: pg | postgres_host_for_clickhouse must be host:port without a scheme, not pg
          clickhouse_named_collection: "a b" | clickhouse_named_collection must be a name of letters, digits and _
          """)
  void whatIsRefusedOfAConnection(String line, String message) {
    assertThat(refusal(connection(line))).contains(":6: postgres.appdb." + message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"h:x/y", "a b", "u@h", "postgresql://h"})
  void aHostIsNoAddress(String host) {
    assertThat(
            refusal(
                "postgres: {appdb: {host: '" + host + "', database: d, user: u}}\nstate: appdb\n"))
        .contains(":1: postgres.appdb.host must be a host name or address without port");
  }

  @Test
  void aRootCertificateThatWouldBeIgnoredIsRefused() throws IOException {
    Files.writeString(folder.resolve("root.crt"), "a certificate");

    assertThat(refusal(connection("sslrootcert: root.crt")))
        .contains(
            ":6: postgres.appdb.sslrootcert has no effect with sslmode require; use verify-ca or"
                + " verify-full");
    assertThat(
            load(connection("sslrootcert: root.crt\n    sslmode: verify-ca"))
                .postgres()
                .get("appdb")
                .sslRootCertificate())
        .contains(folder.resolve("root.crt"));
  }

  @Test
  void anAddressBesideANamedCollectionIsRefused() {
    assertThat(
            refusal(
                connection(
                    "postgres_host_for_clickhouse: pg:5432\n    clickhouse_named_collection: pg")))
        .contains(
            ":6: postgres.appdb.postgres_host_for_clickhouse has no effect with"
                + " clickhouse_named_collection");
  }

  @Test
  void whatIsMissingIsNamed() {
    assertThat(refusal("postgres:\n  appdb: {}\n").lines().map(ConfigurationTest::afterFile))
        .containsExactly(
            "1: state is required",
            "2: postgres.appdb.host is required",
            "2: postgres.appdb.database is required",
            "2: postgres.appdb.user is required");
    assertThat(refusal("stack: dev\n").lines().map(ConfigurationTest::afterFile))
        .containsExactly("1: postgres must name at least one connection", "1: state is required");
  }

  @Test
  void stateMustNameAConnection() {
    assertThat(refusal(CONNECTION.replace("state: appdb", "state: elsewhere")))
        .contains(
            ":3: state must be the name of a connection in postgres, not elsewhere; there is"
                + " appdb");
  }

  @Test
  void allProblemsAreToldAtOnceInTheOrderOfTheFile() {
    assertThat(
            refusal(
                    """
                    limits: {max_attempts: 0}
                    postgres:
                      appdb: {host: h, database: d, user: u, port: 0, pasword: x}
                    slak: {}
                    state: other
                    """)
                .lines()
                .map(ConfigurationTest::afterFile))
        .containsExactly(
            "1: limits.max_attempts must be a whole number from 1 to 1000, not 0",
            "3: postgres.appdb.pasword is not a setting; did you mean password?",
            "3: postgres.appdb.port must be a whole number from 1 to 65535, not 0",
            "4: slak is not a setting; did you mean slack?",
            "5: state must be the name of a connection in postgres, not other; there is appdb");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          password: open-sesame-1         | postgres.appdb.password
          password: 12345678901           | postgres.appdb.password
          password: "a${env:PASSWORD}"    | postgres.appdb.password
          password: "${ENV:open-sesame-1}" | postgres.appdb.password
          """)
  void aSecretInClearIsRefusedAndNotShown(String line, String setting) {
    assertThat(refusal(connection(line)))
        .contains(
            ":6: "
                + setting
                + " must be a reference, ${env:NAME} or ${file:PATH}; a secret is never written"
                + " here")
        .doesNotContain("sesame", "12345678901", "correct-horse");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "temporal: {api_key: open-sesame-2}",
        "temporal: {tls: {ca: open-sesame-2}}",
        "temporal: {tls: {certificate: open-sesame-2, key: '${env:KEY}'}}",
        "temporal: {tls: {certificate: '${env:KEY}', key: open-sesame-2}}",
        "lakes: {a: {bucket: abc, access_key_id: open-sesame-2, secret_access_key: '${env:KEY}'}}",
        "lakes: {a: {bucket: abc, access_key_id: '${env:KEY}', secret_access_key: open-sesame-2}}",
        "lakes: {a: {bucket: abc, session_token: open-sesame-2}}",
        "clickhouse: {a: {host: h, user: u, password: open-sesame-2}}",
        "slack: {webhook: 'https://hooks.example/open-sesame-2'}",
      })
  void everySecretMustBeAReference(String line) {
    assertThat(refusal(CONNECTION + line + "\n"))
        .contains("must be a reference")
        .doesNotContain("sesame");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "lakes: {a: {bucket: abc, endpoint: 'http://user:open-sesame-3@127.0.0.1:9000'}}",
        "lakes: {a: {bucket: abc, endpoint: 'http://open-sesame-3@host_name:9000'}}",
        "slack: {webhook: '${env:WEBHOOK_USER}'}",
      })
  void userInfoInAnAddressIsRefusedAndNotShown(String line) {
    assertThat(refusal(CONNECTION + line + "\n"))
        .contains("must not have user info (user:password@) in it")
        .doesNotContain("sesame", "hidden-word");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "password: \"open-sesame-4",
        "password: @open-sesame-4",
        "password: open-sesame-4: b",
        "flow: {password: ${env:open-sesame-4}}",
        "password: *open-sesame-4",
        "\tpassword: open-sesame-4",
        "? [open-sesame-4]\n    : b",
      })
  void brokenYamlIsToldWithoutQuotingIt(String line) {
    assertThat(refusal(connection(line))).containsPattern(":[5-8]: ").doesNotContain("sesame");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ''                                    | 1: the file is empty
          '# nothing\n'                         | 1: the file is empty
          'text'                                | 1: the file must hold settings
          '- a\n- b\n'                          | 1: the file must hold settings
          '---\nstate: a\n---\nstate: b\n'      | a second document
          """)
  void aFileIsOneDocumentOfSettings(String content, String message) {
    assertThat(refusal(content.replace("\\n", "\n"))).contains(message);
  }

  @Test
  void aFileThatIsNoTextIsRefused() throws IOException {
    Path file = folder.resolve("millrace.yaml");
    Files.write(file, new byte[] {'a', ':', ' ', (byte) 0xff});

    assertThatThrownBy(() -> Configuration.load(file, Map.of()))
        .hasMessageContaining("the file is not UTF-8 text");
  }

  @Test
  void aMissingFileIsNamedWithTheWayOut() {
    assertThatThrownBy(() -> Configuration.load(folder.resolve("gone.yaml"), Map.of()))
        .isInstanceOf(MillraceException.class)
        .hasMessageContaining("gone.yaml; name the configuration with --config or MILLRACE_CONFIG");
    assertThatThrownBy(() -> Configuration.load(folder, Map.of()))
        .hasMessageContaining("can't be read");
  }

  @ParameterizedTest
  @CsvSource({"production, false", "dev, true", "demo, true", "test, true"})
  void onlyProductionAllowsNoPoints(String stack, boolean allowed) {
    assertThat(load(CONNECTION + "stack: " + stack + "\n").stack().allowsPoints())
        .isEqualTo(allowed);
  }

  private static String connection(String line) {
    return """
    state: appdb
    postgres:
      appdb:
        host: db.example
        database: app
        %s
        user: millrace
    """
        .formatted(line);
  }

  private static String pem(String kind, String content) {
    return "-----BEGIN " + kind + "-----\n" + content + "\n-----END " + kind + "-----";
  }

  private static String afterFile(String line) {
    return line.substring(line.indexOf("millrace.yaml:") + "millrace.yaml:".length());
  }

  private Configuration load(String yaml) {
    return load(yaml, ENVIRONMENT);
  }

  private Configuration load(String yaml, Map<String, String> environment) {
    Path file = folder.resolve("millrace.yaml");
    try {
      Files.writeString(file, yaml);
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
    return Configuration.load(file, environment);
  }

  private String refusal(String yaml) {
    try {
      load(yaml);
    } catch (MillraceException exception) {
      assertThat(exception.code()).isEqualTo(ErrorCode.BAD_CONFIGURATION);
      return exception.getMessage();
    }
    throw new AssertionError("accepted: " + yaml);
  }
}
