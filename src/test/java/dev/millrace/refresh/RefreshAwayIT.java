package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.dev.ClickHouseServer;
import dev.millrace.testing.Appdb;
import dev.millrace.testing.Await;
import dev.millrace.testing.TestClickHouse;
import dev.millrace.testing.TestDimension;
import dev.millrace.testing.TestStack;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.WorkerProcess;
import io.temporal.client.WorkflowStub;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server is killed, or a connection ended, in the middle of a refresh. */
class RefreshAwayIT {
  private static final int ROWS = 200;
  private static final int GATE = 7_411;
  private static final String INPUT = "\"source_table\": \"gated\", \"audit\": \"standard\"";
  private static final Duration BOUND = Duration.ofMinutes(1);

  @TempDir static Path folder;
  private static TestClickHouse clickHouse;

  @BeforeAll
  static void start() {
    clickHouse = TestClickHouse.start(folder);
  }

  @AfterAll
  static void close() {
    if (clickHouse != null) {
      clickHouse.close();
    }
  }

  /** Makes a dimension whose live table is in the server that is killed. */
  private static TestDimension dimension(String name) throws IOException {
    TestDimension dimension = TestDimension.create(name, ROWS);
    ClickHouseServer server = clickHouse.server();
    String text = Files.readString(dimension.configuration());
    String own =
        text.replaceAll(
                "(clickhouse:\\n  clickhouse:\\n.*\\n    port: )\\d+", "$1" + server.httpPort())
            .replaceAll(
                "(    password: \"\\$\\{file:)[^}]*clickhouse[^}]*", "$1" + server.passwordFile());
    assertThat(own).isNotEqualTo(text).contains("port: " + server.httpPort());
    Files.writeString(dimension.configuration(), own);
    clickHouse.query(dimension.createLive());
    clickHouse.query(dimension.fill(50));
    Appdb.execute(
        """
        CREATE FUNCTION %1$s.gate() RETURNS BOOLEAN STABLE LANGUAGE plpgsql AS
        'BEGIN
          WHILE NOT pg_try_advisory_xact_lock_shared(%2$d) LOOP
            PERFORM pg_sleep(0.05);
          END LOOP;
          RETURN true;
        END';
        CREATE VIEW %1$s.gated AS SELECT * FROM %1$s.stop WHERE code < %3$d OR %1$s.gate();
        """
            .formatted(dimension.schema(), GATE, ROWS));
    return dimension;
  }

  private static List<String> live(TestDimension dimension) {
    return clickHouse.query(dimension.select(dimension.live())).lines().toList();
  }

  /** Lets readers of the view wait for the last row, until it is closed. */
  private static Connection shutGate() throws SQLException {
    Connection connection = TestStack.postgres().connect();
    try (Statement statement = connection.createStatement()) {
      statement.execute("SELECT pg_advisory_lock(%d)".formatted(GATE));
    }
    return connection;
  }

  private static String waiting(TestDimension dimension) {
    return "SELECT pid FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%%FROM \"%s\".\"gated\"%%' AND query NOT LIKE '%%count(DISTINCT%%'"
        .formatted(dimension.schema());
  }

  private static void awaitLoad(TestDimension dimension, WorkflowStub run) {
    Await.until(
        "rows are loaded",
        BOUND,
        () ->
            TestTemporal.attempt(run.getExecution().getWorkflowId(), "RefreshLoad") > 0
                && !Appdb.values(waiting(dimension)).isEmpty(),
        () -> Appdb.values("SELECT state || ' ' || query FROM pg_stat_activity").toString());
  }

  /** The audit of the source reads the view, too, so the gate is shut when that is over. */
  private static WorkflowStub startAndShutGate(TestDimension dimension, Connection[] gate)
      throws SQLException {
    try (WorkerProcess auditing = dimension.worker("load.after-create=kill")) {
      WorkflowStub run = dimension.start("first", INPUT);
      assertThat(auditing.awaitEnd()).isEqualTo(WorkerProcess.KILLED);
      gate[0] = shutGate();
      return run;
    }
  }

  @Test
  void clickHouseIsKilledInTheMiddleOfALoad() throws Exception {
    TestDimension dimension = dimension("away-load");
    List<String> before = live(dimension);
    Connection[] gate = new Connection[1];
    WorkflowStub run = startAndShutGate(dimension, gate);
    try (WorkerProcess worker = dimension.worker("")) {
      awaitLoad(dimension, run);
      clickHouse.kill();
      gate[0].close();
      clickHouse.restart();
      assertThat(TestTemporal.result(run).path("outcome").asText()).isEqualTo("published");
      assertThat(live(dimension)).isEqualTo(dimension.sourceRows()).isNotEqualTo(before);
      assertThat(worker.errors()).isEmpty();
    }
  }

  @Test
  void postgresEndsTheConnectionInTheMiddleOfALoad() throws Exception {
    TestDimension dimension = dimension("away-source");
    Connection[] gate = new Connection[1];
    WorkflowStub run = startAndShutGate(dimension, gate);
    try (WorkerProcess worker = dimension.worker("")) {
      awaitLoad(dimension, run);
      for (String process : Appdb.values(waiting(dimension))) {
        Appdb.value("SELECT pg_terminate_backend(%s)::text".formatted(process));
      }
      gate[0].close();
      assertThat(TestTemporal.result(run).path("outcome").asText()).isEqualTo("published");
      assertThat(live(dimension)).isEqualTo(dimension.sourceRows());
      assertThat(worker.errors()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"swap.after-rename", "swap.after-exchange"})
  void clickHouseIsKilledInTheMiddleOfASwap(String point) throws Exception {
    TestDimension dimension = dimension("away-" + point.replace('.', '-'));
    List<String> before = live(dimension);
    try (WorkerProcess worker = dimension.worker(point + "=freeze")) {
      WorkflowStub run = dimension.start("first", "");
      worker.awaitFrozen();
      clickHouse.kill();
      worker.wake();
      clickHouse.restart();
      assertThat(TestTemporal.result(run).path("outcome").asText()).isEqualTo("published");
      assertThat(live(dimension)).isEqualTo(dimension.sourceRows()).isNotEqualTo(before);
      assertThat(worker.errors()).isEmpty();
    }
  }
}
