package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.clickhouse.ClickHouse;
import dev.millrace.clickhouse.ClickHouseSettings;
import dev.millrace.clickhouse.ClickHouseType;
import dev.millrace.clickhouse.ShadowStatements;
import dev.millrace.clickhouse.TargetTable;
import dev.millrace.dev.ClickHouseServer;
import dev.millrace.testing.TestStack;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A real ClickHouse behind a proxy that stands for the rest of a cluster: it does itself what only
 * a cluster can, which is to let this replica catch up.
 */
class SettledAuditIT {
  private static final Set<String> OWN_HEADERS =
      Set.of("host", "content-length", "connection", "expect", "transfer-encoding", "upgrade");

  private final List<String> statements = new CopyOnWriteArrayList<>();
  private final HttpClient forward =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final AuditPlan plan = plan();
  private Warehouse warehouse;
  private TargetTable table;
  private HttpServer proxy;
  private ClickHouse client;

  @BeforeEach
  void start() throws IOException {
    warehouse = Warehouse.create();
    table = warehouse.table("products");
    warehouse.execute(
        "CREATE TABLE %s (id Int64) ENGINE = MergeTree ORDER BY id".formatted(table.sql()));
    warehouse.execute("INSERT INTO %s SELECT number FROM numbers(90)".formatted(table.sql()));
    proxy = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    proxy.createContext("/", this::answer);
    proxy.start();
    ClickHouseServer server = TestStack.clickHouse();
    client =
        new ClickHouse(
            new ClickHouseSettings(
                "cluster",
                "127.0.0.1",
                proxy.getAddress().getPort(),
                false,
                server.adminUser(),
                server.adminPassword(),
                Warehouse.LIMIT,
                Warehouse.LIMIT,
                Warehouse.LIMIT));
  }

  @AfterEach
  void stop() {
    client.close();
    proxy.stop(0);
    warehouse.close();
  }

  private static AuditPlan plan() {
    List<ColumnMapping> columns =
        ColumnMapping.all(
            List.of(new SourceColumn("id", "bigint", PostgresType.scalar("bigint", false), false)),
            List.of(ClickHouseType.parse("Int64")),
            new LoadConditions(Load.PULL, true, "UTC", "UTF8"));
    return new AuditPlan(columns, columns.get(0), columns.get(0), null, false);
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      byte[] body = exchange.getRequestBody().readAllBytes();
      String statement = new String(body, StandardCharsets.UTF_8);
      if (statement.contains(table.sql())) {
        statements.add(statement);
      }
      if (statement.startsWith("SYSTEM SYNC REPLICA")) {
        warehouse.execute(
            "INSERT INTO %s SELECT number FROM numbers(90, 10)".formatted(table.sql()));
        forward(exchange, "SELECT 1".getBytes(StandardCharsets.UTF_8));
        return;
      }
      forward(exchange, body);
    }
  }

  private void forward(HttpExchange exchange, byte[] body) throws IOException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                URI.create(
                    "http://127.0.0.1:%d%s"
                        .formatted(TestStack.clickHouse().httpPort(), exchange.getRequestURI())))
            .POST(HttpRequest.BodyPublishers.ofByteArray(body));
    exchange
        .getRequestHeaders()
        .forEach(
            (name, values) -> {
              if (!OWN_HEADERS.contains(name.toLowerCase(Locale.ROOT))) {
                values.forEach(value -> request.header(name, value));
              }
            });
    try {
      HttpResponse<byte[]> response =
          forward.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
      response
          .headers()
          .map()
          .forEach(
              (name, values) -> {
                if (!OWN_HEADERS.contains(name.toLowerCase(Locale.ROOT))) {
                  exchange.getResponseHeaders().put(name, values);
                }
              });
      exchange.sendResponseHeaders(response.statusCode(), response.body().length);
      exchange.getResponseBody().write(response.body());
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
    }
  }

  private AuditFigures audit(String databaseEngine, String cluster) {
    return new SettledAudit(
            client, new ShadowStatements(table, databaseEngine, cluster), plan, "run-1")
        .read(table);
  }

  /** Case 67. */
  @Test
  void aReplicaThatLagsIsWaitedForBeforeItIsAudited() {
    AuditFigures figures = audit("Atomic", "all");

    assertThat(figures.rows()).isEqualTo("100");
    assertThat(statements).hasSize(2);
    assertThat(statements.get(0)).isEqualTo("SYSTEM SYNC REPLICA ON CLUSTER `all` " + table.sql());
    assertThat(statements.get(1)).startsWith("SELECT toString(count())");
  }

  /** Case 67, in a database that is a cluster by itself. */
  @Test
  void aReplicaOfAReplicatedDatabaseIsWaitedForToo() {
    assertThat(audit("Replicated", null).rows()).isEqualTo("100");
    assertThat(statements.get(0)).isEqualTo("SYSTEM SYNC REPLICA " + table.sql());
  }

  @Test
  void aServerWithoutReplicasIsAuditedAtOnce() {
    assertThat(audit("Atomic", null).rows()).isEqualTo("90");
    assertThat(statements).hasSize(1);
  }
}
