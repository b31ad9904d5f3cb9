package dev.millrace.dev;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Redactor;
import dev.millrace.testing.TestClickHouse;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClickHouseServerIT {
  private static final Duration BOUND = Duration.ofMinutes(1);

  /** REQUIRED_PASSWORD, QUOTA_EXCEEDED, AUTHENTICATION_FAILED. */
  private static final List<String> REFUSALS = List.of("194", "201", "516");

  @TempDir Path folder;

  @BeforeAll
  static void requireEngine() {
    TestClickHouse.requireEngine();
  }

  @Test
  void itAnswersItsUserInUtcAndHasItsOwnAtomicDatabaseAndTheQueryLog() throws Exception {
    try (ClickHouseServer server = start(0)) {
      HttpRequest request =
          HttpRequest.newBuilder(server.url())
              .POST(HttpRequest.BodyPublishers.ofString("SELECT currentUser(), timezone()"))
              .build();
      HttpResponse<String> answer =
          HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());

      assertThat(answer.body()).isEqualTo("millrace\tUTC\n");
      assertThat(query(server, "SELECT engine FROM system.databases WHERE name = 'analytics'"))
          .isEqualTo("Atomic");
      assertThat(Integer.parseInt(query(server, "SELECT splitByChar('.', version())[1]")))
          .isGreaterThanOrEqualTo(24);
      query(server, "SYSTEM FLUSH LOGS");
      assertThat(
              query(
                  server,
                  "SELECT DISTINCT type FROM system.query_log"
                      + " WHERE user = 'millrace' AND query LIKE 'SELECT currentUser%' ORDER BY 1"))
          .isEqualTo("QueryStart\nQueryFinish");
      assertThat(
              query(
                  server,
                  "SELECT value FROM system.server_settings"
                      + " WHERE name = 'max_server_memory_usage'"))
          .isEqualTo(Long.toString(2L << 30));
      assertThat(permissions(server.passwordFile())).isEqualTo("rw-------");
      assertThat(Redactor.redact(server.url().toString())).doesNotContain(server.password());
    }
  }

  @Test
  void withoutAPasswordNobodyReadsAnything() {
    String sql = "SELECT count() FROM system.tables";
    try (ClickHouseServer server = start(0)) {
      for (String user : List.of("millrace", "admin", "default", "")) {
        for (String password : List.of("", "wrong")) {
          HttpResponse<String> answer = TestClickHouse.ask(server, user, password, sql);
          assertThat(answer.headers().firstValue("X-ClickHouse-Exception-Code"))
              .as(user + " " + password)
              .hasValueSatisfying(code -> assertThat(code).isIn(REFUSALS));
        }
      }
    }
  }

  @Test
  void theUserThatTheServerRunsAsIsOfNoUseToOthers() {
    try (ClickHouseServer server = start(0)) {
      for (String sql :
          List.of(
              "SELECT count() FROM system.tables",
              "SELECT number FROM system.numbers LIMIT 1",
              "SYSTEM STOP LISTEN HTTP",
              "KILL QUERY WHERE 1",
              "CREATE TABLE analytics.t (a Int32) ENGINE = Memory")) {
        assertThat(TestClickHouse.ask(server, "default", "", sql).statusCode())
            .as(sql)
            .isNotEqualTo(200);
      }
      assertThat(query(server, "SELECT 1")).isEqualTo("1");
    }
  }

  @Test
  void itsUserDoesWhatAWorkerAndAPersonDoButEndsNoQueryOfOthers() {
    try (ClickHouseServer server = start(0)) {
      for (String sql :
          List.of(
              "CREATE DATABASE other ENGINE = Memory",
              "CREATE TABLE analytics.a (id Int32) ENGINE = MergeTree ORDER BY id",
              "CREATE TABLE analytics.b AS analytics.a",
              "INSERT INTO analytics.b SELECT number FROM numbers(10)",
              "EXCHANGE TABLES analytics.a AND analytics.b",
              "CREATE MATERIALIZED VIEW analytics.m ENGINE = Memory AS SELECT id FROM analytics.a",
              "CREATE DICTIONARY analytics.d (id UInt64, v String) PRIMARY KEY id"
                  + " SOURCE(CLICKHOUSE(TABLE 'b' DB 'analytics')) LAYOUT(FLAT()) LIFETIME(0)",
              "CREATE NAMED COLLECTION pg AS host = '127.0.0.1', password = 'hidden-word'",
              "CREATE TABLE analytics.r (id Int32) ENGINE ="
                  + " ReplicatedMergeTree('/clickhouse/r', '{replica}') ORDER BY id",
              "SYSTEM FLUSH LOGS",
              "SELECT count() FROM system.query_log",
              "KILL QUERY WHERE 1 SYNC",
              "DROP DICTIONARY analytics.d",
              "DROP TABLE analytics.b SYNC")) {
        HttpResponse<String> answer =
            TestClickHouse.ask(server, server.user(), server.password(), sql);
        assertThat(answer.statusCode()).as(sql + ": " + answer.body()).isEqualTo(200);
      }
      assertThat(query(server, "SELECT count() FROM analytics.a")).isEqualTo("10");
      assertThat(
              TestClickHouse.ask(server, server.user(), server.password(), "CREATE USER other")
                  .headers()
                  .firstValue("X-ClickHouse-Exception-Code"))
          .contains("497");
    }
  }

  @Test
  void rowsAndTheQueryLogSurviveAKilledServer() {
    try (TestClickHouse clickHouse = TestClickHouse.start(folder)) {
      String address = clickHouse.server().url().toString();
      clickHouse.query("CREATE TABLE analytics.kept (id Int32) ENGINE = MergeTree ORDER BY id");
      clickHouse.query("INSERT INTO analytics.kept SELECT number FROM numbers(1000)");
      clickHouse.query("SYSTEM FLUSH LOGS");
      clickHouse.kill();
      assertThat(clickHouse.server().lastWords()).contains("ClickHouse ended with code 137");

      clickHouse.restart();

      assertThat(clickHouse.server().url().toString()).isEqualTo(address);
      assertThat(clickHouse.query("SELECT count() FROM analytics.kept")).isEqualTo("1000");
      assertThat(
              clickHouse.query(
                  "SELECT written_rows FROM system.query_log WHERE type = 'QueryFinish'"
                      + " AND query LIKE 'INSERT INTO analytics.kept%'"))
          .isEqualTo("1000");
    }
  }

  @Test
  void aServerLeftBehindIsEndedFirst() {
    try (ClickHouseServer left = start(0)) {
      query(left, "CREATE TABLE analytics.kept (id Int32) ENGINE = MergeTree ORDER BY id");
      try (ClickHouseServer server = start(left.httpPort())) {
        assertThat(left.ended()).succeedsWithin(BOUND);
        assertThat(query(server, "SELECT count() FROM analytics.kept")).isEqualTo("0");
      }
    }
  }

  @Test
  void usersOfATestJoinFromTheFolder() throws Exception {
    Files.createDirectories(folder.resolve("users.d"));
    Files.writeString(
        folder.resolve("users.d/reader.xml"),
        """
        <clickhouse><users><reader>
          <password>reader-word</password><networks><ip>127.0.0.1</ip></networks>
          <profile>default</profile><quota>default</quota>
          <grants><query>GRANT SELECT ON analytics.*</query></grants>
        </reader></users></clickhouse>
        """);
    try (ClickHouseServer server = start(0)) {
      assertThat(TestClickHouse.ask(server, "reader", "reader-word", "SHOW GRANTS").body())
          .isEqualTo("GRANT SELECT ON analytics.* TO reader\n");
    }
  }

  @Test
  void aPortInUseIsNamedWithTheOptionThatChangesIt() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(() -> start(taken.getLocalPort()).close())
          .isInstanceOf(MillraceException.class)
          .hasMessageContaining(Integer.toString(taken.getLocalPort()))
          .hasMessageContaining("--clickhouse-port");
    }
  }

  @Test
  void aConfigurationThatTheServerRefusesIsToldWithItsCause() throws Exception {
    Files.createDirectories(folder.resolve("users.d"));
    Files.writeString(folder.resolve("users.d/broken.xml"), "<clickhouse><users>");

    assertThatThrownBy(() -> start(0).close())
        .isInstanceOf(MillraceException.class)
        .hasMessageContaining("ClickHouse ended with code")
        .hasMessageContaining("broken.xml");
  }

  private ClickHouseServer start(int port) {
    return ClickHouseServer.start(folder, port, System.getenv(), System.out::println);
  }

  private static String query(ClickHouseServer server, String sql) {
    return TestClickHouse.query(server, sql);
  }

  private static String permissions(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }
}
