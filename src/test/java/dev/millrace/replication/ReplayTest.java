package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.refresh.RefreshDimensionWorkflow;
import dev.millrace.testing.SavedHistories;
import io.temporal.common.WorkflowExecutionHistory;
import io.temporal.testing.WorkflowReplayer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Runs that began with an older version go on with this one: each saved history is replayed. When
 * one of these tests fails, change the workflow's code with {@code Workflow.getVersion}, and add
 * histories with {@link RecordHistories}; those of released versions stay.
 */
class ReplayTest {
  private static final JsonMapper JSON = new JsonMapper();

  @TestFactory
  Stream<DynamicTest> theCodeOfNowReplays() throws IOException {
    return histories().stream()
        .map(
            file ->
                DynamicTest.dynamicTest(
                    file.getFileName().toString(),
                    () ->
                        assertThatCode(() -> replay(Files.readString(file)))
                            .doesNotThrowAnyException()));
  }

  private static List<Path> histories() throws IOException {
    try (Stream<Path> files = Files.list(SavedHistories.FOLDER)) {
      List<Path> histories = files.sorted().toList();
      assertThat(histories).isNotEmpty();
      return histories;
    }
  }

  private static void replay(String history) throws Exception {
    String workflowId =
        JSON.readTree(history)
            .at("/events/0/workflowExecutionStartedEventAttributes/workflowId")
            .asText();
    assertThat(workflowId).isNotEmpty();
    WorkflowReplayer.replayWorkflowExecution(
        WorkflowExecutionHistory.fromJson(history, workflowId),
        ReplicateWorkflow.class,
        ReplicateTableWorkflow.class,
        RefreshDimensionWorkflow.class);
  }

  @Test
  void anotherOrderOfStepsIsSeen() throws IOException {
    String history = Files.readString(SavedHistories.FOLDER.resolve("extracting-table.json"));
    assertThat(history).contains("TablePrepare");
    assertThatThrownBy(() -> replay(history.replace("TablePrepare", "TableCount")))
        .hasStackTraceContaining("TableCount");
  }

  @TestFactory
  Stream<DynamicTest> noHistoryTellsOfTheMachineThatMadeIt() throws IOException {
    return histories().stream()
        .map(
            file ->
                DynamicTest.dynamicTest(
                    file.getFileName().toString(),
                    () -> {
                      StringBuilder text = new StringBuilder(Files.readString(file));
                      JSON.readTree(text.toString())
                          .findValues("data")
                          .forEach(data -> text.append(decoded(data)).append('\n'));
                      assertThat(text)
                          .doesNotContainPattern("\"/(root|home|tmp|work|var|usr)/")
                          .doesNotContainPattern("\\d@(?!host)[a-z]")
                          .doesNotContainIgnoringCase("password");
                    }));
  }

  private static String decoded(JsonNode data) {
    return data.isTextual()
        ? new String(Base64.getDecoder().decode(data.asText()), StandardCharsets.UTF_8)
        : "";
  }
}
