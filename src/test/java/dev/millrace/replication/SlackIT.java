package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import com.sun.net.httpserver.HttpServer;
import dev.millrace.testing.Appdb;
import dev.millrace.testing.Logs;
import dev.millrace.testing.TestRun;
import dev.millrace.testing.TestWorker;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What Slack is told, by runs on real servers. */
class SlackIT {
  private static final List<String> TEXTS = new CopyOnWriteArrayList<>();
  private static final String NOTIFY = "\"notify_slack\": true";

  private static HttpServer slack;
  private static TestWorker worker;
  private static TestWorker deaf;

  @BeforeAll
  static void start() throws IOException {
    slack = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    slack.createContext(
        "/ok",
        exchange -> {
          String body =
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
          TEXTS.add(TestWorker.json(body).get("text").textValue());
          exchange.sendResponseHeaders(200, -1);
          exchange.close();
        });
    slack.createContext(
        "/down",
        exchange -> {
          exchange.sendResponseHeaders(500, -1);
          exchange.close();
        });
    slack.start();
    worker = worker("/ok");
    deaf = worker("/down");
    Appdb.execute("CREATE SCHEMA slack_it");
  }

  private static TestWorker worker(String path) {
    return TestWorker.start(
        text -> text + "slack:\n  webhook: \"${env:SLACK_WEBHOOK_URL}\"\n",
        Map.of(
            "SLACK_WEBHOOK_URL",
            "http://127.0.0.1:%d%s".formatted(slack.getAddress().getPort(), path)));
  }

  @AfterAll
  static void close() {
    worker.close();
    deaf.close();
    slack.stop(0);
  }

  private static void insert(String table, int rows) {
    Appdb.execute(
        "INSERT INTO slack_it.%s SELECT clock_timestamp() FROM generate_series(1, %d)"
            .formatted(table, rows));
  }

  private static TestRun run(TestWorker worker, String table) {
    return worker.replicate("slack_" + table, "[\"slack_it.%s\"]".formatted(table), NOTIFY);
  }

  @Test
  void aSpikeAndAFailedRunAreTold() {
    Appdb.execute("CREATE TABLE slack_it.told (updated_at timestamptz NOT NULL)");
    for (int rows : List.of(1, 10)) {
      insert("told", rows);
      run(worker, "told").result();
    }
    assertThat(TEXTS).isEmpty();
    insert("told", 60);
    TestRun spike = run(worker, "told");
    spike.result();
    assertThat(TEXTS)
        .singleElement()
        .asString()
        .contains("`slack_it.told`", "60 rows", "10 in the previous", spike.workflowId());

    TEXTS.clear();
    TestRun failed = run(worker, "missing");
    failed.failure();
    assertThat(TEXTS)
        .singleElement()
        .asString()
        .contains(
            failed.workflowId(),
            "failed. Tables that failed keep their watermark and are copied by the next run",
            "slack_it.missing TABLE_MISSING");
  }

  @Test
  void aWebhookThatIsDownNeitherFailsNorBlocksARun() {
    TestRun failed = run(deaf, "missing");
    Appdb.execute("CREATE TABLE slack_it.untold (updated_at timestamptz NOT NULL)");
    for (int rows : List.of(1, 10)) {
      insert("untold", rows);
      run(deaf, "untold").result();
    }
    insert("untold", 60);
    try (Logs logs = Logs.listen()) {
      assertThat(run(deaf, "untold").onlyTable().get("spike").booleanValue()).isTrue();
      assertThat(logs.messages(Level.WARN))
          .contains("slack_it.untold: 60 rows this run, 10 in the previous batch")
          .anyMatch(line -> line.startsWith("an alert could not be sent: "));
    }
    assertThat(failed.failure().getType()).isEqualTo("TABLES_FAILED");
  }
}
