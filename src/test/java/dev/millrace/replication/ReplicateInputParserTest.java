package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.ColumnRules;
import dev.millrace.postgres.TableName;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReplicateInputParserTest {
  private static final String REAL =
      "\"demo_mode\": false, \"pipeline\": \"appdb\", \"source\": \"appdb\", \"lake\": \"lake\"";

  private static ReplicateInput parse(String json) {
    return ReplicateInputParser.parse(
        ReplicateInputParser.object(json.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void anEmptyObjectIsADemoWithTheDefaultsOfTheSeed() {
    ReplicateInput input = parse("{}");

    assertThat(input.demo()).isTrue();
    assertThat(input.pipeline().name()).isEqualTo("demo");
    assertThat(input.tables())
        .extracting(TableRequest::name)
        .containsExactly(new TableName("main", "orders"), new TableName("main", "payments"));
    assertThat(input.spikeFactor()).isEqualTo(5);
    assertThat(input.notifySlack()).isFalse();
    assertThat(input.lag()).isEqualTo(Duration.ofMinutes(1));
    assertThat(input.parallel()).isEqualTo(3);
    assertThat(input.connections()).isEqualTo(2);
    assertThat(input.keyTimeZone()).isEqualTo(ZoneId.of("UTC"));
    assertThat(input.nullKeys()).isEqualTo(NullKeys.REFUSE);
  }

  @Test
  void outsideDemoTheDefaultTablesAreThoseOfTheSeed() {
    ReplicateInput input = parse("{" + REAL + "}");

    assertThat(input.demo()).isFalse();
    assertThat(input.tables())
        .containsExactly(
            new TableRequest(
                new TableName("public", "customers"), "updated_at", List.of(), List.of()),
            new TableRequest(
                new TableName("public", "payments"), "updated_at", List.of(), List.of()));
  }

  @Test
  void aTableMayHaveItsOwnKeyAndColumns() {
    ReplicateInput input =
        parse(
            "{"
                + REAL
                + ", \"update_key\": \"ts\", \"tables\": [\"Public.A\", {\"table\": \"\\\"My"
                + " Schema\\\".\\\"Order\\\"\", \"update_key\": \"Changed At\", \"columns\":"
                + " [\"id\"], \"exclude\": [\"photo\"]}]}");

    assertThat(input.tables())
        .containsExactly(
            new TableRequest(new TableName("public", "a"), "ts", List.of(), List.of()),
            new TableRequest(
                new TableName("My Schema", "Order"),
                "Changed At",
                List.of("id"),
                List.of("photo")));
  }

  @Test
  void rulesOfTypesAreForAllTablesAndForColumns() {
    ReplicateInput input =
        parse(
            "{"
                + REAL
                + ", \"numeric\": \"decimal(38, 9)\", \"nan\": \"null\", \"infinity\": \"clamp\","
                + " \"arrays\": \"text\", \"tables\": [\"a.b\", {\"table\": \"a.c\", \"types\":"
                + " {\"Amount\": {\"numeric\": \"fail\", \"arrays\": \"list\"}}}]}");

    ColumnRules rules =
        new ColumnRules(
            new ColumnRules.Numeric(ColumnRules.NumericForm.DECIMAL, 38, 9),
            ColumnRules.Nan.NULL,
            ColumnRules.Infinity.CLAMP,
            ColumnRules.Arrays.TEXT);
    assertThat(input.tables()).extracting(TableRequest::rules).containsOnly(rules);
    assertThat(input.tables().get(0).types()).isEmpty();
    assertThat(input.tables().get(1).types())
        .containsExactly(
            entry(
                "Amount",
                new ColumnRules(
                    new ColumnRules.Numeric(ColumnRules.NumericForm.FAIL, 0, 0),
                    null,
                    null,
                    ColumnRules.Arrays.LIST)));
    assertThat(parse("{" + REAL + "}").tables())
        .extracting(TableRequest::rules)
        .containsOnly(ColumnRules.DEFAULT);
  }

  @Test
  void inDemoModeOtherTablesAreIgnored() {
    ReplicateInput input =
        parse("{\"demo_mode\": true, \"pipeline\": \"p1\", \"tables\": [\"public.a\"]}");

    assertThat(input.pipeline().name()).isEqualTo("p1");
    assertThat(input.tables())
        .extracting(TableRequest::name)
        .doesNotContain(new TableName("public", "a"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "{\"demo_mod\": true} | did you mean demo_mode?",
        "{\"demo_mode\": \"false\"} | demo_mode must be true or false",
        "{\"demo_mode\": null} | demo_mode must be true or false",
        "{\"spike_factor\": 5.7} | spike_factor must be a whole number, not 5.7",
        "{\"spike_factor\": \"5\"} | spike_factor must be a whole number",
        "{\"spike_factor\": 1} | at least 2",
        "{\"spike_factor\": 99999999999} | spike_factor must be a whole number",
        "{\"parallel\": 0} | parallel is 0",
        "{\"parallel\": 65} | 1 to 64",
        "{\"connections\": 0} | connections is 0",
        "{\"connections\": 17} | 1 to 16",
        "{\"lag\": \"1 minute\"} | ISO-8601",
        "{\"lag\": \"-PT1M\"} | not be negative",
        "{\"lag\": 60} | lag must be a text",
        "{\"key_time_zone\": \"Mars/Olympus\"} | key_time_zone 'Mars/Olympus'",
        "{\"null_keys\": \"drop\"} | refuse, exclude, include_once",
        "{\"update_key\": \"\"} | update_key is empty",
        "{\"demo_mode\": true, \"demo_mode\": false} | not valid JSON: Duplicate field",
        "{\"demo_mode\": true} {} | behind its end",
        "{\"demo_mode\": | not valid JSON",
        "[1] | not a JSON object",
        "\"x\" | not a JSON object",
        "null | not a JSON object",
        "{\"pipeline\": \"p\"} | without demo_mode",
        "{\"tables\": [\"a.b\"]} | without demo_mode",
        "{\"source\": \"a\"} | without demo_mode",
        "{\"lake\": \"a\"} | without demo_mode",
        "{\"demo_mode\": false} | pipeline is missing",
        "{\"demo_mode\": false, \"pipeline\": \"p\"} | source is missing",
        "{\"demo_mode\": false, \"pipeline\": \"p\", \"source\": \"s\"} | lake is missing",
        "{\"demo_mode\": true, \"pipeline\": \"Big\"} | not a name",
        "{\"demo_mode\": true, \"pipeline\": \"dbt\"} | refused",
        "{\"demo_mode\": true, \"pipeline\": \"zakya\"} | refused",
        "{\"demo_mode\": true, \"tables\": []} | tables is empty",
        "{\"demo_mode\": true, \"tables\": \"a.b\"} | tables must be a list",
        "{\"demo_mode\": true, \"tables\": [1, true]} | tables[0] must be a schema.table",
        "{\"demo_mode\": true, \"tables\": [\"customers\"]} | not a table name",
        "{\"demo_mode\": true, \"tables\": [\"public.*\"]} | wildcard",
        "{\"demo_mode\": true, \"tables\": [\"a.b\", \"A.B\"]} | names a.b twice",
        "{\"demo_mode\": true, \"tables\": [{\"tabel\": \"a.b\"}]} | did you mean table?",
        "{\"demo_mode\": true, \"tables\": [{}]} | no field table",
        "{\"demo_mode\": true, \"tables\": [{\"table\": \"a.b\", \"columns\": []}]} |"
            + " tables[0].columns is empty",
        "{\"demo_mode\": true, \"tables\": [{\"table\": \"a.b\", \"columns\": [1]}]} | list of"
            + " column names",
        "{\"demo_mode\": true, \"tables\": [{\"table\": \"a.b\", \"exclude\": [\"x\", \"x\"]}]} |"
            + " names 'x' twice",
        "{\"continuation\": {}} | has no field 'continuation'",
        "{\"numeric\": \"decimal\"} | numeric 'decimal' is none of text, decimal(p,s) such as"
            + " decimal(38,9), fail",
        "{\"numeric\": \"decimal(39,9)\"} | numeric is decimal(39,9); it has 1 to 38 digits",
        "{\"numeric\": \"decimal(0,0)\"} | it has 1 to 38 digits",
        "{\"numeric\": \"decimal(9,10)\"} | it has 1 to 38 digits",
        "{\"numeric\": 9} | numeric must be a text",
        "{\"nan\": null} | nan must be a text",
        "{\"nan\": \"clamp\"} | nan 'clamp' is none of fail, null",
        "{\"infinity\": \"zero\"} | infinity 'zero' is none of fail, null, clamp",
        "{\"arrays\": \"json\"} | arrays 'json' is none of list, text",
        "{\"demo_mode\": true, \"tables\": [{\"table\": \"a.b\", \"types\": []}]} | tables[0].types"
            + " must be an object",
        "{\"demo_mode\": true, \"tables\": [{\"table\": \"a.b\", \"types\": {}}]} | tables[0].types"
            + " is empty",
        "{\"demo_mode\": true, \"tables\": [{\"table\": \"a.b\", \"types\": {\"x\": \"text\"}}]} |"
            + " tables[0].types.x must be an object",
        "{\"demo_mode\": true, \"tables\": [{\"table\": \"a.b\", \"types\": {\"x\": {}}}]} |"
            + " tables[0].types.x must be an object",
        "{\"demo_mode\": true, \"tables\": [{\"table\": \"a.b\", \"types\": {\"x\": {\"nun\":"
            + " \"null\"}}}]} | did you mean nan?",
        "{\"demo_mode\": true, \"tables\": [{\"table\": \"a.b\", \"types\": {\"x\": {\"nan\":"
            + " \"no\"}}}]} | tables[0].types.x.nan 'no' is none of",
      })
  void whatIsWrongIsRefusedByName(String json, String message) {
    assertThatThrownBy(() -> parse(json))
        .isInstanceOfSatisfying(
            MillraceException.class,
            exception -> assertThat(exception.code()).isEqualTo(ErrorCode.BAD_INPUT))
        .hasMessageContaining(message);
  }
}
