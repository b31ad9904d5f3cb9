package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.control.Pipeline;
import dev.millrace.failure.ErrorCode;
import dev.millrace.postgres.RowFilter;
import dev.millrace.postgres.RowFilter.Condition;
import dev.millrace.postgres.RowFilter.Operator;
import dev.millrace.postgres.TableName;
import dev.millrace.testing.LakeReader;
import dev.millrace.testing.TestPostgres;
import io.temporal.failure.ActivityFailure;
import io.temporal.failure.ApplicationFailure;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which rows a filter lets through, and that all that is read goes through it. */
class RowFilterIT {
  @TempDir private static Path folder;

  private static DirectRuns runs;

  @BeforeAll
  static void start() {
    runs = new DirectRuns(TestPostgres.createDatabase(), folder);
    runs.execute(
        """
        CREATE SCHEMA shop;
        CREATE TYPE shop.state AS ENUM ('new', 'paid', 'sent');
        CREATE DOMAIN shop.code AS varchar(2);
        CREATE TABLE shop.orders (
          id int PRIMARY KEY, note text, code varchar(3), coded shop.code, state shop.state,
          small smallint, qty bigint, price numeric(10,2), ratio real, open boolean,
          ref uuid, day date, at timestamp(0), seen timestamptz, clock time, tags text[],
          data jsonb, raw bytea,
          updated_at timestamptz NOT NULL DEFAULT now() - interval '1 hour');
        INSERT INTO shop.orders VALUES
          (1, 'plain', 'abc', 'ab', 'new', 1, 5, 9.99, 0.1, true,
           '00000000-0000-0000-0000-000000000001', '2024-01-01', '2024-01-01 10:00',
           '2024-01-01 00:00+00', '10:00', '{a}', '{}', ''),
          (2, 'it''s', 'abd', 'cd', 'paid', 2, 9007199254740993, 10.00, 0.5, false,
           '00000000-0000-0000-0000-000000000002', '2024-02-01', '2024-02-01 10:00',
           '2024-02-01 00:00+00', '11:00', '{}', '{}', ''),
          (3, 'a\\b', 'x', 'ef', 'sent', 3, -1, 20, 'NaN', NULL,
           NULL, '9999-12-31', NULL, NULL, NULL, NULL, NULL, NULL),
          (4, '', '', NULL, NULL, NULL, NULL, NULL, NULL, NULL,
           NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
          (5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
           NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
          (6, ''' OR true --', 'o''', 'gh', 'new', 4, 6, -5, 2, true,
           NULL, '2023-12-31', NULL, '2023-12-31 23:30+00', '23:59', NULL, NULL, NULL)""");
  }

  @AfterAll
  static void stop() {
    runs.close();
  }

  private static Condition condition(String column, String operator, String... values) {
    return new Condition(column, Operator.of(operator).orElseThrow(), List.of(values));
  }

  private static DirectRuns.Asked table(String name) {
    runs.execute(
        """
        CREATE TABLE shop.%1$s (
          id int PRIMARY KEY, status text, updated_at timestamptz NOT NULL DEFAULT now());
        CREATE INDEX ON shop.%1$s (updated_at)"""
            .formatted(name));
    return DirectRuns.Asked.of(name, "shop." + name, "updated_at");
  }

  private static ApplicationFailure failure(Runnable run) {
    ApplicationFailure[] found = new ApplicationFailure[1];
    assertThatThrownBy(run::run)
        .isInstanceOf(ActivityFailure.class)
        .cause()
        .isInstanceOfSatisfying(ApplicationFailure.class, failure -> found[0] = failure);
    return found[0];
  }

