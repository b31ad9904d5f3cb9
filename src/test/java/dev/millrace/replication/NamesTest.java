package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.control.Pipeline;
import dev.millrace.control.RunId;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Points;
import dev.millrace.postgres.TableName;
import java.time.Instant;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.NotEmpty;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NamesTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "public.customers | public | customers | public.customers",
        "Public.Customers | public | customers | public.customers",
        "public.\"Order\" | public | Order | public.\"Order\"",
        "\"Lager Süd\".\"Order\" | Lager Süd | Order | \"Lager Süd\".\"Order\"",
        "\"a.b\".\"c\"\"d\" | a.b | c\"d | \"a.b\".\"c\"\"d\"",
        "s.\"日付\" | s | 日付 | s.\"日付\"",
      })
  void aTableNameFoldsLikePostgres(String text, String schema, String table, String shown) {
    TableName name = TableName.parse(text);

    assertThat(name).isEqualTo(new TableName(schema, table));
    assertThat(name).hasToString(shown);
    assertThat(TableName.parse(name.toString())).isEqualTo(name);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"customers", "a.b.c", "a.", ".b", "a b.c", "a.b;", "\"a.b", "1a.b", "a.\"\"", ""})
  void whatIsNoTableNameIsRefused(String text) {
    assertThatThrownBy(() -> TableName.parse(text)).isInstanceOf(MillraceException.class);
  }

  @Test
  void anObjectLiesInTheFolderOfItsTable() {
    String folder = ObjectName.folder("raw/postgres/", new TableName("public", "customers"));

    assertThat(ObjectName.key(folder, Instant.parse("2026-09-20T18:15:00.9Z")))
        .isEqualTo("raw/postgres/public/customers/20260920_181500.parquet");
  }

  @Test
  void namesWithOtherCharactersAreEncoded() {
    assertThat(ObjectName.folder("", new TableName("Lager Süd", "a/b.%")))
        .isEqualTo("Lager%20S%C3%BCd/a%2Fb%2E%25/");
  }

  @Property
  void twoTablesNeverHaveOneFolder(
      @ForAll @NotEmpty String schema,
      @ForAll @NotEmpty String table,
      @ForAll @NotEmpty String otherSchema,
      @ForAll @NotEmpty String otherTable) {
    TableName left = new TableName(valid(schema), valid(table));
    TableName right = new TableName(valid(otherSchema), valid(otherTable));

    assertThat(ObjectName.folder("p/", left).equals(ObjectName.folder("p/", right)))
        .isEqualTo(left.equals(right));
  }

  /** Postgres names are valid UTF-8; a lone surrogate is none. */
  private static String valid(String name) {
    return name.codePoints()
        .filter(point -> point < 0xd800 || point > 0xdfff)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }

  @Test
  void theSeedsKeyNamesAreKept() {
    assertThat(SeedKey.watermark(false, new TableName("public", "customers")))
        .isEqualTo("sling_watermark_public__customers");
    assertThat(SeedKey.watermark(true, new TableName("main", "orders")))
        .isEqualTo("sling_demo_watermark_main__orders");
  }

  @Test
  void aRunIdStartsWithItsSecond() {
    assertThat(RunId.of(Instant.parse("2026-11-30T10:44:50.5Z"), "gofrugal", 0xffe395e0))
        .isEqualTo("20261130T104450Z-gofrugal-e395e0");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1a", "A", "a b", "a/b", "dbt", "zakya", "a.b", "_a"})
  void whatIsNoPipelineIsRefused(String name) {
    assertThatThrownBy(() -> new Pipeline(name)).isInstanceOf(MillraceException.class);
  }

  @Test
  void aPipelineHasAtMost63Characters() {
    assertThat(new Pipeline("a".repeat(63)).name()).hasSize(63);
    assertThatThrownBy(() -> new Pipeline("a".repeat(64))).isInstanceOf(MillraceException.class);
  }

  @Test
  void pointsAreForTestStacksOnlyAndKnownByName() {
    assertThatThrownBy(() -> Points.parse("write.after-complete=kill", false))
        .hasMessageContaining("dev, demo and tests only");
    assertThatThrownBy(() -> Points.parse("write.after-complet=kill", true))
        .hasMessageContaining("did you mean write.after-complete?");
    assertThatThrownBy(() -> Points.parse("write.after-complete=explode", true))
        .hasMessageContaining("kill, freeze or mismatch");
    Points points = Points.parse("extract.audit=mismatch", true);
    assertThat(points.mismatch("extract.audit")).isTrue();
    assertThat(points.mismatch("extract.audit")).isFalse();
    Points.parse(null, false).pass("extract.middle");
  }
}
