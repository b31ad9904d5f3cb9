package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.app.Configuration;
import dev.millrace.app.Worker;
import dev.millrace.dev.ClickHouseServer;
import dev.millrace.testing.Appdb;
import dev.millrace.testing.Await;
import dev.millrace.testing.TestDimension;
import dev.millrace.testing.TestStack;
import dev.millrace.testing.TestTemporal;
import dev.millrace.testing.TestWorker;
import io.temporal.client.WorkflowStub;
import io.temporal.client.WorkflowUpdateException;
import io.temporal.failure.ApplicationFailure;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Refreshes on a real Temporal, a real Postgres and a real ClickHouse. */
@SuppressWarnings("try") // Workers are there to work.
class RefreshIT {
  private static final Duration SECONDS = Duration.ofSeconds(30);
  private static final List<String> PUBLISHED =
      List.of(
          "preflight ok",
          "audit_source ok",
          "audit_live ok",
          "load ok",
          "audit_shadow ok",
          "verdict ok",
          "recheck ok",
          "swap ok",
          "audit_published ok",
          "save_state ok",
          "clean_up ok");

  private static Worker worker(TestDimension dimension, Map<String, String> environment) {
    return Worker.start(
        Configuration.load(dimension.configuration(), System.getenv()), environment);
  }

  private static void awaitEnd(JsonNode result, String end) {
    String runId = result.path("run_id").asText();
    Await.until(
        "the run ended " + end,
        SECONDS,
        () -> TestDimension.end(runId).equals(end),
        () -> TestDimension.end(runId));
  }

