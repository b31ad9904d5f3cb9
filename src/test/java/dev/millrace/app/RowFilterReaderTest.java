package dev.millrace.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.RowFilter;
import dev.millrace.postgres.TableName;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RowFilterReaderTest {
  private static final Map<String, String> ENVIRONMENT = Map.of("REGION", "north", "TWO", " a\nb");

  @TempDir Path folder;

  private Map<TableName, RowFilter> filters(String filters) {
    Path file = folder.resolve("millrace.yaml");
    try {
      Files.writeString(
          file,
          """
          state: appdb
          postgres:
            appdb:
              host: h
              database: d
              user: u
              filters:
          """
              + filters.indent(6));
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
    return Configuration.load(file, ENVIRONMENT).postgres().get("appdb").filters();
  }

  private String text(String condition) {
    return filters("shop.orders: [" + condition + "]").get(new TableName("shop", "orders")).text();
  }

  @Test
  void tablesAreNamedAsInRuns() {
    Map<TableName, RowFilter> filters =
        filters(
            """
            shop.Orders:
              - column: status
                operator: "="
                value: paid
              - {column: Total, operator: ">=", value: 10.50}
            '"My Shop"."Order"':
              - {column: id, operator: is not null}
            """);

    assertThat(filters)
        .containsOnlyKeys(new TableName("shop", "orders"), new TableName("My Shop", "Order"));
    assertThat(filters.get(new TableName("shop", "orders")).text())
        .isEqualTo("\"Total\" >= '10.50' AND \"status\" = 'paid'");
  }

  /** What YAML takes a value for is no matter: the column's type is what counts. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "{column: a, operator: =, value: paid}             | \"a\" = 'paid'",
        "{column: a, operator: <>, value: 5}               | \"a\" <> '5'",
        "{column: a, operator: <, value: 007}              | \"a\" < '007'",
        "{column: a, operator: \"<=\", value: true}        | \"a\" <= 'true'",
        "{column: a, operator: \">\", value: no}           | \"a\" > 'no'",
        "{column: a, operator: \">=\", value: 2024-01-31}  | \"a\" >= '2024-01-31'",
        "{column: a, operator: =, value: ' b '}            | \"a\" = ' b '",
        "{column: a, operator: =, value: \"\"}             | \"a\" = ''",
        "{column: a, operator: =, value: \"it's a \\\\\"}  | \"a\" = E'it''s a \\\\'",
        "{column: a, operator: in, value: [b, 1, true]}    | \"a\" IN ('1', 'b', 'true')",
        "{column: a, operator: not in, value: [b]}         | \"a\" NOT IN ('b')",
        "{column: a, operator: is null}                    | \"a\" IS NULL",
        "{column: a, operator: is not null}                | \"a\" IS NOT NULL",
        "{column: a, operator: =, value: \"${env:REGION}\"} | \"a\" = 'north'",
      })
  void conditionsAreRead(String condition, String sql) {
    assertThat(text(condition)).isEqualTo(sql);
  }

  @Test
  void aReferenceMayHoldAnyText() {
    assertThat(text("{column: a, operator: =, value: \"${env:TWO}\"}"))
        .isEqualTo("\"a\" = ' a\nb'");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "orders: [{column: a, operator: is null}]       | .orders can't be used: 'orders' is not a table name; write it as schema.table",
        "s.t: []                                        | .s.t must be a list of conditions such as {column: status, operator: \"=\", value: paid}",
        "s.t: a = 1                                     | .s.t must be a list of conditions",
        "s.t: [a = 1]                                   | .s.t[0] must be a condition such as",
        "s.t: [{operator: =, value: 1}]                 | .s.t[0].column is required",
        "s.t: [{column: a, value: 1}]                   | .s.t[0].operator is required",
        "s.t: [{column: a, operator: =}]                | .s.t[0].value is required",
        "s.t: [{column: a, operater: =, value: 1}]      | .s.t[0].operater is not a setting; did you mean operator?",
        "s.t: [{column: a, operator: '!=', value: 1}]   | .s.t[0].operator must be =, <>, <, <=, >, >=, in, not in, is null or is not null, in quotes",
        "s.t: [{column: a, operator: like, value: 1}]   | .s.t[0].operator must be =",
        "s.t: [{column: a, operator: IN, value: [1]}]   | .s.t[0].operator must be =",
        "s.t: [{column: a, operator: =, value: null}]   | .s.t[0].value has no value; NULL is asked for by the operators is null and is not null",
        "s.t: [{column: a, operator: in, value: [1,~]}] | .s.t[0].value has no value",
        "s.t: [{column: a, operator: =, value: [1]}]    | .s.t[0].value must be one value for the operator =; a list is for in and not in",
        "s.t: [{column: a, operator: =, value: {b: 1}}] | .s.t[0].value must be one value",
        "s.t: [{column: a, operator: in, value: 1}]     | .s.t[0].value must be a list for the operator in, written as [one, another]",
        "s.t: [{column: a, operator: in, value: []}]    | .s.t[0].value must hold 1 to 1,000 values",
        "s.t: [{column: a, operator: is null, value: 1}] | .s.t[0].value has no meaning for the operator is null; remove it",
        "s.t: [{column: a, operator: =, value: \"x${env:REGION}\"}] | .s.t[0].value has ${ in it",
        "s.t: [{column: a, operator: =, value: \"${env:NONE}\"}] | .s.t[0].value refers to ${env:NONE}, but",
        "s.t: [{column: a, operator: =, value: \"a\\0\"}] | .s.t[0].value must not hold a NUL character",
        "{S.t: [{column: a, operator: is null}], s.T: [{column: a, operator: is null}]} | .s.T is the table s.t, which is there already",
        "[s.t]                                          | must hold tables, written as schema.table: with a list of conditions",
      })
  void whatCannotBeUsedIsRefusedAtStart(String filters, String message) {
    assertThatThrownBy(() -> filters(filters))
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).isEqualTo(ErrorCode.BAD_CONFIGURATION))
        .hasMessageContaining("postgres.appdb.filters" + (message.startsWith(".") ? "" : " "))
        .hasMessageContaining(message);
  }

  /** In a block {@code >} begins a text of many lines. */
  @Test
  void anOperatorThatYamlTakesForSomethingElseIsTold() {
    assertThatThrownBy(() -> filters("s.t:\n  - column: a\n    operator: >\n    value: 1\n"))
        .hasMessageContaining("s.t[0].operator must be =")
        .hasMessageContaining("in quotes");
  }
}
