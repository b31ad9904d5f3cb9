package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.clickhouse.TargetColumn;
import dev.millrace.clickhouse.TargetColumn.Kind;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class ColumnChoiceTest {
  private static final List<String> SOURCE =
      List.of("updated_at", "price", "id", "name", "internal note");

  private static TargetColumn column(String name, Kind kind) {
    return new TargetColumn(name, "String", kind, kind == Kind.ORDINARY ? "" : "1", 0);
  }

  private static final List<TargetColumn> TARGET =
      List.of(
          column("id", Kind.ORDINARY),
          column("name", Kind.ORDINARY),
          column("price", Kind.ORDINARY),
          column("loaded_at", Kind.DEFAULT),
          column("price_class", Kind.MATERIALIZED),
          column("label", Kind.ALIAS),
          column("raw", Kind.EPHEMERAL));

  private static ColumnChoice choice(String... names) {
    return new ColumnChoice(List.of(names), "id", "price", "updated_at");
  }

  private static ColumnChoice shared(String key, String checksum, String updated) {
    return new ColumnChoice(null, key, checksum, updated);
  }

  private static void assertRefused(ErrorCode code, String text, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(MillraceException.class, e -> assertThat(e.code()).isEqualTo(code))
        .hasMessageContaining(text);
  }

  @Test
  void takesWhatBothSidesShareInTheTargetsOrder() {
    assertThat(shared("id", "price", "updated_at").from(SOURCE, TARGET))
        .containsExactly("id", "name", "price");
  }

  @Test
  void takesASharedColumnOfAnyName() {
    List<TargetColumn> target =
        List.of(column("internal note", Kind.ORDINARY), column("id", Kind.DEFAULT));
    assertThat(shared("id", "id", null).from(SOURCE, target))
        .containsExactly("internal note", "id");
  }

  @Test
  void takesNamedColumnsInTheirOrder() {
    assertThat(choice("price", "name", "id").from(SOURCE, TARGET))
        .containsExactly("price", "name", "id");
  }

  @Test
  void leavesComputedColumnsOutEvenWhenTheSourceHasThem() {
    List<String> source = List.of("id", "name", "price", "price_class", "label", "raw");
    assertThat(shared("id", "price", null).from(source, TARGET))
        .containsExactly("id", "name", "price");
  }

  @Test
  void refusesAComputedColumnByName() {
    List<String> source =
        List.of("id", "name", "price", "price_class", "label", "raw", "updated_at");
    for (String name : List.of("price_class", "label", "raw")) {
      assertRefused(
          ErrorCode.COLUMN_MISMATCH,
          "columns names \"" + name + "\", which is ",
          () -> choice("id", "name", "price", name).from(source, TARGET));
    }
  }

  @Test
  void refusesATargetColumnThatWouldStayUnfilled() {
    assertRefused(
        ErrorCode.COLUMN_MISMATCH,
        "the target's column \"name\" is neither copied nor has a DEFAULT",
        () -> choice("id", "price").from(SOURCE, TARGET));
    assertRefused(
        ErrorCode.COLUMN_MISMATCH,
        "the target's column \"name\"",
        () -> shared("id", "price", null).from(List.of("id", "price"), TARGET));
  }

  @Test
  void leavesAColumnWithADefaultToIt() {
    List<String> source = List.of("id", "name", "price", "updated_at");
    assertThat(choice("id", "name", "price").from(source, TARGET)).doesNotContain("loaded_at");
  }

  @Test
  void refusesANameThatASideDoesNotHaveAndTellsTheNearest() {
    assertRefused(
        ErrorCode.COLUMN_MISSING,
        "columns names \"nmae\", which the Postgres table does not have; did you mean \"name\"?",
        () -> choice("id", "nmae", "price").from(SOURCE, TARGET));
    assertRefused(
        ErrorCode.COLUMN_MISSING,
        "columns names \"updated_at\", which the ClickHouse table does not have; did you mean \"loaded_at\"?",
        () -> choice("id", "name", "price", "updated_at").from(SOURCE, TARGET));
    assertRefused(
        ErrorCode.COLUMN_MISSING,
        "columns names \"ID\"",
        () -> choice("ID", "name", "price").from(SOURCE, TARGET));
  }

  @Test
  void refusesANameThatIsThereTwice() {
    assertRefused(
        ErrorCode.BAD_INPUT,
        "columns names \"id\" twice",
        () -> choice("id", "name", "price", "id").from(SOURCE, TARGET));
  }

  @Test
  void keyChecksumAndUpdatedHaveToBeInTheSource() {
    assertRefused(
        ErrorCode.COLUMN_MISSING,
        "pk_column names \"idd\", which the Postgres table does not have; did you mean \"id\"?",
        () -> shared("idd", "price", "updated_at").from(SOURCE, TARGET));
    assertRefused(
        ErrorCode.COLUMN_MISSING,
        "checksum_column names \"prise\"",
        () -> shared("id", "prise", "updated_at").from(SOURCE, TARGET));
    assertRefused(
        ErrorCode.COLUMN_MISSING,
        "updated_column names \"update_at\"",
        () -> shared("id", "price", "update_at").from(SOURCE, TARGET));
  }

  @Test
  void keyAndChecksumHaveToBeCopied() {
    assertRefused(
        ErrorCode.COLUMN_MISMATCH,
        "pk_column \"internal note\" is not among the copied columns",
        () -> shared("internal note", "price", null).from(SOURCE, TARGET));
    assertRefused(
        ErrorCode.COLUMN_MISMATCH,
        "checksum_column \"updated_at\" is not among the copied columns",
        () -> shared("id", "updated_at", null).from(SOURCE, TARGET));
    assertThat(shared("id", "price", "updated_at").from(SOURCE, TARGET))
        .doesNotContain("updated_at");
  }

  @Test
  void tablesWithoutACommonColumnAreRefused() {
    assertRefused(
        ErrorCode.COLUMN_MISMATCH,
        "share no column",
        () -> shared("id", "id", null).from(List.of("ID"), TARGET));
  }
}
