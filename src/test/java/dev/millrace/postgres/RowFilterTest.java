package dev.millrace.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.ColumnType.Wire;
import dev.millrace.postgres.RowFilter.Condition;
import dev.millrace.postgres.RowFilter.Operator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RowFilterTest {
  private static RowFilter filter(String column, String operator, String... values) {
    return new RowFilter(
        List.of(new Condition(column, Operator.of(operator).orElseThrow(), List.of(values))));
  }

  private static Column column(String name, Wire wire, int dimensions, String declared) {
    return new Column(name, new ColumnType(wire, 0, 0, dimensions, declared), true);
  }

  private static Relation relation(Column... columns) {
    return new Relation(
        new TableName("shop", "orders"),
        1,
        Relation.Kind.TABLE,
        List.of(columns),
        Set.of("hidden"),
        false);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "a    | =           | paid           | \"a\" = 'paid'",
        "a    | <>          | 5              | \"a\" <> '5'",
        "a    | <           | -1.5           | \"a\" < '-1.5'",
        "a    | <=          | x              | \"a\" <= 'x'",
        "a    | >           | x              | \"a\" > 'x'",
        "a    | >=          | x              | \"a\" >= 'x'",
        "A\"b | =           | x              | \"A\"\"b\" = 'x'",
        "a    | =           | x' OR 'a' = 'a | \"a\" = 'x'' OR ''a'' = ''a'",
        "a    | =           | x\\' OR 1=1 -- | \"a\" = E'x\\\\'' OR 1=1 --'",
        "a    | =           | \\             | \"a\" = E'\\\\'",
      })
  void namesAndValuesAreQuoted(String column, String operator, String value, String sql) {
    assertThat(filter(column, operator, value).text()).isEqualTo(sql);
  }

  @Test
  void listsAndNullsHaveTheirOwnForms() {
    assertThat(filter("a", "in", "x").text()).isEqualTo("\"a\" IN ('x')");
    assertThat(filter("a", "not in", "y", "", "y").text()).isEqualTo("\"a\" NOT IN ('', 'y')");
    assertThat(filter("a", "is null").text()).isEqualTo("\"a\" IS NULL");
    assertThat(filter("a", "is not null").text()).isEqualTo("\"a\" IS NOT NULL");
  }

  @Test
  void itHoldsForEachAlternativeOfACondition() {
    RowFilter filter = filter("a", "=", "x");

    assertThat(filter.and("b OR c")).isEqualTo("(b OR c) AND \"a\" = 'x'");
    assertThat(filter.and(null)).isEqualTo("\"a\" = 'x'");
    assertThat(RowFilter.NONE.and("b OR c")).isEqualTo("b OR c");
    assertThat(RowFilter.NONE.and(null)).isNull();
    assertThat(RowFilter.NONE.text()).isNull();
  }

  @Test
  void theOrderOfConditionsAndOfListsMakesNoOtherFilter() {
    Condition paid = new Condition("status", Operator.EQUAL, List.of("paid"));
    Condition east = new Condition("region", Operator.IN, List.of("se", "ne"));
    Condition eastToo = new Condition("region", Operator.IN, List.of("ne", "se", "ne"));

    RowFilter filter = new RowFilter(List.of(paid, east));

    assertThat(new RowFilter(List.of(eastToo, paid, paid))).isEqualTo(filter);
    assertThat(filter.text()).isEqualTo("\"region\" IN ('ne', 'se') AND \"status\" = 'paid'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"==", "!=", "IN", "like", "is  null", ""})
  void otherOperatorsAreNone(String text) {
    assertThat(Operator.of(text)).isEqualTo(Optional.empty());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "DATE        | 2024-01-31",
        "DATE        | infinity",
        "TIME        | 18:15",
        "TIME        | 18:15:00.123456",
        "TIMESTAMP   | 2024-01-31",
        "TIMESTAMP   | 2024-01-31 18:15:00",
        "TIMESTAMP   | -infinity",
        "TIMESTAMPTZ | 2024-01-31",
        "TIMESTAMPTZ | 2024-01-31T18:15:00.5Z",
        "TIMESTAMPTZ | 2024-01-31 18:15:00+05:30",
        "TIMESTAMPTZ | 2024-01-31 18:15:00 -05",
        "NUMERIC     | anything, Postgres reads it",
      })
  void timesThatSayOneMomentFit(Wire wire, String value) {
    filter("a", ">=", value).requireFits(relation(column("a", wire, 0, "some type")));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "DATE        | today",
        "DATE        | 2024-01-31 10:00:00",
        "DATE        | 31.01.2024",
        "TIME        | now",
        "TIME        | 18:15:00+02",
        "TIMESTAMP   | now",
        "TIMESTAMP   | 2024-01-31 10:00:00+05",
        "TIMESTAMP   | 2024-01-31 10:00:00.1234567",
        "TIMESTAMPTZ | NOW",
        "TIMESTAMPTZ | yesterday",
        "TIMESTAMPTZ | 2024-01-31 10:00:00 Europe/Vilnius",
      })
  void timesThatMoveOrLoseAPartAreRefused(Wire wire, String value) {
    Relation relation = relation(column("a", wire, 0, "some type"));

    assertThatThrownBy(() -> filter("a", ">=", value).requireFits(relation))
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.BAD_CONFIGURATION))
        .hasMessageContainingAll(
            "shop.orders: its filter in the configuration can't be used, column 'a', operator '>='",
            "'" + value + "' is not a ",
            "correct the value");
  }

  @Test
  void typesWithoutOneOrderAreOnlyComparedWithNull() {
    Relation relation =
        relation(
            column("list", Wire.INT4, 1, "integer[]"),
            new Column(
                "span",
                new ColumnType(Wire.TEXT, 0, 0, "interval"),
                true,
                "text",
                Column.Kind.PLAIN,
                null,
                ColumnRules.DEFAULT));
    for (String name : List.of("list", "span")) {
      filter(name, "is not null").requireFits(relation);
      assertThatThrownBy(() -> filter(name, "=", "1").requireFits(relation))
          .hasMessageContaining("are only compared by is null and is not null");
    }
  }

  @Test
  void columnsThatAreMissingOrHiddenAreNamed() {
    Relation relation =
        relation(column("status", Wire.TEXT, 0, "text"), column("hidden", Wire.TEXT, 0, "text"));

    assertThatThrownBy(() -> filter("stauts", "=", "x").requireFits(relation))
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.COLUMN_MISSING))
        .hasMessage(
            "shop.orders has no column 'stauts', which its filter in the configuration names; did you mean status?");
    assertThatThrownBy(() -> filter("hidden", "=", "x").requireFits(relation))
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.NO_PRIVILEGE));
  }
}