  private static Manifest manifest(Path object) throws IOException {
    String name = object.getFileName().toString().replace(".parquet", ".json");
    return Manifest.read(Files.readAllBytes(object.resolveSibling("_manifest").resolve(name)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "note   | =           | plain        | 1",
        "note   | =           | it's         | 2",
        "note   | =           | a\\b         | 3",
        "note   | =           | ^^           | 4",
        "note   | =           | ' OR true -- | 6",
        "note   | <>          | plain        | 2 3 4 6",
        "note   | in          | it's,a\\b    | 2 3",
        "note   | not in      | it's,a\\b    | 1 4 6",
        "note   | is null     |              | 5",
        "note   | is not null |              | 1 2 3 4 6",
        // A cast to varchar(3) or numeric(10,2) would make another value of these.
        "code   | =           | abcd         |",
        "code   | >           | abcc         | 2 3 6",
        "coded  | =           | abx          |",
        "price  | >           | 9.994        | 2 3",
        "at     | <           | 2024-01-01 10:00:00.4 | 1",
        "coded  | =           | cd           | 2",
        "state  | >=          | paid         | 2 3",
        "state  | in          | new,sent     | 1 3 6",
        "small  | <=          | 2            | 1 2",
        "qty    | =           | 9007199254740993 | 2",
        "qty    | <           | 5            | 3",
        "price  | <           | 10           | 1 6",
        "price  | =           | 1e1          | 2",
        "price  | <           | NaN          | 1 2 3 6",
        "ratio  | =           | NaN          | 3",
        "ratio  | =           | 0.1          | 1",
        "open   | =           | true         | 1 6",
        "open   | <>          | true         | 2",
        "ref    | =           | 00000000-0000-0000-0000-000000000002 | 2",
        "day    | >=          | 2024-01-01   | 1 2 3",
        "day    | <           | infinity     | 1 2 3 6",
        "day    | =           | 9999-12-31   | 3",
        "at     | >=          | 2024-01-02   | 2",
        "seen   | <           | 2024-01-01   | 6",
        "seen   | <=          | 2024-01-01 01:30:00+02:00 | 6",
        "seen   | <=          | 2024-01-01 02:00:00+02:00 | 1 6",
        "clock  | >           | 10:00        | 2 6",
        "tags   | is not null |              | 1 2",
        "data   | is null     |              | 3 4 5 6",
      })
  void rowsPassAsInSql(String column, String operator, String value, String ids) {
    String pipeline = "p" + Integer.toHexString((column + operator + value).hashCode());
    String[] values = value == null ? new String[0] : new String[] {value};
    if (operator.endsWith("in")) {
      values = value.split(",");
    }
    runs.filter("shop.orders", condition(column, operator, values));
    int before = runs.objects("shop.orders").size();
    runs.execute("DELETE FROM millrace.folder");

    TableResult result =
        runs.run(DirectRuns.Asked.of(pipeline, "shop.orders", "updated_at")).result();

    if (ids == null) {
      assertThat(result.rows()).isZero();
      assertThat(result.object()).isNull();
      return;
    }
    assertThat(runs.objects("shop.orders")).hasSize(before + 1);
    assertThat(
            LakeReader.rows(Path.of(URI.create(result.object()))).stream()
                .map(row -> row.get("id"))
                .sorted())
        .containsExactly(ids.split(" "));
  }

  @Test
  void conditionsAreJoinedByAnd() {
    DirectRuns.Asked both = table("both");
    runs.execute("INSERT INTO shop.both VALUES (1, 'paid'), (2, 'paid'), (3, 'new')");
    runs.filter("shop.both", condition("status", "=", "paid"), condition("id", ">", "1"));

    assertThat(runs.run(both).result().rows()).isEqualTo(1);
    assertThat(runs.values("shop.both", "id")).containsExactly("2");
  }

  @Test
  void manifestAndMetadataSayIt() throws IOException {
    DirectRuns.Asked told = table("told");
    runs.execute("INSERT INTO shop.told VALUES (1, 'it''s'), (2, 'new')");
    RowFilter filter = new RowFilter(List.of(condition("status", "in", "it's", "a\\b")));
    runs.filter("shop.told", filter.conditions().get(0));
    runs.run(told);

    Path first = runs.objects("shop.told").get(0);
    assertThat(manifest(first).rowFilter()).isEqualTo(filter);
    assertThat(
            Files.readString(
                first
                    .resolveSibling("_manifest")
                    .resolve(first.getFileName().toString().replace(".parquet", ".json"))))
        .contains("\"column\" : \"status\"", "\"operator\" : \"in\"");
    assertThat(LakeReader.metadata(first))
        .containsEntry("millrace.filter", "\"status\" IN (E'a\\\\b', 'it''s')");

    table("untold");
    runs.execute("INSERT INTO shop.untold VALUES (1, 'x')");
    runs.run(DirectRuns.Asked.of("untold", "shop.untold", "updated_at"));
    Path without = runs.objects("shop.untold").get(0);
    assertThat(manifest(without).filter()).isNull();
    assertThat(manifest(without).rowFilter()).isEqualTo(RowFilter.NONE);
    assertThat(LakeReader.metadata(without)).doesNotContainKey("millrace.filter");
  }

  @Test
  void theGreatestNumberKeyIsThatOfTheFilter() {
    runs.execute(
        """
        CREATE TABLE shop.numbers (id bigint PRIMARY KEY, status text);
        INSERT INTO shop.numbers VALUES (1, 'paid'), (2, 'paid'), (3, 'new')""");
    DirectRuns.Asked numbers = DirectRuns.Asked.of("numbers", "shop.numbers", "id");
    runs.filter("shop.numbers", condition("status", "=", "paid"));

    assertThat(runs.run(numbers).result().high()).isEqualTo("2");
    // It was never passed by, so it comes with its old key.
    runs.execute("UPDATE shop.numbers SET status = 'paid' WHERE id = 3");
    TableResult second = runs.run(numbers).result();

    assertThat(second.high()).isEqualTo("3");
    assertThat(second.rows()).isEqualTo(1);
    assertThat(runs.values("shop.numbers", "id")).containsExactly("1", "2", "3");
  }

  @Test
  void noRowThatPassesIsNothingToCopy() {
    runs.execute(
        """
        CREATE TABLE shop.nothing (id bigint PRIMARY KEY, status text);
        INSERT INTO shop.nothing VALUES (1, 'new')""");
    runs.filter("shop.nothing", condition("status", "=", "paid"));

    TableResult result = runs.run(DirectRuns.Asked.of("nothing", "shop.nothing", "id")).result();

    assertThat(result.rows()).isZero();
    assertThat(result.high()).isNull();
  }

  @Test
  void rowsWithoutAKeyCountOnlyWhereTheyPass() {
    runs.execute(
        """
        CREATE TABLE shop.keyless (id int, status text, at timestamptz);
        INSERT INTO shop.keyless VALUES (1, 'paid', now()), (2, 'new', NULL)""");
    DirectRuns.Asked keyless = DirectRuns.Asked.of("keyless", "shop.keyless", "at");

    assertThat(failure(() -> runs.run(keyless)).getType()).isEqualTo(ErrorCode.NULL_KEYS.name());
    runs.filter("shop.keyless", condition("status", "=", "paid"));
    assertThat(runs.run(keyless).result().rows()).isEqualTo(1);
  }

  @Test
  void lateRowsPassTheSameFilter() throws Exception {
    DirectRuns.Asked late = table("late");
    runs.filter("shop.late", condition("status", "=", "paid"));
    try (Connection session = runs.session();
        Statement statement = session.createStatement()) {
      session.setAutoCommit(false);
      statement.execute("INSERT INTO shop.late VALUES (1, 'paid'), (2, 'new')");
      // Their transaction is seen, but none of its rows.
      runs.execute("INSERT INTO shop.late VALUES (3, 'new', clock_timestamp())");
      runs.execute("INSERT INTO shop.late VALUES (4, 'paid', clock_timestamp())");
      assertThat(runs.run(late).result().rows()).isEqualTo(1);
      session.commit();
    }
    assertThat(runs.run(late).result().rows()).isEqualTo(1);
    assertThat(runs.run(late).result().rows()).isZero();
    // An UPDATE that leaves the key alone moves a row in; another one moves one out.
    runs.execute("UPDATE shop.late SET status = 'paid' WHERE id = 3");
    runs.execute("UPDATE shop.late SET status = 'new' WHERE id = 4");
    TableResult moved = runs.run(late).result();

    assertThat(moved.rows()).isEqualTo(1);
    assertThat(moved.warning()).isNull();
    assertThat(runs.run(late).result().rows()).isZero();
    assertThat(runs.values("shop.late", "id")).containsExactly("1", "3", "4");
  }

  /** What a run could not read is noted whatever its filter, or the next filter takes it again. */
  @Test
  void noFilterMakesARowComeTwice() throws Exception {
    DirectRuns.Asked noted = table("noted");
    runs.filter("shop.noted", condition("status", "=", "paid"));
    try (Connection other = runs.session();
        Statement holding = other.createStatement()) {
      other.setAutoCommit(false);
      holding.execute("SELECT pg_current_xact_id()");
      runs.execute("INSERT INTO shop.noted VALUES (1, 'paid'), (2, 'new')");
      assertThat(runs.run(noted).result().rows()).isEqualTo(1);
      runs.filter("shop.noted", condition("status", "=", "sent"));
      assertThat(runs.run(noted.lookingBack("PT12H", 1)).result().warning())
          .contains("its row filter was", "look-back PT12H");
      runs.filter("shop.noted", condition("status", "=", "paid"));
      TableResult exact = runs.run(noted.lookingBack("PT12H", 1)).result();
      assertThat(exact.warning()).contains("its row filter was").doesNotContain("look-back");
      assertThat(exact.rows()).isZero();
    }
    assertThat(runs.values("shop.noted", "id")).containsExactly("1");
  }

  @Test
  void aPartitionThatIsReadWholeIsFiltered() {
    runs.execute(
        """
        CREATE TABLE shop.parts (id int, region text, at timestamptz) PARTITION BY LIST (region);
        CREATE TABLE shop.parts_a PARTITION OF shop.parts FOR VALUES IN ('a');
        CREATE TABLE shop.parts_b (id int, region text, at timestamptz);
        INSERT INTO shop.parts SELECT i, 'a', now() FROM generate_series(1, 4) i;
        INSERT INTO shop.parts_b SELECT i, 'b', now() FROM generate_series(5, 8) i""");
    DirectRuns.Asked parts = DirectRuns.Asked.of("parts", "shop.parts", "at");
    runs.filter("shop.parts", condition("id", "in", "1", "2", "5", "6", "7"));
    assertThat(runs.run(parts).result().rows()).isEqualTo(2);
    runs.execute("ALTER TABLE shop.parts ATTACH PARTITION shop.parts_b FOR VALUES IN ('b')");

    assertThat(runs.run(parts).result().rows()).isEqualTo(3);
    assertThat(runs.values("shop.parts", "id")).containsExactly("1", "2", "5", "6", "7");
  }

  @Test
  void aLargeWindowIsCutByRowsThatPass() {
    DirectRuns.Asked cut = table("cut").cutAt(100);
    runs.execute(
        """
        INSERT INTO shop.cut
          SELECT i, CASE WHEN i %% 10 = 0 THEN 'paid' ELSE 'new' END,
                 now() - interval '1 day' + i * interval '1 second'
          FROM generate_series(1, 2500) AS i;
        ANALYZE shop.cut"""
            .replace("%%", "%"));
    runs.filter("shop.cut", condition("status", "=", "paid"));

    DirectRuns.Run run = runs.run(cut);

    assertThat(run.extracted()).extracting(Extracted::rowsEncoded).containsExactly(100L, 100L, 50L);
  }

  @Test
  void aViewIsFilteredToo() {
    table("base");
    runs.execute(
        """
        INSERT INTO shop.base VALUES (1, 'paid', now() - interval '1 hour'),
          (2, 'new', now() - interval '1 hour');
        CREATE VIEW shop.seen AS SELECT * FROM shop.base""");
    runs.filter("shop.seen", condition("status", "=", "paid"));
    DirectRuns.Asked seen = DirectRuns.Asked.of("seen", "shop.seen", "updated_at");

    assertThat(runs.run(seen).result().rows()).isEqualTo(1);
    runs.filter("shop.seen", condition("status", "=", "new"));
    assertThat(runs.run(seen).result().warning()).contains("its row filter was");
  }

  @Test
  void aChangedFilterIsToldOnce() {
    DirectRuns.Asked changed = table("changed");
    runs.execute("INSERT INTO shop.changed SELECT i, 'new', now() FROM generate_series(1, 3) AS i");
    runs.execute("UPDATE shop.changed SET status = 'paid' WHERE id = 1");
    runs.filter("shop.changed", condition("status", "=", "paid"));
    TableResult first = runs.run(changed).result();
    assertThat(first.rows()).isEqualTo(1);
    assertThat(first.warning()).isNull();

    runs.filter("shop.changed", condition("status", "in", "paid", "new"));
    TableResult second = runs.run(changed).result();

    assertThat(second.warning())
        .startsWith(
            "its row filter was \"status\" = 'paid' and is \"status\" IN ('new', 'paid'): rows up to %s that only pass now are not fetched"
                .formatted(first.high()))
        .contains("`millrace state reset --pipeline changed --table 'shop.changed'` loads all");
    assertThat(
            runs.value(
                "SELECT warning FROM millrace.table_result WHERE pipeline = 'changed' AND run_id = (SELECT run_id FROM millrace.table_state WHERE pipeline = 'changed')"))
        .isEqualTo(second.warning());
    assertThat(runs.run(changed).result().warning()).isNull();

    // The same by another order is no change; none at all is one.
    runs.filter("shop.changed", condition("status", "in", "new", "paid"));
    assertThat(runs.run(changed).result().warning()).isNull();
    runs.filter("shop.changed");
    assertThat(runs.run(changed).result().warning()).contains("('new', 'paid') and is none");
    assertThat(runs.values("shop.changed", "id")).doesNotHaveDuplicates();

    runs.execute("DELETE FROM control.lease WHERE extractor = 'changed'");
    runs.byHand().reset(new Pipeline("changed"), TableName.parse("shop.changed"));
    TableResult reloaded = runs.run(changed).result();
    assertThat(reloaded.rows()).isEqualTo(3);
    assertThat(reloaded.warning()).isNull();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '^',
      value = {
        "nope  | =  | 1     | COLUMN_MISSING    | has no column 'nope', which its filter in the configuration names; did you mean note?",
        "qty   | =  | many  | BAD_CONFIGURATION | column 'qty', operator '=': Postgres says: ERROR: invalid input syntax for type bigint: \"many\"",
        "small | <  | 70000 | BAD_CONFIGURATION | is out of range for type smallint",
        "qty   | <  | 1.5   | BAD_CONFIGURATION | invalid input syntax for type bigint",
        "open  | =  | maybe | BAD_CONFIGURATION | invalid input syntax for type boolean",
        "state | =  | lost  | BAD_CONFIGURATION | invalid input value for enum shop.state",
        "ref   | =  | x     | BAD_CONFIGURATION | invalid input syntax for type uuid",
        "open  | in | true,x | BAD_CONFIGURATION | operator 'in': Postgres says",
        "day   | >  | 2024-02-30 | BAD_CONFIGURATION | date/time field value out of range",
        "day   | >  | today | BAD_CONFIGURATION | 'today' is not a date such as 2024-01-31",
        "tags  | =  | {a}   | BAD_CONFIGURATION | columns of type text[] are only compared by is null",
        "data  | =  | {}    | BAD_CONFIGURATION | columns of type jsonb are only compared by is null",
        "raw   | =  | x     | BAD_CONFIGURATION | columns of type bytea are only compared by is null",
      })
  void whatThisTableCannotTakeIsRefusedBeforeARowMoves(
      String column, String operator, String values, String code, String message) {
    runs.filter("shop.orders", condition(column, operator, values.split(",")));

    ApplicationFailure failure =
        failure(() -> runs.run(DirectRuns.Asked.of("refused", "shop.orders", "updated_at")));

    assertThat(failure.getType()).isEqualTo(code);
    assertThat(failure.isNonRetryable()).isTrue();
    assertThat(failure.getOriginalMessage()).contains("shop.orders", message);
    assertThat(runs.value("SELECT count(*) FROM millrace.table_state WHERE pipeline = 'refused'"))
        .isEqualTo("0");
  }
}
