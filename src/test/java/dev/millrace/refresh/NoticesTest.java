package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class NoticesTest {
  private static final Question QUESTION =
      new Question(1, "9f2c1e4b7a80d356", "100", "79", "2026-11-30T22:00:00Z");

  private static Notices of(String namespace, String workflowId) {
    RefreshInput input =
        RefreshInputParser.parse(
            "{\"source\": \"appdb\", \"clickhouse\": \"warehouse\"}"
                .getBytes(StandardCharsets.UTF_8));
    return new Notices(input, namespace, workflowId, "run-1");
  }

  @Test
  void theCommandThatDecidesCanBePasted() {
    assertThat(of("default", "refresh-products").command(QUESTION, true))
        .isEqualTo(
            "temporal workflow update execute --workflow-id 'refresh-products' --name decide --input"
                + " '{\"approved\": true, \"by\": \"YOUR NAME\", \"reason\": \"WHY\", \"digest\": \"9f2c1e4b7a80d356\"}'");
    assertThat(of("it's", "a'b").command(QUESTION, false))
        .startsWith(
            "temporal workflow update execute --namespace 'it'\\''s' --workflow-id 'a'\\''b' --name decide")
        .contains("\"approved\": false");
  }

  @Test
  void theReminderSaysAllThatTheQuestionSaid() {
    Notices notices = of("default", "refresh-products");

    assertThat(notices.reminds(QUESTION, Duration.ofMillis(21_599_987)))
        .contains(
            "analytics.products",
            "for PT5H59M59S more, until 2026-11-30T22:00:00Z",
            "from 100 to 79 rows",
            "Workflow refresh-products (run run-1)",
            notices.command(QUESTION, true));
  }

  /** After a swap back there is no {@code __refresh}; the message has the table's name. */
  @Test
  void aFailureSaysWhereToLook() {
    Notices notices = of("default", "refresh-products");

    assertThat(notices.failed("PARITY_MISMATCH", "not equal"))
        .contains("PARITY_MISMATCH not equal. Workflow refresh-products", "products__refresh");
    assertThat(notices.rolledBack("ROLLED_BACK", "what was published is in x__back_0"))
        .contains("ROLLED_BACK what was published is in x__back_0. Workflow refresh-products")
        .contains("See whether the live table is whole")
        .doesNotContain("__refresh");
    assertThat(Notices.refused("BAD_INPUT", "no such field", "refresh-products"))
        .isEqualTo("A refresh was refused: BAD_INPUT no such field. Workflow refresh-products.");
  }
}
