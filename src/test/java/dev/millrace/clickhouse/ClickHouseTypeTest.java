package dev.millrace.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.clickhouse.ClickHouseType.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClickHouseTypeTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      textBlock =
          """
          Int8                                | INT8         | false | false | 0  | 0  | -
          UInt256                             | UINT256      | false | false | 0  | 0  | -
          Bool                                | BOOL         | false | false | 0  | 0  | -
          Nullable(Float64)                   | FLOAT64      | true  | false | 0  | 0  | -
          Decimal(12, 2)                      | DECIMAL      | false | false | 12 | 2  | -
          Nullable(Decimal(76, 0))            | DECIMAL      | true  | false | 76 | 0  | -
          Decimal(9)                          | DECIMAL      | false | false | 9  | 0  | -
          Decimal128(5)                       | DECIMAL      | false | false | 38 | 5  | -
          LowCardinality(Nullable(String))    | STRING       | true  | true  | 0  | 0  | -
          FixedString(16)                     | FIXED_STRING | false | false | 16 | 0  | -
          Date32                              | DATE32       | false | false | 0  | 0  | -
          DateTime                            | DATETIME     | false | false | 0  | 0  | -
          DateTime('Europe/Vilnius')          | DATETIME     | false | false | 0  | 0  | Europe/Vilnius
          DateTime64(6)                       | DATETIME64   | false | false | 6  | 0  | -
          Nullable(DateTime64(6, 'UTC'))      | DATETIME64   | true  | false | 6  | 0  | UTC
          Array(Nullable(UUID))               | ARRAY        | false | false | 0  | 0  | -
          IPv6                                | IPV6         | false | false | 0  | 0  | -
          Map(String, Int8)                   | OTHER        | false | false | 0  | 0  | -
          AggregateFunction(sum, UInt64)      | OTHER        | false | false | 0  | 0  | -
          Nullable(Tuple(Int8, String))       | OTHER        | true  | false | 0  | 0  | -
          JSON                                | OTHER        | false | false | 0  | 0  | -
          Other                               | OTHER        | false | false | 0  | 0  | -
          Array                               | OTHER        | false | false | 0  | 0  | -
          """)
  void typesAreReadFromTheCataloguesText(
      String text,
      Kind kind,
      boolean nullable,
      boolean lowCardinality,
      int precision,
      int scale,
      String timezone) {
    ClickHouseType type = ClickHouseType.parse(text);

    assertThat(type.text()).isEqualTo(text);
    assertThat(type.kind()).isEqualTo(kind);
    assertThat(type.nullable()).isEqualTo(nullable);
    assertThat(type.lowCardinality()).isEqualTo(lowCardinality);
    assertThat(type.precision()).isEqualTo(precision);
    assertThat(type.scale()).isEqualTo(scale);
    assertThat(type.timezone()).isEqualTo(timezone);
  }

  @Test
  void anArrayHasTheTypeOfItsElements() {
    ClickHouseType type = ClickHouseType.parse("Array(Array(Nullable(Decimal(10, 3))))");

    assertThat(type.element().element().kind()).isEqualTo(Kind.DECIMAL);
    assertThat(type.element().element().nullable()).isTrue();
    assertThat(type.element().element().precision()).isEqualTo(10);
  }

  @Test
  void anEnumHasItsNamesAndNumbers() {
    ClickHouseType type =
        ClickHouseType.parse("Nullable(Enum8('a' = 1, 'it\\'s, (x) = 2' = -2, '' = 0))");

    assertThat(type.kind()).isEqualTo(Kind.ENUM8);
    assertThat(type.nullable()).isTrue();
    assertThat(type.names()).containsExactly("a", "it's, (x) = 2", "");
    assertThat(type.values()).containsExactly(1, -2, 0);
  }
}
