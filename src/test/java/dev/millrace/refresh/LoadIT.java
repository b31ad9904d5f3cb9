package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.clickhouse.ClickHouseIdentifiers;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.TableName;
import dev.millrace.testing.Await;
import dev.millrace.testing.TestPostgres;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whole tables from a real Postgres to a real ClickHouse, and the audits of both. */
class LoadIT {
  private static final AtomicInteger TABLES = new AtomicInteger();

  private static String database;
  private static Postgres postgres;
  private static Warehouse warehouse;

  @BeforeAll
  static void connect() {
    database = TestPostgres.createDatabase();
    postgres = TestPostgres.connect(database);
    warehouse = Warehouse.create();
  }

  @AfterAll
  static void close() {
    postgres.close();
    warehouse.close();
  }

  /** Makes a table in Postgres; {@code %s} in the statements is its name. */
  private static Dimension table(List<String> targets, String... statements) {
    return table(true, targets, statements);
  }

  private static Dimension table(boolean takesQuery, List<String> targets, String... statements) {
    String name = "t" + TABLES.incrementAndGet();
    for (String statement : statements) {
      TestPostgres.execute(database, statement.replace("%s", name));
    }
    return new Dimension(
        postgres,
        TestPostgres.settings(database),
        warehouse,
        new TableName("public", name),
        targets,
        takesQuery);
  }

