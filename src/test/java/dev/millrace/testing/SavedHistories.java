package dev.millrace.testing;

import io.temporal.api.common.v1.WorkflowExecution;
import io.temporal.client.WorkflowClient;
import io.temporal.common.WorkflowExecutionHistory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The histories that the code of now has to replay. Stateless. */
public final class SavedHistories {
  /** Where they are. */
  public static final Path FOLDER = Path.of("src", "test", "resources", "histories");

  /** How the JSON of histories writes the padding of Base64. */
  private static final String EQUALS = "\\u003d";

  private static final Pattern DATA = Pattern.compile("\"data\": \"([^\"]*)\"");

  private SavedHistories() {}

  /** Saves the history of an execution on the shared server, unless there is one of that name. */
  public static void save(String name, String workflowId) {
    save(
        name,
        TestTemporal.client(),
        WorkflowExecution.newBuilder().setWorkflowId(workflowId).build());
  }

  /** Saves the history of an execution, unless there is one of that name. */
  public static void save(String name, WorkflowClient client, WorkflowExecution execution) {
    Path file = FOLDER.resolve(name + ".json");
    if (Files.exists(file)) {
      return;
    }
    WorkflowExecutionHistory history =
        client.fetchHistory(execution.getWorkflowId(), execution.getRunId());
    try {
      Files.createDirectories(FOLDER);
      Files.writeString(file, withoutMachine(history.toJson(true)) + "\n");
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Process ids, host names and traces are of no use to a replay. */
  private static String withoutMachine(String history) {
    return DATA.matcher(withoutHost(history))
        .replaceAll(
            data ->
                Matcher.quoteReplacement(
                    "\"data\": \"%s\"".formatted(withoutHostInside(data.group(1)))))
        .replaceAll("\"stackTrace\": \"[^\"]*\"", "\"stackTrace\": \"\"");
  }

  /** A payload may tell who sent a signal. */
  private static String withoutHostInside(String data) {
    String text =
        new String(Base64.getDecoder().decode(data.replace(EQUALS, "=")), StandardCharsets.UTF_8);
    String without = withoutHost(text);
    return without.equals(text)
        ? data
        : Base64.getEncoder()
            .encodeToString(without.getBytes(StandardCharsets.UTF_8))
            .replace("=", EQUALS);
  }

  private static String withoutHost(String text) {
    return text.replaceAll("\"\\d+@[^\"]*\"", "\"worker@host\"");
  }
}
