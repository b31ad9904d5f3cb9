package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.failure.ErrorCode;
import dev.millrace.testing.Appdb;
import dev.millrace.testing.LakeReader;
import dev.millrace.testing.Logs;
import dev.millrace.testing.TestWorker;
import io.temporal.failure.ApplicationFailure;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Rules of types in runs, on real servers (cases 24, 25 and 27). */
class TypeRulesIT {
  private static TestWorker worker;

  @BeforeAll
  static void start() {
    worker = TestWorker.shared();
    Appdb.execute("CREATE SCHEMA type_rules_it");
  }

  @Test
  void rulesDecideAndWhatTheyReplacedIsInTheResultAndTheLog() {
    Appdb.execute(
        """
        CREATE TABLE type_rules_it.offers (
          id bigint PRIMARY KEY, amount numeric, other numeric, ratio numeric(10,2),
          valid_from date, valid_to timestamptz, marks date[], tags text[],
          updated_at timestamptz NOT NULL DEFAULT now());
        CREATE INDEX ON type_rules_it.offers (updated_at);
        COMMENT ON COLUMN type_rules_it.offers.ratio IS 'per "piece"';
        INSERT INTO type_rules_it.offers VALUES
          (1, 1.5, 2.25, 'NaN', '-infinity', 'infinity', '{infinity,2024-01-01,-infinity}', '{a}'),
          (2, 3, 4, 7.25, '2024-01-02', '2024-01-02', NULL, '{}')\
        """);
    String tables =
        """
        [{"table": "type_rules_it.offers", "types": {
          "amount": {"numeric": "decimal(38,9)"}, "valid_to": {"infinity": "clamp"},
          "tags": {"arrays": "text"}}}]\
        """;
    JsonNode table;
    try (Logs logs = Logs.listen()) {
      table =
          worker
              .replicate("trit_offers", tables, "\"nan\": \"null\", \"infinity\": \"null\"")
              .onlyTable();
      assertThat(logs.messages(Level.WARN))
          .contains(
              "type_rules_it.offers: 1 values of column ratio were replaced by the rule nan: null",
              "type_rules_it.offers: copied as text: other (numeric), tags (text[])");
    }
    assertThat(table.get("replaced"))
        .isEqualTo(
            TestWorker.json(
                """
                [{"column": "ratio", "rule": "nan: null", "values": 1},
                 {"column": "valid_from", "rule": "infinity: null", "values": 1},
                 {"column": "valid_to", "rule": "infinity: clamp", "values": 1},
                 {"column": "marks", "rule": "infinity: null", "values": 2}]\
                """));
    assertThat(
            Appdb.value(
                "SELECT replaced->0->>'column' FROM millrace.table_result WHERE pipeline ="
                    + " 'trit_offers'"))
        .isEqualTo("ratio");

    String object = table.get("object").textValue();
    Map<String, String> metadata = LakeReader.metadata(object);
    assertThat(metadata)
        .containsEntry("millrace.pipeline", "trit_offers")
        .containsEntry("millrace.table", "type_rules_it.offers");
    JsonNode columns = TestWorker.json(metadata.get("millrace.columns"));
    assertThat(columns.get(1))
        .isEqualTo(TestWorker.json("{\"name\": \"amount\", \"type\": \"numeric\"}"));
    assertThat(columns.get(2))
        .isEqualTo(
            TestWorker.json("{\"name\": \"other\", \"type\": \"numeric\", \"read_as\": \"text\"}"));
    assertThat(columns.get(3))
        .isEqualTo(
            TestWorker.json(
                "{\"name\": \"ratio\", \"type\": \"numeric(10,2)\", \"comment\": \"per"
                    + " \\\"piece\\\"\"}"));
    List<Map<String, String>> rows =
        LakeReader.rows(object).stream()
            .sorted((left, right) -> left.get("id").compareTo(right.get("id")))
            .toList();
    assertThat(rows.get(0))
        .containsEntry("amount", "1.500000000")
        .containsEntry("other", "2.25")
        .containsEntry("ratio", null)
        .containsEntry("valid_from", null)
        .containsEntry("valid_to", "+294247-01-10T04:00:54.775807Z")
        .containsEntry("marks", "[null, 2024-01-01, null]")
        .containsEntry("tags", "{a}");
    assertThat(rows.get(1))
        .containsEntry("ratio", "7.25")
        .containsEntry("valid_from", "2024-01-02")
        .containsEntry("marks", null)
        .containsEntry("tags", "{}");

    // Nothing replaced, nothing said.
    assertThat(worker.replicate("trit_offers", tables).onlyTable().has("replaced")).isFalse();
  }

  @Test
  void aValueThatNoRuleTakesStopsTheTableAndNamesColumnKeyAndRule() {
    Appdb.execute(
        """
        CREATE TABLE type_rules_it.broken (
          id bigint PRIMARY KEY, v numeric, updated_at timestamptz NOT NULL DEFAULT now());
        INSERT INTO type_rules_it.broken VALUES (1, 1.5), (2, 0.00001)\
        """);
    ApplicationFailure failure =
        worker
            .replicate(
                "trit_broken", "[\"type_rules_it.broken\"]", "\"numeric\": \"decimal(10,2)\"")
            .failure();
    assertThat(failure.getOriginalMessage())
        .contains(
            "type_rules_it.broken",
            ErrorCode.VALUE_OUT_OF_RANGE.name(),
            "\"v\" (numeric)",
            "with \"updated_at\" = ",
            "more than 2 fraction digits",
            "numeric: decimal(p,s)");
    assertThat(LakeReader.objects("raw/postgres/type_rules_it/broken/")).isEmpty();
  }

  @Test
  void whatIsWrongWithTheRulesIsRefusedBeforeARowMoves() {
    Appdb.execute(
        """
        CREATE TABLE type_rules_it.plain (
          id bigint PRIMARY KEY, price numeric, note text, updated_at timestamptz NOT NULL)\
        """);
    assertRefused("{\"prise\": {\"nan\": \"null\"}}", "COLUMN_MISSING", "did you mean price?");
    assertRefused(
        "{\"note\": {\"infinity\": \"null\"}}",
        "BAD_INPUT",
        "infinity has no meaning for column \"note\" (text)");
    assertRefused(
        "{\"price\": {\"nan\": \"null\"}}", "BAD_INPUT", "nan has no meaning for column \"price\"");
    assertRefused(
        "{\"price\": {\"numeric\": \"fail\"}}", "TYPE_UNSUPPORTED", "\"price\" is numeric");
  }

  private static void assertRefused(String types, String code, String message) {
    ApplicationFailure failure =
        worker
            .replicate(
                "trit_plain", "[{\"table\": \"type_rules_it.plain\", \"types\": " + types + "}]")
            .failure();
    assertThat(failure.getOriginalMessage()).contains("type_rules_it.plain", code, message);
  }
}