  @ParameterizedTest
  @EnumSource
  void randomRowsGiveEqualAudits(Load load) {
    long seed = new Random().nextLong();
    System.out.println("seed " + seed);
    RandomRows random = new RandomRows(seed);
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      rows.add("(%d, %s)".formatted(i, random.row()));
    }
    List<String> targets = new ArrayList<>(List.of("Int64"));
    targets.addAll(RandomRows.targets());
    Dimension dimension =
        table(
            targets,
            "CREATE TABLE %s (id int8 NOT NULL, " + RandomRows.definitions() + ")",
            "INSERT INTO %s VALUES " + String.join(", ", rows));
    dimension.load(load);
    assertThat(dimension.differences(load)).as("seed %d", seed).isEmpty();
    assertThat(dimension.auditSource(load).rows()).isEqualTo("400");
  }

  @Test
  void bothLoadsGiveTheSameTable() {
    Dimension dimension =
        table(
            List.of("Int64", "Nullable(String)"),
            "CREATE TABLE %s AS SELECT g::int8 AS id, nullif('n' || g % 7, 'n3') AS x FROM generate_series(1, 10000) g");
    dimension.load(Load.PULL);
    dimension.load(Load.PUSH);
    assertThat(dimension.auditTarget(Load.PULL)).isEqualTo(dimension.auditTarget(Load.PUSH));
    assertThat(dimension.auditTarget(Load.PULL).nulls()).containsExactly("0", "1429");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x = x || '!' WHERE id = 5",
        "x = NULL WHERE id = 5",
        "x = '' WHERE x IS NULL",
        "id = -id WHERE id = 5",
        "x = CASE id WHEN 5 THEN 'n6' ELSE 'n5' END WHERE id IN (5, 6)",
        "x = substr(x, 1, 1) || ' ' || substr(x, 2) WHERE id = 1",
      })
  void oneChangedValueBreaksParity(String change) {
    Dimension dimension =
        table(
            List.of("Int64", "Nullable(String)"),
            "CREATE TABLE %s AS SELECT g::int8 AS id, nullif('n' || g, 'n3') AS x FROM generate_series(1, 1000) g");
    dimension.load(Load.PUSH);
    assertThat(dimension.differences(Load.PUSH)).isEmpty();
    TestPostgres.execute(database, "UPDATE t%d SET %s".formatted(TABLES.get(), change));
    assertThat(dimension.differences(Load.PUSH)).isNotEmpty();
  }

  @Test
  void twoRowsThatAreTheSameDoNotCancelOut() {
    Dimension dimension =
        table(
            List.of("Int64", "String"),
            "CREATE TABLE %s (id int8 NOT NULL, x text NOT NULL)",
            "INSERT INTO %s VALUES (1, 'a'), (1, 'a'), (2, 'b'), (2, 'b')");
    String before = dimension.auditSource(Load.PUSH).hash();
    TestPostgres.execute(database, "UPDATE t%d SET x = 'c'".formatted(TABLES.get()));
    assertThat(dimension.auditSource(Load.PUSH).hash()).isNotEqualTo(before);
  }

  @ParameterizedTest
  @EnumSource
  void aTableWithoutRowsHasZeroFigures(Load load) {
    Dimension dimension =
        table(
            List.of("Decimal(12, 2)", "Nullable(String)"),
            "CREATE TABLE %s (id numeric(12,2) NOT NULL, x text)");
    dimension.load(load);
    AuditFigures none = new AuditFigures("0", "0", "0.00", "", List.of("0", "0"), "0");
    assertThat(dimension.auditSource(load)).isEqualTo(none);
    assertThat(dimension.auditTarget(load)).isEqualTo(none);
  }

  @Test
  void decimalsAreSummedAtTheTargetsScale() {
    Dimension dimension =
        table(
            List.of("Nullable(Decimal(18, 4))"),
            "CREATE TABLE %s (id numeric(12,2))",
            "INSERT INTO %s VALUES (1.10), (2)");
    dimension.load(Load.PULL);
    assertThat(dimension.auditSource(Load.PULL).sum()).isEqualTo("3.1000");
    assertThat(dimension.differences(Load.PULL)).isEmpty();
  }

  @Test
  void sumsBeyond64BitsDoNotWrap() {
    Dimension dimension =
        table(
            List.of("Int64"),
            "CREATE TABLE %s AS SELECT 9223372036854775807 - g AS id FROM generate_series(0, 999) g");
    dimension.load(Load.PULL);
    assertThat(dimension.auditTarget(Load.PULL).sum()).isEqualTo("9223372036854775307500");
    assertThat(dimension.differences(Load.PULL)).isEmpty();
  }

  /** Case 66. */
  @ParameterizedTest
  @EnumSource
  void aMillionEqualRowsAllArrive(Load load) {
    Dimension dimension =
        table(
            List.of("Int32", "String"),
            "CREATE TABLE %s AS SELECT 1::int4 AS id, 'the same'::text AS x FROM generate_series(1, 1000000)");
    dimension.load(load);
    assertThat(dimension.auditTarget(load).rows()).isEqualTo("1000000");
    assertThat(dimension.differences(load)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ALTER TABLE %s ADD PRIMARY KEY (id)",
        "ALTER TABLE %s ADD UNIQUE (id) DEFERRABLE INITIALLY DEFERRED",
        "CREATE UNIQUE INDEX ON %s (id)",
      })
  void aUniqueIndexGivesTheSameFiguresWithoutASort(String index) {
    Dimension dimension =
        table(
            List.of("Int64", "Nullable(String)"),
            "CREATE TABLE %s AS SELECT g::int8 AS id, nullif('n' || g % 7, 'n3') AS x FROM generate_series(1, 1000) g");
    AuditFigures counted = dimension.auditSource(Load.PULL);
    assertThat(dimension.sourcePlan(Load.PULL)).contains("Sort");

    TestPostgres.execute(database, index.replace("%s", "t" + TABLES.get()));

    assertThat(dimension.sourcePlan(Load.PULL)).doesNotContain("Sort");
    assertThat(dimension.auditSource(Load.PULL)).isEqualTo(counted);
    assertThat(counted.distinct()).isEqualTo("1000");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE UNIQUE INDEX ON %s (id) WHERE x = 'first'",
        "CREATE UNIQUE INDEX ON %s (id, x)",
        "CREATE UNIQUE INDEX CONCURRENTLY ON %s (id)",
        "ALTER TABLE %s RENAME TO %s_child; CREATE TABLE %s (LIKE %s_child, PRIMARY KEY (id)); ALTER TABLE %s_child INHERIT %s",
      })
  void keysThatAnIndexDoesNotHoldForAreCounted(String index) {
    Dimension dimension =
        table(
            List.of("Int64", "String"),
            "CREATE TABLE %s (id int8 NOT NULL, x text NOT NULL)",
            "INSERT INTO %s VALUES (1, 'first'), (1, 'second'), (2, 'second')");
    try {
      TestPostgres.execute(database, index.replace("%s", "t" + TABLES.get()));
    } catch (IllegalStateException refused) {
      assertThat(index).as(refused.getCause().getMessage()).contains("CONCURRENTLY");
    }

    assertThat(dimension.auditSource(Load.PULL).rows()).isEqualTo("3");
    assertThat(dimension.auditSource(Load.PULL).distinct()).isEqualTo("2");
  }

  /** Figures that no audit can have found, but of the version that the audit was of. */
  private static SourceFigures made(SourceFigures known) {
    return new SourceFigures("-1", "-1", "-1", "", known.nulls(), known.hash(), known.version());
  }

  private static String snapshot() {
    return TestPostgres.query(
        database,
        "SELECT concat(pg_current_snapshot(), checkpoint_lsn) FROM pg_control_checkpoint()");
  }

  @Test
  void aPushAuditsASourceOnceWhenNothingWasCommittedInBetween() {
    Dimension dimension =
        table(
            List.of("Int64"),
            "CREATE TABLE %s AS SELECT g::int8 AS id FROM generate_series(1, 100) g");
    // The server's own vacuum may commit in between, though hardly ever twice.
    Await.until(
        "nothing is committed in between",
        Duration.ofMinutes(1),
        () -> {
          String before = snapshot();
          SourceFigures known = dimension.known();
          assertThat(known.version()).contains(" ");
          String pushed = dimension.push(made(known)).rows();
          boolean quiet = snapshot().equals(before);
          assertThat(pushed).isEqualTo(quiet ? "-1" : pushed);
          return quiet;
        },
        LoadIT::snapshot);
    assertThat(dimension.differences(Load.PUSH)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO %s VALUES (101)",
        "CREATE TABLE other_%s ()",
        "UPDATE %s SET id = id WHERE id = 1",
        "TRUNCATE %s",
      })
  void aPushAuditsASourceAgainAfterACommit(String commit) {
    Dimension dimension =
        table(
            List.of("Int64"),
            "CREATE TABLE %s AS SELECT g::int8 AS id FROM generate_series(1, 100) g");
    SourceFigures known = dimension.known();
    TestPostgres.execute(database, commit.replace("%s", "t" + TABLES.get()));

    AuditFigures source = dimension.push(made(known));

    assertThat(source).isEqualTo(dimension.auditSource(Load.PUSH));
    assertThat(dimension.differences(Load.PUSH)).isEmpty();
  }

  @Test
  void aPushAuditsASourceAgainAfterTheCommitOfWhatWasOpen() throws SQLException {
    Dimension dimension =
        table(
            List.of("Int64"),
            "CREATE TABLE %s AS SELECT g::int8 AS id FROM generate_series(1, 100) g");
    try (Connection writer =
            TestPostgres.server().getDatabase("postgres", database).getConnection();
        Statement statement = writer.createStatement()) {
      writer.setAutoCommit(false);
      statement.execute("INSERT INTO t%d VALUES (101)".formatted(TABLES.get()));
      // A later one that is done, so that the open one is below the snapshot's bound.
      TestPostgres.execute(database, "CREATE TABLE later_t%d ()".formatted(TABLES.get()));
      SourceFigures known = dimension.known();
      assertThat(known.rows()).isEqualTo("100");
      assertThat(known.version()).matches(".*:[0-9]+");
      writer.commit();

      assertThat(dimension.push(made(known)).rows()).isEqualTo("101");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE VIEW %s AS SELECT 1::int8 AS id",
        "CREATE UNLOGGED TABLE %s (id int8 NOT NULL)",
        "CREATE TABLE %s (id int8) PARTITION BY RANGE (id); CREATE UNLOGGED TABLE %s_1 PARTITION OF %s FOR VALUES FROM (1) TO (9)",
        "CREATE EXTENSION IF NOT EXISTS file_fdw; CREATE SERVER s_%s FOREIGN DATA WRAPPER file_fdw; CREATE TABLE %s (id int8); CREATE FOREIGN TABLE %s_1 () INHERITS (%s) SERVER s_%s OPTIONS (filename '/dev/null')",
      })
  void rowsThatNoSnapshotHoldsHaveNoVersion(String create) {
    String name = "v" + TABLES.incrementAndGet();
    TestPostgres.execute(database, create.replace("%s", name));

    assertThat(
            postgres.<Optional<String>>read(
                connection -> SourceVersion.of(connection, new TableName("public", name))))
        .isEmpty();
  }

  /** The list of what is open may be empty there, whatever is. */
  @Test
  void aStandbyHasNoVersion(@TempDir Path folder) throws IOException, SQLException {
    Path data = folder.resolve("data");
    TableName table = new TableName("public", "plain");
    try (EmbeddedPostgres primary = over(data);
        Connection connection = primary.getPostgresDatabase().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE plain (id int8)");
      assertThat(SourceVersion.of(connection, table)).isNotEmpty();
    }
    Files.createFile(data.resolve("standby.signal"));
    try (EmbeddedPostgres standby = over(data);
        Connection connection = standby.getPostgresDatabase().getConnection()) {
      assertThat(SourceVersion.of(connection, table)).isEmpty();
    }
  }

  private static EmbeddedPostgres over(Path data) throws IOException {
    return EmbeddedPostgres.builder()
        .setDataDirectory(data)
        .setCleanDataDirectory(false)
        .setServerConfig("fsync", "off")
        .start();
  }

  @Test
  void figuresWithoutAVersionHoldAtNone() {
    AuditFigures figures = new AuditFigures("1", "1", "1", "", List.of(), null);

    assertThat(SourceFigures.of(figures, Optional.empty()).holdAt(Optional.empty())).isFalse();
    assertThat(SourceFigures.of(figures, Optional.of("1")).holdAt(Optional.empty())).isFalse();
    assertThat(SourceFigures.of(figures, Optional.of("1")).holdAt(Optional.of("2"))).isFalse();
    assertThat(SourceFigures.of(figures, Optional.of("1")).holdAt(Optional.of("1"))).isTrue();
    assertThat(SourceFigures.of(figures, Optional.of("1")).figures()).isEqualTo(figures);
  }

  @Test
  void aRowWithoutAKeyIsRefused() {
    Dimension dimension =
        table(
            List.of("Nullable(Int64)"),
            "CREATE TABLE %s (id int8)",
            "INSERT INTO %s VALUES (1), (NULL), (NULL)");
    assertThatThrownBy(() -> dimension.auditSource(Load.PULL))
        .isInstanceOfSatisfying(
            MillraceException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NULL_KEYS))
        .hasMessageContaining("2 rows of public.t")
        .hasMessageContaining("pk_column \"id\" is NULL");
  }

  @Test
  void aNotNullThatNobodyHasCheckedIsNotBelieved() {
    Dimension dimension =
        table(
            List.of("Int64", "Nullable(Int64)"),
            "CREATE TABLE %s (id int8 NOT NULL, x int8)",
            "INSERT INTO %s VALUES (1, NULL)",
            "ALTER TABLE %s ADD CONSTRAINT %s_x NOT NULL x NOT VALID");
    dimension.load(Load.PUSH);
    assertThat(dimension.auditSource(Load.PUSH).nulls()).containsExactly("0", "1");
    assertThat(dimension.differences(Load.PUSH)).isEmpty();
  }

  @Test
  void allThatDoesNotFitIsToldAtOnce() {
    Dimension dimension =
        table(
            List.of("Int64", "Int8", "String", "Date32"),
            "CREATE TABLE %s (id int8 NOT NULL, a int4, b text, c date)",
            "INSERT INTO %s VALUES (1, 300, NULL, 'infinity'), (2, -300, 'x', '1000-01-01')");
    assertThatThrownBy(() -> dimension.auditSource(Load.PULL))
        .hasMessageContaining("the value -300 of column \"a\" (integer) is below -128")
        .hasMessageContaining("the value 300 of column \"a\" (integer) is above 127")
        .hasMessageContaining("column \"b\" (text) is NULL in 1 rows")
        .hasMessageContaining("the value 1000-01-01 of column \"c\" (date) is before 1900-01-01")
        .hasMessageContaining("the value infinity of column \"c\" (date) is after 2299-12-31");
  }

  @ParameterizedTest
  @EnumSource
  void namesOfAnyCharactersWork(Load load) {
    List<String> names =
        List.of("the id", "a\"b", "select", "日付", "it's", "a\\b", "t", "c0", "e`f", "{u}?");
    List<String> definitions = new ArrayList<>();
    for (String name : names) {
      definitions.add("\"%s\" int4 NOT NULL".formatted(name.replace("\"", "\"\"")));
    }
    List<String> targets = names.stream().map(name -> "Int8").toList();
    Dimension dimension =
        table(
            targets,
            "CREATE TABLE %s (" + String.join(", ", definitions) + ")",
            "INSERT INTO %s VALUES (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)");
    dimension.load(load);
    assertThat(dimension.differences(load)).isEmpty();
    for (int i = 0; i < names.size(); i++) {
      assertThat(dimension.shown(load, names.get(i))).containsExactly(Integer.toString(i));
    }
  }

  @Test
  void withoutAQueryPostgresqlGivesTheseTypesUnchanged() {
    Dimension dimension =
        table(
            false,
            List.of(
                "Int64", "Int8", "Nullable(String)", "Bool", "UUID", "Decimal(12, 4)", "String"),
            "CREATE TABLE %s (id int8 NOT NULL, a int2 NOT NULL, b varchar(9), c bool, d uuid, e numeric(10,2), f char(4))",
            "INSERT INTO %s VALUES (-9223372036854775808, -128, E'\\t''\\\\é', true, '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0', -99999999.99, 'ab'), (1, 127, NULL, false, '00000000-0000-0000-0000-000000000000', 0, '')");
    dimension.load(Load.PULL);
    assertThat(dimension.differences(Load.PULL)).isEmpty();
    assertThat(dimension.shown(Load.PULL, "b")).containsExactly("\t'\\é", "NULL");
    assertThat(dimension.shown(Load.PULL, "f")).containsExactly("ab  ", "    ");
  }

  @Test
  void withoutAQueryANullIsAnErrorNotADefault() {
    Dimension dimension =
        table(
            false,
            List.of("Int64", "Int32"),
            "CREATE TABLE %s (id int8 NOT NULL, x int4)",
            "INSERT INTO %s VALUES (1, NULL)");
    assertThatThrownBy(() -> dimension.load(Load.PULL)).hasMessageContaining("NULL");
    assertThat(warehouse.count(dimension.target(Load.PULL))).isZero();
  }

  /** Case 69: the server's own mapping would cut, shift or change these. */
  @Test
  void theServersOwnMappingIsNotUsed() {
    Dimension dimension =
        table(
            List.of("UUID", "Array(Nullable(UUID))", "Decimal(60, 30)", "DateTime64(6)"),
            "CREATE TABLE %s (u uuid NOT NULL, us uuid[] NOT NULL, n numeric NOT NULL, z timestamptz NOT NULL)",
            "INSERT INTO %s VALUES ('0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0', '{}', 0.123456789012345678901234567891, '1960-01-01 00:00:00.000001+00')");
    List<ColumnMapping> mappings = dimension.mappings(Load.PULL);
    AuditPlan plan = new AuditPlan(mappings, mappings.get(0), mappings.get(2), null, true);
    dimension.load(Load.PULL);
    AuditFigures target =
        new TargetAudit(plan)
            .read(warehouse.client(), dimension.target(Load.PULL), Warehouse.LIMIT);
    AuditFigures source =
        postgres.read(
            connection ->
                new SourceAudit(plan, new TableName("public", "t" + TABLES.get()), "UTF8")
                    .read(postgres, connection, () -> {}));
    assertThat(Verdict.differences(dimension.names(), source, target)).isEmpty();
    assertThat(target.sum()).isEqualTo("0.123456789012345678901234567891");
    assertThat(dimension.shown(Load.PULL, "z")).containsExactly("1960-01-01 00:00:00.000001");
  }

  @Test
  void theProbeTellsWhetherPostgresqlTakesAQuery() {
    Dimension dimension = table(List.of("Int64"), "CREATE TABLE %s (id int8 NOT NULL)");
    assertThat(warehouse.column(PullStatement.probe(dimension.access()))).containsExactly("one");
  }

  @Test
  void aNamedCollectionKeepsThePasswordOutOfTheStatement() {
    Dimension dimension =
        table(List.of("Int64"), "CREATE TABLE %s (id int8 NOT NULL)", "INSERT INTO %s VALUES (7)");
    String name = "collection_" + TABLES.get();
    warehouse.execute(
        "CREATE NAMED COLLECTION %s AS host = '127.0.0.1', port = %d, user = 'postgres', password = '', database = '%s'"
            .formatted(name, TestPostgres.server().getPort(), database));
    try {
      dimension.load(Load.PUSH);
      warehouse.execute("TRUNCATE TABLE " + dimension.target(Load.PUSH).sql());
      PullStatement statement =
          new PullStatement(
              dimension.mappings(Load.PULL),
              new PullStatement.Access.Collection(name),
              new TableName("public", "t" + TABLES.get()),
              true);
      warehouse.execute(statement.text(dimension.target(Load.PUSH)));
      assertThat(dimension.differences(Load.PUSH)).isEmpty();
    } finally {
      warehouse.execute("DROP NAMED COLLECTION " + ClickHouseIdentifiers.quote(name));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"LATIN1", "SQL_ASCII"})
  void anotherEncodingArrivesAsUtf8ByPush(String encoding) {
    String other =
        TestPostgres.createDatabase(
            "ENCODING '%s' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0".formatted(encoding));
    TestPostgres.execute(
        other,
        "CREATE TABLE words (id int4 NOT NULL, x text NOT NULL, y text[] NOT NULL); INSERT INTO words VALUES (1, 'né', ARRAY['é', 'a'])");
    try (Postgres there = TestPostgres.connect(other)) {
      Dimension dimension =
          new Dimension(
              there,
              TestPostgres.settings(other),
              warehouse,
              new TableName("public", "words"),
              List.of("Int32", "String", "Array(String)"),
              true);
      dimension.load(Load.PUSH);
      assertThat(dimension.shown(Load.PUSH, "x")).containsExactly("né");
      assertThat(dimension.differences(Load.PUSH)).isEmpty();
      assertThatThrownBy(() -> dimension.mappings(Load.PULL)).hasMessageContaining(encoding);
    }
  }
}
