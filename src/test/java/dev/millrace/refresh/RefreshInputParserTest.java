package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RefreshInputParserTest {
  private static final String LEAST = "\"source\": \"appdb\", \"clickhouse\": \"dimensions\"";

  private static RefreshInput parse(String json) {
    return RefreshInputParser.parse(json.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void theDefaultsAreThoseOfTheSeed() {
    assertThat(parse("{" + LEAST + "}"))
        .isEqualTo(
            new RefreshInput(
                "analytics-products",
                "appdb",
                "public",
                "products",
                "dimensions",
                "analytics",
                "products",
                List.of(),
                "id",
                "price_cents",
                "updated_at",
                20,
                false,
                false,
                Duration.ofHours(12),
                Load.PULL,
                AuditMode.STANDARD,
                false,
                null,
                List.of()));
  }

  @Test
  void allFieldsAreRead() {
    RefreshInput input =
        parse(
            """
            {"pipeline": "stops", "source": "a", "source_schema": "net", "source_table": "Stop",
             "clickhouse": "c", "target_database": "gtfs", "target_table": "tram_stop",
             "columns": "code, zone ,updated", "pk_column": "code", "checksum_column": "zone",
             "updated_column": "updated", "max_shrink_pct": 0, "always_require_approval": true,
             "allow_empty_source": true, "approval_timeout": "PT90S", "load": "push",
             "audit": "full", "force": true, "cluster": "main",
             "reload_dictionaries": ["gtfs.d_stop"]}
            """);

    assertThat(input.columns()).containsExactly("code", "zone", "updated");
    assertThat(input.target()).isEqualTo("gtfs.tram_stop");
    assertThat(input.shadow()).isEqualTo("tram_stop__refresh");
    assertThat(input.approvalTimeout()).isEqualTo(Duration.ofSeconds(90));
    assertThat(input.load()).isEqualTo(Load.PUSH);
    assertThat(input.audit()).isEqualTo(AuditMode.FULL);
    assertThat(input.cluster()).isEqualTo("main");
    assertThat(input.reloadDictionaries()).containsExactly("gtfs.d_stop");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"clickhouse\": \"c\"} | source is missing",
        "{\"source\": \"a\"} | clickhouse is missing",
        "{%, \"target_tabel\": \"x\"} | did you mean target_table",
        "{%, \"source_table\": \"a.b\"} | source_table 'a.b' is not a plain name",
        "{%, \"source_schema\": \"x; DROP\"} | source_schema 'x; DROP' is not a plain name",
        "{%, \"target_database\": \"1a\"} | target_database '1a' is not a plain name",
        "{%, \"pk_column\": \"i d\"} | pk_column 'i d' is not a plain name",
        "{%, \"columns\": \"id,,price_cents\"} | '' is not a plain name",
        "{%, \"columns\": \"id, price_cents, id\"} | columns names id twice",
        "{%, \"columns\": \"id, name\"} | checksum_column is price_cents, which is not in columns",
        "{%, \"columns\": [\"id\"]} | columns must be a text",
        "{%, \"max_shrink_pct\": -1} | max_shrink_pct is -1",
        "{%, \"max_shrink_pct\": 101} | max_shrink_pct is 101",
        "{%, \"max_shrink_pct\": 20.5} | max_shrink_pct must be a whole number",
        "{%, \"approval_timeout\": \"12h\"} | approval_timeout '12h' is not an ISO-8601 duration",
        "{%, \"approval_timeout\": \"PT0S\"} | nobody could approve",
        "{%, \"always_require_approval\": \"true\"} | must be true or false",
        "{%, \"load\": \"drag\"} | load 'drag' is neither pull nor push",
        "{%, \"audit\": \"some\"} | audit 'some' is neither standard nor full",
        "{%, \"target_table\": \"products__refresh\"} | give to their own tables",
        "{%, \"target_table\": \"products__swap_0123456789ab\"} | give to their own tables",
        "{%, \"reload_dictionaries\": [\"d\"]} | a list of database.name",
        "{%, \"reload_dictionaries\": [\"a.b.c\"]} | a list of database.name",
        "{%, \"pipeline\": \"Shop\"} | pipeline 'Shop' is not a name",
        "[] | is not a JSON object",
      })
  void whatIsWrongIsNamed(String json, String message) {
    assertThatThrownBy(() -> parse(json.replace("%", LEAST)))
        .isInstanceOfSatisfying(
            MillraceException.class,
            exception -> assertThat(exception.code()).isEqualTo(ErrorCode.BAD_INPUT))
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({
    "analytics, products, analytics-products",
    "Analytics, products, analytics-products-bbe2fa95",
    "_a, b, xa-b-553241c7",
  })
  void aPipelineIsNamedAfterItsTarget(String database, String table, String pipeline) {
    assertThat(RefreshInputParser.pipelineOf(database, table)).isEqualTo(pipeline);
  }

  @Test
  void aLongPipelineIsCutAndKeptApartByAHash() {
    String one = RefreshInputParser.pipelineOf("warehouse", "t".repeat(54) + "a");
    String other = RefreshInputParser.pipelineOf("warehouse", "t".repeat(54) + "b");

    assertThat(one).hasSize(63).startsWith("warehouse-tttt").matches("[a-z-]{54}-[0-9a-f]{8}");
    assertThat(other).hasSize(63).isNotEqualTo(one);
    assertThat(RefreshInputParser.pipelineOf("warehouse", "t".repeat(53)))
        .isEqualTo("warehouse-" + "t".repeat(53));
  }
}