  private static void makeEmptyDecimal(TestDimension dimension) {
    Appdb.execute("DELETE FROM %s.stop".formatted(dimension.schema()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"pull", "push"})
  void aFirstLoadIsPublishedASecondOneSkippedAndAChangeIsPublishedAgain(String load) {
    TestDimension dimension = TestDimension.create("refresh-" + load, 500);
    String more = "\"load\": \"%s\"".formatted(load);
    try (Worker worker = worker(dimension, Map.of())) {
      JsonNode first = dimension.refresh("first", more);
      assertThat(first.path("outcome").asText()).isEqualTo("published");
      assertThat(first.path("rows_after").asText()).isEqualTo("500");
      dimension.requireEqual();
      awaitEnd(first, "ok/clean");
      List<String> firstEvents = TestDimension.events(first.path("run_id").asText());
      assertThat(firstEvents)
          .containsExactlyElementsOf(
              PUBLISHED.stream()
                  .map(step -> step.replace("audit_live ok", "audit_live zero_rows"))
                  .map(step -> step.replace("recheck ok", "recheck zero_rows"))
                  .toList());

      JsonNode second = dimension.refresh("second", more);
      assertThat(second.path("outcome").asText()).isEqualTo("skipped");
      awaitEnd(second, "ok/clean");
      assertThat(TestDimension.events(second.path("run_id").asText()))
          .containsExactly("preflight ok", "audit_source ok", "audit_live ok", "unchanged ok");

      List<String> before = dimension.liveRows();
      dimension.change(10);
      dimension.add(501, 520);
      JsonNode third = dimension.refresh("third", more);
      assertThat(third.path("outcome").asText()).isEqualTo("published");
      dimension.requireEqual();
      assertThat(dimension.rowsOf(dimension.live() + "__refresh")).isEqualTo(before);
      assertThat(dimension.tables())
          .containsExactly(dimension.schema(), dimension.schema() + "__refresh");
      awaitEnd(third, "ok/clean");
      assertThat(TestDimension.events(third.path("run_id").asText()))
          .containsExactlyElementsOf(PUBLISHED);

      assertThat(dimension.refresh("forced", more + ", \"force\": true").path("outcome").asText())
          .isEqualTo("published");
      assertThat(
              Appdb.value(
                  "SELECT value ->> 'live_fingerprint' FROM millrace.refresh_fingerprint WHERE key = 'clickhouse_dim_refresh_analytics_%s'"
                      .formatted(dimension.schema())))
          .startsWith("520|520|");
    }
  }

  @Test
  void aShrinkWaitsAndIsApprovedByTheUpdate() {
    TestDimension dimension = TestDimension.create("refresh-approve", 100);
    try (Worker worker = worker(dimension, Map.of())) {
      dimension.refresh("first", "");
      List<String> before = dimension.liveRows();
      dimension.deleteAfter(79);
      WorkflowStub run = dimension.start("shrink", "");
      JsonNode status = TestDimension.awaitQuestion(run);
      String digest = status.path("question").path("digest").asText();
      assertThat(digest).matches("[0-9a-f]{16}");
      assertThat(status.path("question").path("rowsBefore").asText()).isEqualTo("100");
      assertThat(status.path("question").path("rowsAfter").asText()).isEqualTo("79");
      assertThat(status.path("approve").asText())
          .contains("update execute", "--name decide", digest, "\"approved\": true");
      assertThat(TestTemporal.state(run.getExecution().getWorkflowId()))
          .isEqualTo("waiting_approval");
      assertThat(TestTemporal.currentDetails(run.getExecution().getWorkflowId()))
          .contains("100 rows now, 79 rows after", digest);
      assertThat(dimension.liveRows()).isEqualTo(before);

      assertThatThrownBy(() -> TestDimension.decide(run, true, "0123456789abcdef"))
          .isInstanceOf(WorkflowUpdateException.class)
          .cause()
          .hasMessageContaining("is of another question");
      assertThat(TestDimension.decide(run, true, digest)).contains("approved by ann");
      JsonNode result = TestTemporal.result(run);
      assertThat(result.path("outcome").asText()).isEqualTo("published");
      assertThat(result.path("decision").path("identity").asText()).isNotEmpty();
      assertThat(result.path("decision").path("by").asText()).isEqualTo("ann");
      assertThat(result.path("decision").path("digest").asText()).isEqualTo(digest);
      dimension.requireEqual();
      awaitEnd(result, "ok/clean");
      assertThat(
              Appdb.value(
                  "SELECT extra ->> 'reason' FROM control.event WHERE unit = 'approval' AND run_id = '%s'"
                      .formatted(result.path("run_id").asText())))
          .isEqualTo("as agreed");
    }
  }

  @Test
  void aShrinkIsRejectedByTheSignalAndTheShadowStays() {
    TestDimension dimension = TestDimension.create("refresh-reject", 100);
    try (Worker worker = worker(dimension, Map.of())) {
      dimension.refresh("first", "");
      List<String> before = dimension.liveRows();
      dimension.deleteAfter(10);
      WorkflowStub run = dimension.start("shrink", "");
      TestDimension.awaitQuestion(run);
      run.signal("approve", TestWorker.json("[\"not an object\"]"));
      run.signal("approve", TestWorker.json("{\"by\": \"ann\", \"aproved\": true}"));
      Await.until(
          "both are noted",
          SECONDS,
          () -> TestDimension.status(run).path("ignored").size() == 2,
          () -> TestDimension.status(run).toString());
      assertThat(TestDimension.status(run).path("ignored").toString())
          .contains("is not a JSON object", "did you mean approved");

      run.signal("approve", TestWorker.json("{\"by\": \"ann\"}"));
      JsonNode result = TestTemporal.result(run);
      assertThat(result.path("outcome").asText()).isEqualTo("rejected");
      assertThat(result.path("decision").path("identity").asText()).isNotEmpty();
      assertThat(dimension.liveRows()).isEqualTo(before);
      assertThat(dimension.rowsOf(dimension.live() + "__refresh"))
          .isEqualTo(dimension.sourceRows());
      awaitEnd(result, "partial/clean");
    }
  }

  @Test
  void anApprovalWaitsOverARestartOfTheWorker() {
    TestDimension dimension = TestDimension.create("refresh-restart", 100);
    WorkflowStub run;
    try (Worker worker = worker(dimension, Map.of())) {
      run = dimension.start("first", "\"always_require_approval\": true");
      TestDimension.awaitQuestion(run);
    }
    try (Worker worker = worker(dimension, Map.of())) {
      String digest = TestDimension.status(run).path("question").path("digest").asText();
      TestDimension.decide(run, true, digest);
      assertThat(TestTemporal.result(run).path("outcome").asText()).isEqualTo("published");
      dimension.requireEqual();
    }
  }

  @Test
  void nobodyDecidesInTime() {
    TestDimension dimension = TestDimension.create("refresh-late", 100);
    try (Worker worker = worker(dimension, Map.of())) {
      dimension.refresh("first", "");
      List<String> before = dimension.liveRows();
      dimension.deleteAfter(10);
      WorkflowStub run = dimension.start("shrink", "\"approval_timeout\": \"PT4S\"");

      ApplicationFailure failure = TestTemporal.failure(run);
      assertThat(failure.getType()).isEqualTo("APPROVAL_TIMEOUT");
      assertThat(failure.getOriginalMessage()).contains("from 100 to 10 rows");
      assertThat(dimension.liveRows()).isEqualTo(before);
    }
  }

  @Test
  void anEmptySourceIsRefusedUnlessItIsAllowed() {
    TestDimension dimension = TestDimension.create("refresh-empty", 50);
    try (Worker worker = worker(dimension, Map.of())) {
      dimension.refresh("first", "");
      makeEmptyDecimal(dimension);
      ApplicationFailure failure = TestTemporal.failure(dimension.start("refused", ""));
      assertThat(failure.getType()).isEqualTo("EMPTY_SOURCE");
      assertThat(dimension.liveRows()).hasSize(50);

      JsonNode result =
          dimension.refresh("allowed", "\"allow_empty_source\": true, \"max_shrink_pct\": 100");
      assertThat(result.path("outcome").asText()).isEqualTo("published");
      assertThat(dimension.liveRows()).isEmpty();
    }
  }

  @Test
  void whatIsPublishedAndNotWhatWasAuditedIsSwappedBack() {
    TestDimension dimension = TestDimension.create("refresh-back", 100);
    List<String> before;
    try (Worker worker = worker(dimension, Map.of())) {
      dimension.refresh("first", "");
      before = dimension.liveRows();
    }
    dimension.add(101, 110);
    try (Worker worker =
        worker(dimension, Map.of("MILLRACE_POINTS", "audit-published.end=mismatch"))) {
      WorkflowStub run = dimension.start("second", "");
      ApplicationFailure failure = TestTemporal.failure(run);
      assertThat(failure.getType()).isEqualTo("ROLLED_BACK");
      assertThat(failure.getOriginalMessage()).contains("110|110|", "swapped back", "is as it was");
      assertThat(dimension.liveRows()).isEqualTo(before);
      String kept =
          failure.getOriginalMessage().replaceAll("(?s).*(analytics\\.\\w+__back_\\w+).*", "$1");
      assertThat(dimension.rowsOf(kept)).isEqualTo(dimension.sourceRows());
      assertThat(TestTemporal.state(run.getExecution().getWorkflowId())).isEqualTo("failed");

      assertThat(dimension.refresh("third", "").path("outcome").asText()).isEqualTo("published");
      dimension.requireEqual();
      assertThat(dimension.tables())
          .containsExactly(dimension.schema(), dimension.schema() + "__refresh");
    }
  }

  @Test
  void aSecondStartFailsAtOnceWhateverItsPipelineIsCalled() {
    TestDimension dimension = TestDimension.create("refresh-twice", 100);
    try (Worker worker = worker(dimension, Map.of())) {
      WorkflowStub first = dimension.start("first", "\"always_require_approval\": true");
      JsonNode status = TestDimension.awaitQuestion(first);

      ApplicationFailure same = TestTemporal.failure(dimension.start("same", ""));
      assertThat(same.getType()).isEqualTo("LEASE_HELD");
      assertThat(same.getOriginalMessage()).contains(first.getExecution().getWorkflowId());
      ApplicationFailure other =
          TestTemporal.failure(dimension.start("other", "\"pipeline\": \"another\""));
      assertThat(other.getType()).isEqualTo("LEASE_HELD");
      assertThat(other.getOriginalMessage()).contains(first.getExecution().getWorkflowId());

      TestDimension.decide(first, true, status.path("question").path("digest").asText());
      assertThat(TestTemporal.result(first).path("outcome").asText()).isEqualTo("published");
      assertThat(
              dimension
                  .refresh("after", "\"pipeline\": \"another-" + dimension.name() + "\"")
                  .path("outcome")
                  .asText())
          .isEqualTo("skipped");
    }
  }

  @Test
  void aLiveTableThatChangesWhileSomebodyThinksIsAskedAboutAgain() {
    TestDimension dimension = TestDimension.create("refresh-changed", 100);
    try (Worker worker = worker(dimension, Map.of())) {
      dimension.refresh("first", "");
      dimension.deleteAfter(50);
      WorkflowStub run = dimension.start("shrink", "");
      JsonNode asked = TestDimension.awaitQuestion(run).path("question");
      TestDimension.ask(
          "INSERT INTO %s VALUES (1000, 'by hand', 1, NULL, now64())".formatted(dimension.live()));
      TestDimension.decide(run, true, asked.path("digest").asText());
      Await.until(
          "it asks again",
          SECONDS,
          () -> TestDimension.status(run).path("question").path("number").asInt() == 2,
          () -> TestDimension.status(run).toString());
      JsonNode again = TestDimension.status(run).path("question");
      assertThat(again.path("digest")).isNotEqualTo(asked.path("digest"));
      assertThat(again.path("rowsBefore").asText()).isEqualTo("101");
      assertThat(again.path("until")).isEqualTo(asked.path("until"));

      TestDimension.decide(run, true, again.path("digest").asText());
      JsonNode result = TestTemporal.result(run);
      assertThat(result.path("outcome").asText()).isEqualTo("published");
      assertThat(result.path("warnings").toString()).contains("changed while the refresh ran");
      dimension.requireEqual();
    }
  }

  @Test
  void aWriterBetweenTheAuditAndThePullFailsParity() throws SQLException {
    TestDimension dimension = TestDimension.create("refresh-busy", 100);
    try (Worker worker = worker(dimension, Map.of())) {
      dimension.refresh("first", "");
      List<String> before = dimension.liveRows();
      dimension.change(10);

      WorkflowStub run = writeInMidLoad(dimension, "");

      ApplicationFailure failure = TestTemporal.failure(run);
      assertThat(failure.getType()).isEqualTo("PARITY_MISMATCH");
      assertThat(failure.getOriginalMessage())
          .contains(
              "source 100|100|", "shadow 110|110|", "use load push", "The live table is untouched");
      assertThat(dimension.liveRows()).isEqualTo(before);
      assertThat(dimension.rowsOf(dimension.live() + "__refresh"))
          .isEqualTo(dimension.sourceRows());
      String runId = TestDimension.status(run).path("runId").asText();
      Await.until(
          "the run failed",
          SECONDS,
          () -> TestDimension.end(runId).equals("failed/error"),
          () -> TestDimension.end(runId));
      assertThat(TestDimension.events(runId)).endsWith("audit_shadow ok", "verdict error");

      assertThat(dimension.refresh("again", "").path("outcome").asText()).isEqualTo("published");
      dimension.requireEqual();
    }
  }

  @Test
  void aWriterInMidLoadIsNotInThePushedSnapshot() throws SQLException {
    TestDimension dimension = TestDimension.create("refresh-busy-push", 100);
    try (Worker worker = worker(dimension, Map.of())) {
      List<String> before = dimension.sourceRows();

      WorkflowStub run = writeInMidLoad(dimension, "\"load\": \"push\"");

      assertThat(TestTemporal.result(run).path("outcome").asText()).isEqualTo("published");
      assertThat(dimension.sourceRows()).hasSize(110);
      assertThat(dimension.liveRows()).isEqualTo(before);
    }
  }

  /**
   * Starts a refresh and adds ten rows to its source after the audit and before the load. Postgres
   * gives locks in the order in which they were asked for: the audit waits for the first lock, the
   * writer for the audit, and the load for the writer.
   */
  private static WorkflowStub writeInMidLoad(TestDimension dimension, String more)
      throws SQLException {
    String lock = "LOCK TABLE %s.stop IN ACCESS EXCLUSIVE MODE".formatted(dimension.schema());
    try (Connection gate = TestStack.postgres().connect();
        Connection writer = TestStack.postgres().connect();
        Statement gating = gate.createStatement();
        Statement writing = writer.createStatement()) {
      gate.setAutoCommit(false);
      writer.setAutoCommit(false);
      gating.execute(lock);
      WorkflowStub run = dimension.start("busy", more);
      awaitWaiting(dimension, "AccessShareLock");
      CompletableFuture<Void> locking =
          CompletableFuture.runAsync(
              () -> {
                try {
                  writing.execute(lock);
                } catch (SQLException exception) {
                  throw new IllegalStateException(exception);
                }
              });
      awaitWaiting(dimension, "AccessExclusiveLock");
      gate.commit();
      assertThat(locking).succeedsWithin(SECONDS);
      writing.execute(
          "INSERT INTO %s.stop SELECT i, 'late', 1, 1, now() FROM generate_series(101, 110) AS i"
              .formatted(dimension.schema()));
      awaitWaiting(dimension, "AccessShareLock");
      writer.commit();
      return run;
    }
  }

  private static void awaitWaiting(TestDimension dimension, String mode) {
    Await.until(
        "somebody waits for " + mode,
        SECONDS,
        () ->
            Appdb.value(
                    "SELECT count(*) FROM pg_locks WHERE relation = '%s.stop'::regclass AND mode = '%s' AND NOT granted"
                        .formatted(dimension.schema(), mode))
                .equals("1"),
        () -> String.join("\n", Appdb.values("SELECT l::text FROM pg_locks AS l")));
  }

  /** Case 57. */
  @Test
  void dictionariesAreReloadedAfterTheSwapAndAFailureIsAWarning() {
    TestDimension dimension = TestDimension.create("refresh-dictionary", 100);
    String good = dimension.live() + "_zones";
    String broken = dimension.live() + "_broken";
    makeDictionary(good, "TABLE '%s' DB 'analytics'".formatted(dimension.schema()));
    makeDictionary(
        broken,
        "QUERY 'SELECT toUInt64(code), throwIf(zone >= 0, \\'the words of the test\\') FROM %s'"
            .formatted(dimension.live()));
    String zone = "SELECT dictGet('%s', 'zone', toUInt64(5))".formatted(good);
    try (Worker worker = worker(dimension, Map.of())) {
      dimension.refresh("first", "");
      assertThat(TestDimension.ask(zone).strip()).isEqualTo("5");
      dimension.change(10);
      JsonNode second = dimension.refresh("second", "");
      assertThat(second.path("warnings").toString())
          .contains("dictionaries over the table", good, "name them in reload_dictionaries");
      assertThat(TestDimension.ask(zone).strip()).as("nobody reloads it").isEqualTo("5");

      dimension.change(10);
      JsonNode result =
          dimension.refresh(
              "third",
              "\"reload_dictionaries\": [\"%s\", \"analytics.nowhere\", \"%s\"]"
                  .formatted(broken, good));

      assertThat(result.path("outcome").asText()).isEqualTo("published");
      assertThat(TestDimension.ask(zone).strip()).isEqualTo("7");
      assertThat(result.path("warnings").toString())
          .contains(
              "dictionary %s could not be reloaded".formatted(broken),
              "the words of the test",
              "dictionary analytics.nowhere could not be reloaded")
          .doesNotContain("dictionary %s could not".formatted(good))
          .doesNotContain("name them in reload_dictionaries");
      dimension.requireEqual();
      awaitEnd(result, "ok/clean");
    } finally {
      TestDimension.ask("DROP DICTIONARY " + good);
      TestDimension.ask("DROP DICTIONARY " + broken);
    }
  }

  private static void makeDictionary(String name, String source) {
    ClickHouseServer server = TestStack.clickHouse();
    TestDimension.ask(
        "CREATE DICTIONARY %s (code UInt64, zone Int32) PRIMARY KEY code SOURCE(CLICKHOUSE(USER '%s' PASSWORD '%s' %s)) LAYOUT(HASHED()) LIFETIME(0)"
            .formatted(name, server.adminUser(), server.adminPassword(), source));
  }

  /** Case 70. */
  @ParameterizedTest
  @CsvSource({
    "pull, MergeTree",
    "push, MergeTree",
    "pull, ReplacingMergeTree",
    "push, ReplacingMergeTree"
  })
  void aRowThatIsDeletedInPostgresIsGoneAfterTheRefresh(String load, String engine) {
    TestDimension dimension =
        TestDimension.create("refresh-gone-" + load + (engine.startsWith("R") ? "-r" : ""), 100);
    TestDimension.ask("DROP TABLE %s SYNC".formatted(dimension.live()));
    TestDimension.ask(dimension.createLive().replace("MergeTree", engine));
    String more = "\"load\": \"%s\"".formatted(load);
    String gone = "SELECT count() FROM %s WHERE code = 50".formatted(dimension.live());
    try (Worker worker = worker(dimension, Map.of())) {
      dimension.refresh("first", more);
      assertThat(TestDimension.ask(gone).strip()).isEqualTo("1");
      Appdb.execute("DELETE FROM %s.stop WHERE code = 50".formatted(dimension.schema()));

      JsonNode result = dimension.refresh("second", more);

      assertThat(result.path("rows_after").asText()).isEqualTo("99");
      assertThat(TestDimension.ask(gone).strip()).isEqualTo("0");
      dimension.requireEqual();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"max_shrink_pct\": 101 | BAD_INPUT | max_shrink_pct is 101",
        "\"source\": \"nowhere\" | UNKNOWN_CONNECTION | source 'nowhere'",
        "\"clickhouse\": \"nowhere\" | UNKNOWN_CONNECTION | clickhouse 'nowhere'",
        "\"target_database\": \"gone\" | TARGET_MISSING | gone",
        "\"target_table\": \"gone\" | TARGET_MISSING | gone",
        "\"source_table\": \"gone\" | TABLE_MISSING | gone",
        "\"checksum_column\": \"name\" | TYPE_UNSUPPORTED | name",
        "\"target_database\": \"default\" | ENGINE_UNSUPPORTED | default",
      })
  void whatCantBeRefreshedFailsBeforeARowIsRead(String more, String code, String message) {
    TestDimension dimension = Shared.DIMENSION;
    ApplicationFailure failure =
        TestTemporal.failure(dimension.start("bad-" + more.hashCode(), more));

    assertThat(failure.getType()).isEqualTo(code);
    assertThat(failure.getOriginalMessage()).contains(message);
    assertThat(dimension.liveRows()).isEmpty();
    assertThat(dimension.tables()).containsExactly(dimension.schema());
  }

  /** One worker for all inputs that are refused. */
  private static final class Shared {
    private static final TestDimension DIMENSION = TestDimension.create("refresh-bad", 10);

    static {
      TestStack.stack().attach(worker(DIMENSION, Map.of()));
    }
  }
}
