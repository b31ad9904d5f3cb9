package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.Message;
import dev.millrace.testing.Appdb;
import dev.millrace.testing.TestRun;
import dev.millrace.testing.TestWorker;
import io.temporal.api.common.v1.Payload;
import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.api.enums.v1.EventType;
import io.temporal.api.history.v1.HistoryEvent;
import io.temporal.internal.common.WorkflowExecutionHistory;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A run over thousands of tables: nothing that Temporal keeps grows with them. */
class ManyTablesIT {
  private static final int TABLES =
      Math.max(2, (int) (5_000 * Double.parseDouble(System.getProperty("millrace.scale", "0.1"))));

  private static final int MOST_PAYLOAD = 64 * 1024;
  private static final int MOST_EVENTS = 10_000;

  /** From here on the server suggests to continue as new. */
  private static final int SUGGESTED_EVENTS = 4_096;

  @Test
  void payloadsAndHistoriesStaySmall() {
    Appdb.execute("CREATE SCHEMA m");
    Appdb.execute(
        """
        DO $$ BEGIN
          FOR i IN 1..%d LOOP
            EXECUTE format('CREATE TABLE m.t%%s (id int NOT NULL)', i);
            -- One transaction can't hold locks on thousands of tables.
            IF i %% 500 = 0 THEN COMMIT; END IF;
          END LOOP;
        END $$"""
            .formatted(TABLES));
    Appdb.execute("INSERT INTO m.t1 VALUES (1); INSERT INTO m.t%d VALUES (1)".formatted(TABLES));
    String tables =
        IntStream.rangeClosed(1, TABLES)
            .mapToObj(i -> "\"m.t" + i + "\"")
            .collect(Collectors.joining(",", "[", "]"));
    TestRun run =
        TestWorker.shared()
            .replicate("many_tables", tables, "\"update_key\": \"id\", \"parallel\": 32");

    JsonNode result = run.result();

    assertThat(result.get("tables").intValue()).isEqualTo(TABLES);
    assertThat(result.get("ok").intValue()).isEqualTo(TABLES);
    assertThat(result.get("failed").intValue()).isZero();
    assertThat(result.get("rows").longValue()).isEqualTo(2);
    assertThat(result.get("results").size()).isBetween(1, 200);
    assertThat(result.get("more").textValue())
        .isEqualTo(
            "SELECT * FROM millrace.table_result WHERE run_id = '%s'"
                .formatted(result.get("run_id").textValue()));
    assertThat(Appdb.values(result.get("more").textValue())).hasSize(TABLES);

    List<WorkflowExecutionHistory> chain = chain(run);
    long events = chain.stream().mapToLong(history -> history.getEvents().size()).sum();
    System.out.printf(
        "%d tables: %d events in %d runs, largest payload %d bytes%n",
        TABLES,
        events,
        chain.size(),
        chain.stream().mapToInt(ManyTablesIT::largest).max().orElseThrow());
    assertThat(chain)
        .allSatisfy(
            history -> {
              assertThat(history.getEvents()).hasSizeLessThan(MOST_EVENTS);
              // The input, too: names are short here, since its size is up to the caller.
              assertThat(largest(history)).isLessThan(MOST_PAYLOAD);
            });
    if (events > 2 * SUGGESTED_EVENTS) {
      assertThat(chain).hasSizeGreaterThan(1);
    }
  }

  private static List<WorkflowExecutionHistory> chain(TestRun run) {
    List<WorkflowExecutionHistory> chain = new ArrayList<>();
    String runId = run.describe().getFirstRunId();
    while (runId != null) {
      WorkflowExecutionHistory history =
          TestWorker.shared().client().fetchHistory(run.workflowId(), runId);
      chain.add(history);
      HistoryEvent last = history.getLastEvent();
      runId =
          last.getEventType() == EventType.EVENT_TYPE_WORKFLOW_EXECUTION_CONTINUED_AS_NEW
              ? last.getWorkflowExecutionContinuedAsNewEventAttributes().getNewExecutionRunId()
              : null;
    }
    return chain;
  }

  private static int largest(WorkflowExecutionHistory history) {
    return history.getEvents().stream()
        .flatMap(event -> payloads(event).stream())
        .mapToInt(Payload::getSerializedSize)
        .max()
        .orElse(0);
  }

  private static List<Payload> payloads(Message message) {
    List<Payload> payloads = new ArrayList<>();
    if (message instanceof Payload payload) {
      return List.of(payload);
    }
    if (message instanceof WorkflowExecution) {
      return List.of();
    }
    for (Object value : message.getAllFields().values()) {
      Collection<?> values = value instanceof Collection<?> many ? many : List.of(value);
      for (Object one : values) {
        if (one instanceof Message inner) {
          payloads.addAll(payloads(inner));
        }
      }
    }
    return payloads;
  }
}
