package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.millrace.testing.Appdb;
import dev.millrace.testing.Logs;
import dev.millrace.testing.TestRun;
import dev.millrace.testing.TestStack;
import dev.millrace.testing.TestWorker;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Errors of drivers that quote a password, and where they must not leave it. */
class SecretsIT {
  private static final String PASSWORD = "quartz-otter-9271";

  /** Connections whose errors quote the password. */
  private static String withTalkativeConnections(String text) {
    return text.replace(
            "  appdb:\n",
            connection("nowhere", "postgres://x:" + PASSWORD + "@h", "secrets_reader")
                + connection("refused", "appdb", "user-" + PASSWORD)
                + connection("reader", "appdb", "secrets_reader")
                + "  appdb:\n")
        + "limits: {max_attempts: 2}\n";
  }

  private static String connection(String name, String database, String user) {
    return """
      %s:
        host: %s
        port: %d
        database: "%s"
        user: "%s"
        password: "${env:SECRETS_PASSWORD}"
        sslmode: disable
        connect_timeout: PT2S
    """
        .formatted(name, TestStack.postgres().host(), TestStack.postgres().port(), database, user);
  }

  @Test
  void aPasswordIsNeitherInHistoryNorInLogsNorInTheState() {
    Appdb.execute(
        """
        CREATE SCHEMA secrets_it;
        CREATE ROLE secrets_reader LOGIN PASSWORD '%1$s';
        CREATE FUNCTION secrets_it.tell(i int) RETURNS int LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not connect to postgresql://x:%1$s@h/d password=%1$s'; END $$;
        CREATE TABLE secrets_it.one (id int, updated_at timestamptz NOT NULL);
        INSERT INTO secrets_it.one VALUES (1, now());
        CREATE VIEW secrets_it.teller AS SELECT secrets_it.tell(id) AS told, updated_at FROM secrets_it.one;
        GRANT USAGE ON SCHEMA secrets_it TO secrets_reader;
        GRANT SELECT ON ALL TABLES IN SCHEMA secrets_it TO secrets_reader"""
            .formatted(PASSWORD));
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream before = System.err;
    System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    List<TestRun> runs = new ArrayList<>();
    List<String> failures = new ArrayList<>();
    List<String> lines;
    try (Logs logs = Logs.listen(Level.DEBUG);
        TestWorker worker =
            TestWorker.start(
                SecretsIT::withTalkativeConnections, Map.of("SECRETS_PASSWORD", PASSWORD))) {
      for (String source : List.of("nowhere", "refused", "reader")) {
        TestRun run =
            worker.replicate(
                "secrets_" + source,
                "[\"secrets_it.teller\"]",
                "\"source\": \"%s\"".formatted(source));
        failures.add(run.failure().getOriginalMessage());
        runs.add(run);
        runs.add(run.child("secrets_it.teller"));
      }
      lines = logs.lines();
      List<String> histories =
          runs.stream()
              .map(run -> worker.client().fetchHistory(run.workflowId()).toJson(false))
              .toList();
      assertThat(histories).hasSize(6).noneMatch(json -> json.contains(PASSWORD));
    } finally {
      System.setErr(before);
    }

    // The errors were those that quote it, or the test would prove nothing.
    assertThat(failures)
        .satisfiesExactly(
            nowhere -> assertThat(nowhere).contains("POSTGRES_REFUSED", "***"),
            refused -> assertThat(refused).contains("POSTGRES_REFUSED", "***"),
            reader -> assertThat(reader).contains("POSTGRES_ERROR", "could not connect", "***"));
    assertThat(lines).anyMatch(line -> line.contains("POSTGRES_ERROR"));
    assertThat(printed.toString(StandardCharsets.UTF_8))
        .contains("POSTGRES_ERROR")
        .doesNotContain(PASSWORD);
    assertThat(tables()).contains("***").doesNotContain(PASSWORD);
  }

  private static String tables() {
    return Appdb.values(
            """
            SELECT format('SELECT t::text FROM %I.%I AS t', table_schema, table_name)
            FROM information_schema.tables
            WHERE table_schema IN ('millrace', 'control')""")
        .stream()
        .flatMap(select -> Appdb.values(select).stream())
        .collect(Collectors.joining("\n"));
  }
}
