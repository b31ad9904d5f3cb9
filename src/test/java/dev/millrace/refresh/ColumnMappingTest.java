package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.clickhouse.ClickHouseType;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which pairs of types are refused, and why; MappingIT shows that the others work. */
class ColumnMappingTest {
  private static final LoadConditions PUSH = new LoadConditions(Load.PUSH, false, "UTC", "UTF8");
  private static final LoadConditions PULL = new LoadConditions(Load.PULL, true, "UTC", "UTF8");
  private static final LoadConditions OLD = new LoadConditions(Load.PULL, false, "UTC", "UTF8");

  static SourceColumn source(String name, String type) {
    PostgresType parsed =
        type.endsWith("[]")
            ? PostgresType.arrayOf(PostgresType.scalar(type.substring(0, type.length() - 2), false))
            : PostgresType.scalar(type, false);
    return new SourceColumn(name, type, parsed, true);
  }

  private static MappedColumn map(String source, String target, LoadConditions conditions) {
    return ColumnMapping.of(source("x", source), ClickHouseType.parse(target), conditions);
  }

  private static ColumnMapping mapped(String source, String target) {
    return ((MappedColumn.Accepted) map(source, target, PULL)).mapping();
  }

  @ParameterizedTest(name = "{0} to {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "text | Int8 | text is not what Int8 holds; declare the column as String",
        "text | UUID | declare the column as String",
        "text | DateTime | declare the column as String",
        "text | Bool | declare the column as String",
        "text | Decimal(9, 2) | declare the column as String",
        "text | IPv4 | declare the column as String",
        "text | Array(String) | declare the column as String",
        "integer | Bool | declare the column as Int32",
        "integer | Date | declare the column as Int32",
        "integer | DateTime | declare the column as Int32",
        "integer | Enum8('a' = 1) | declare the column as Int32",
        "integer | Float32 | values would be rounded in Float32; declare the column as Int32",
        "bigint | Float64 | values would be rounded in Float64; declare the column as Int64",
        "numeric(12,2) | Float64 | values would be rounded in Float64; declare the column as Decimal(12, 2)",
        "numeric | Nullable(Float32) | declare the column as String, or a Decimal that is wide enough",
        "numeric | Bool | numeric is not what Bool holds",
        "double precision | Float32 | values would be rounded in Float32; declare the column as Float64",
        "double precision | Decimal(9, 2) | values would be rounded",
        "real | Int32 | declare the column as Float32",
        "boolean | Int16 | declare the column as Bool",
        "boolean | Enum8('a' = 1) | declare the column as Bool",
        "date | DateTime | declare the column as Date32",
        "timestamp with time zone | Date | declare the column as DateTime64(6, 'UTC')",
        "timestamp with time zone | Int64 | declare the column as DateTime64(6, 'UTC')",
        "uuid | Int128 | declare the column as UUID",
        "bytea | UUID | declare the column as String",
        "inet | UInt32 | declare the column as String, IPv4 or IPv6",
        "time without time zone | Int32 | declare the column as String",
        "interval | IntervalSecond | this target type is not supported; declare the column as String",
        "jsonb | JSON | this target type is not supported; declare the column as String",
        "point | Tuple(Float64, Float64) | this target type is not supported",
        "integer | Map(String, Int32) | this target type is not supported",
        "integer[] | Int32 | declare the column as an Array of one dimension, or String",
        "integer[] | Array(Array(Int32)) | only arrays of one dimension",
        "text[] | Array(Int8) | text is not what Int8 holds",
        "inet[] | Array(String) | adds netmasks",
      })
  void aPairThatWouldChangeValuesIsRefused(String source, String target, String text) {
    for (LoadConditions conditions : List.of(PUSH, PULL)) {
      assertThat(map(source, target, conditions))
          .isInstanceOfSatisfying(
              MappedColumn.Refusal.class,
              refusal ->
                  assertThat(refusal.text())
                      .startsWith("column \"x\" can't go from %s to %s: ".formatted(source, target))
                      .contains(text));
    }
  }

  @ParameterizedTest(name = "{0} to {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "interval | String",
        "double precision | String",
        "date | Nullable(String)",
        "timestamp with time zone | String",
        "money | String",
        "tstzrange | String",
        "app.pair | String",
        "date[] | String",
        "real[] | Array(String)",
      })
  void textThatDependsOnTheSessionIsOnlyPushed(String source, String target) {
    assertThat(map(source, target, PUSH)).isInstanceOf(MappedColumn.Accepted.class);
    assertThat(map(source, target, PULL))
        .isInstanceOfSatisfying(
            MappedColumn.Refusal.class,
            refusal -> assertThat(refusal.text()).contains("load by push"));
  }

  @ParameterizedTest(name = "{0} to {1}: {2}")
  @CsvSource(
      delimiter = '|',
      value = {
        "integer | Int32 | true",
        "bigint | Nullable(Int32) | true",
        "text | String | true",
        "character varying(9) | LowCardinality(String) | true",
        "uuid | UUID | true",
        "boolean | Bool | true",
        "numeric(12,2) | Decimal(12, 2) | true",
        "numeric(12,2) | Decimal(18, 4) | true",
        "numeric(12,2) | Decimal(12, 1) | false",
        "numeric(12,2) | Decimal(11, 2) | false",
        "numeric(12,2) | Int64 | false",
        "numeric | Decimal(76, 38) | false",
        "date | Date32 | false",
        "timestamp with time zone | DateTime64(6) | false",
        "timestamp without time zone | DateTime | false",
        "real | Float32 | false",
        "bytea | String | false",
        "jsonb | String | false",
        "integer[] | Array(Int32) | false",
        "inet | IPv4 | false",
      })
  void withoutAQueryOnlyWhatPostgresqlGivesUnchangedIsPulled(
      String source, String target, boolean unchanged) {
    MappedColumn mapped = map(source, target, OLD);
    if (unchanged) {
      assertThat(mapped).isInstanceOf(MappedColumn.Accepted.class);
      return;
    }
    assertThat(mapped)
        .isInstanceOfSatisfying(
            MappedColumn.Refusal.class,
            refusal -> assertThat(refusal.text()).endsWith("load by push"));
  }

  @Test
  void withoutAQueryOddNamesAndDomainsAreRefused() {
    PostgresType type = PostgresType.scalar("integer", false);
    ClickHouseType target = ClickHouseType.parse("Int32");
    for (String name : List.of("a\"b", "a\\b")) {
      SourceColumn odd = new SourceColumn(name, "integer", type, false);
      assertThat(ColumnMapping.of(odd, target, OLD)).isInstanceOf(MappedColumn.Refusal.class);
      assertThat(ColumnMapping.of(odd, target, PULL)).isInstanceOf(MappedColumn.Accepted.class);
    }
    SourceColumn domain = new SourceColumn("x", "counter", type, false);
    assertThat(ColumnMapping.of(domain, target, OLD)).isInstanceOf(MappedColumn.Refusal.class);
    assertThat(ColumnMapping.of(domain, target, PULL)).isInstanceOf(MappedColumn.Accepted.class);
  }

  @ParameterizedTest(name = "{0} on a server of {1}: {2}")
  @CsvSource({
    "DateTime64(6), UTC, true",
    "DateTime64(6), Etc/UTC, true",
    "DateTime64(6), GMT, true",
    "DateTime64(6), Europe/Vilnius, false",
    "DateTime, Atlantic/Reykjavik, false",
    "'DateTime(''Europe/Vilnius'')', UTC, false",
    "'DateTime64(3, ''UTC'')', Europe/Vilnius, true",
    "DateTime64(6), Nowhere/Land, false",
  })
  void aWallClockGoesOnlyIntoAColumnThatShowsUtc(String target, String zone, boolean accepted) {
    LoadConditions conditions = new LoadConditions(Load.PUSH, false, zone, "UTF8");
    MappedColumn wallClock = map("timestamp without time zone", target, conditions);
    if (accepted) {
      assertThat(wallClock).isInstanceOf(MappedColumn.Accepted.class);
    } else {
      assertThat(wallClock)
          .isInstanceOfSatisfying(
              MappedColumn.Refusal.class,
              refusal -> assertThat(refusal.text()).contains("would be shown shifted"));
    }
    assertThat(map("timestamp with time zone", target, conditions))
        .isInstanceOf(MappedColumn.Accepted.class);
  }

  @Test
  void textOfAnotherEncodingIsOnlyPushed() {
    LoadConditions latin = new LoadConditions(Load.PULL, true, "UTC", "LATIN1");
    assertThat(map("text", "String", latin))
        .isInstanceOfSatisfying(
            MappedColumn.Refusal.class,
            refusal -> assertThat(refusal.text()).contains("encoding is LATIN1"));
    assertThat(map("integer", "Int32", latin)).isInstanceOf(MappedColumn.Accepted.class);
    assertThat(map("bytea", "String", latin)).isInstanceOf(MappedColumn.Accepted.class);
  }

  @Test
  void allRefusalsAreToldAtOnce() {
    assertThatThrownBy(
            () ->
                ColumnMapping.all(
                    List.of(source("a", "text"), source("b", "integer"), source("c", "text")),
                    List.of(
                        ClickHouseType.parse("Int8"),
                        ClickHouseType.parse("Int32"),
                        ClickHouseType.parse("Date")),
                    PUSH))
        .isInstanceOfSatisfying(
            MillraceException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.TYPE_UNSUPPORTED))
        .hasMessageContaining("column \"a\"")
        .hasMessageContaining("column \"c\"")
        .hasMessageNotContaining("column \"b\"");
  }

  @Test
  void aTypeThatFitsWhollyIsNotChecked() {
    assertThat(mapped("smallint", "Int32").rangeChecks()).isEmpty();
    assertThat(mapped("integer", "Decimal(12, 2)").rangeChecks()).isEmpty();
    assertThat(mapped("text", "String").rangeChecks()).isEmpty();
    assertThat(mapped("integer", "Decimal(12, 2)").pullSelect()).isEqualTo("t.\"x\"");
    assertThat(mapped("integer", "Int8").rangeChecks()).hasSize(2);
    assertThat(mapped("timestamp(3) with time zone", "DateTime64(3)").rangeChecks()).hasSize(2);
    assertThat(mapped("timestamp(4) with time zone", "DateTime64(3)").rangeChecks()).hasSize(3);
  }

  @Test
  void keyChecksumAndUpdatedNeedTypesThatBothSidesCountAlike() {
    ColumnMapping number = mapped("integer", "Int32");
    ColumnMapping real = mapped("double precision", "Float64");
    ColumnMapping text = mapped("text", "String");
    ColumnMapping json = mapped("json", "String");
    ColumnMapping wide = mapped("numeric", "Int256");
    SourceColumn time = source("u", "timestamp with time zone");
    List<ColumnMapping> all = List.of(number, real, text);
    assertThat(new AuditPlan(all, text, number, time, false).sumScale()).isZero();
    assertThat(
            new AuditPlan(all, number, mapped("numeric(9,2)", "Decimal(9, 2)"), null, false)
                .sumScale())
        .isEqualTo(2);
    for (ColumnMapping key : List.of(real, json)) {
      assertThatThrownBy(() -> new AuditPlan(all, key, number, time, false))
          .hasMessageContaining("pk_column \"x\"");
    }
    for (ColumnMapping checksum : List.of(real, text, wide)) {
      assertThatThrownBy(() -> new AuditPlan(all, number, checksum, time, false))
          .hasMessageContaining("checksum_column \"x\"");
    }
    assertThatThrownBy(() -> new AuditPlan(all, number, number, source("u", "text"), false))
        .hasMessageContaining("updated_column \"u\"");
  }
}
