package dev.millrace.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.ColumnType.Wire;
import dev.millrace.testing.TestPostgres;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class CatalogueIT {
  private static String database;
  private static Postgres postgres;
  private static Postgres reader;

  @BeforeAll
  static void connect() {
    database = TestPostgres.createDatabase();
    TestPostgres.execute("postgres", "CREATE ROLE catalogue_reader LOGIN");
    postgres = TestPostgres.connect(database);
    reader = new Postgres(TestPostgres.settings(database, "catalogue_reader"));
  }

  @AfterAll
  static void close() {
    postgres.close();
    reader.close();
  }

  private static Relation relation(Postgres as, String name) {
    return as.read(c -> new Catalogue().relation(c, TableName.parse(name)));
  }

  private static AbstractThrowableAssert<?, ?> assertFails(
      Postgres as, String name, ErrorCode code) {
    return assertThatThrownBy(() -> relation(as, name))
        .isInstanceOfSatisfying(MillraceException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  private static void execute(String sql) {
    TestPostgres.execute(database, sql);
  }

  @Test
  void typesComeFromTheCatalogueAndDomainsFromTheirBase() {
    execute(
        """
        CREATE TYPE mood AS ENUM ('sad', 'ok');
        CREATE DOMAIN price AS numeric(12,2) CHECK (VALUE >= 0);
        CREATE DOMAIN net_price AS price NOT NULL;
        CREATE DOMAIN moods AS mood;
        CREATE DOMAIN tags AS text[];
        CREATE TABLE kinds (
          a int2 NOT NULL, b int4, c int8, d float4, e float8, f numeric(32,16), g text,
          h varchar(3), i char(4), j name, k bool, l bytea, m uuid, n json, o jsonb, p date,
          q time(3), r timestamp, s timestamptz, t mood, u net_price, v moods)\
        """);
    assertThat(relation(postgres, "public.kinds").columns())
        .extracting(c -> c.name() + " " + c.type().wire() + " " + c.kind() + " " + c.asText())
        .containsExactly(
            "a INT2 PLAIN false",
            "b INT4 PLAIN false",
            "c INT8 PLAIN false",
            "d FLOAT4 PLAIN false",
            "e FLOAT8 PLAIN false",
            "f NUMERIC PLAIN false",
            "g TEXT PLAIN false",
            "h TEXT PLAIN false",
            "i TEXT PLAIN false",
            "j TEXT PLAIN false",
            "k BOOL PLAIN false",
            "l BYTEA PLAIN false",
            "m UUID PLAIN false",
            "n TEXT JSON false",
            "o JSONB JSON false",
            "p DATE PLAIN false",
            "q TIME PLAIN false",
            "r TIMESTAMP PLAIN false",
            "s TIMESTAMPTZ PLAIN false",
            "t TEXT ENUM false",
            "u NUMERIC PLAIN false",
            "v TEXT ENUM false");
    Relation kinds = relation(postgres, "public.kinds");
    assertThat(kinds.column("f").orElseThrow().type())
        .isEqualTo(new ColumnType(Wire.NUMERIC, 32, 16, "numeric(32,16)"));
    assertThat(kinds.column("u").orElseThrow().type())
        .isEqualTo(new ColumnType(Wire.NUMERIC, 12, 2, "public.net_price"));
    assertThat(kinds.column("a").orElseThrow().nullable()).isFalse();
    assertThat(kinds.column("b").orElseThrow().nullable()).isTrue();
    assertThat(kinds.column("nobody")).isEmpty();
  }

  @Test
  void typesWithoutAParquetTypeAreReadAsText() {
    execute(
        """
        CREATE TYPE pair AS (x int4, y int4);
        CREATE TABLE texts (
          b interval, c inet, d int4range, e pair, f timetz, h xml, i bit(3), n "char",
          o int2vector, p oidvector, q regclass, r xid8, s point, t int8multirange, u tsvector)\
        """);
    assertThat(relation(postgres, "public.texts").columns())
        .allSatisfy(
            column -> {
              assertThat(column.asText()).as(column.name()).isTrue();
              assertThat(column.type().wire()).as(column.name()).isEqualTo(Wire.TEXT);
              assertThat(column.type().isArray()).as(column.name()).isFalse();
            });
  }

  @Test
  void arraysAreOfTheirElementsWithTheDimensionsThatAreDeclared() {
    execute(
        """
        CREATE TYPE colour AS ENUM ('red');
        CREATE DOMAIN net AS numeric(12,2);
        CREATE DOMAIN grid AS int4[][];
        CREATE TABLE lists (
          a int4[], b int4[][], c numeric(30,2)[], d net[], e grid, f grid[], g interval[],
          h colour[], i jsonb[], j varchar(3)[], k numeric[], l oid[], m money[]);
        CREATE VIEW lists_of_a_view AS SELECT a || 1 AS a FROM lists\
        """);
    assertThat(relation(postgres, "public.lists").columns())
        .extracting(
            c ->
                "%s %s(%d,%d) %d %s %s"
                    .formatted(
                        c.name(),
                        c.type().wire(),
                        c.type().precision(),
                        c.type().scale(),
                        c.type().dimensions(),
                        c.kind(),
                        c.readAs()))
        .containsExactly(
            "a INT4(0,0) 1 PLAIN null",
            "b INT4(0,0) 2 PLAIN null",
            "c NUMERIC(30,2) 1 PLAIN null",
            "d NUMERIC(12,2) 1 PLAIN null",
            "e INT4(0,0) 2 PLAIN null",
            "f TEXT(0,0) 1 PLAIN text[]",
            "g TEXT(0,0) 1 PLAIN text[]",
            "h TEXT(0,0) 1 ENUM null",
            "i JSONB(0,0) 1 JSON null",
            "j TEXT(0,0) 1 PLAIN null",
            "k NUMERIC(0,0) 1 PLAIN null",
            "l INT8(0,0) 1 PLAIN int8[]",
            "m NUMERIC(19,2) 1 PLAIN numeric[]");
    assertThat(relation(postgres, "public.lists_of_a_view").columns().get(0).type().dimensions())
        .isEqualTo(1);
  }

  @Test
  void rulesDecideWhatANumericIsThatDecimalCanNotHold() {
    execute(
        "CREATE TABLE open (a numeric, b numeric(39,0), c numeric(3,-2), d numeric(2,4), e"
            + " numeric[], f numeric(4,2))");
    Relation open = relation(postgres, "public.open");
    assertThat(open.columns(ColumnRules.DEFAULT))
        .extracting(c -> c.type().wire() + " " + c.readAs())
        .containsExactly(
            "TEXT text", "TEXT text", "TEXT text", "TEXT text", "TEXT text[]", "NUMERIC null");
    ColumnRules.Numeric decimal = new ColumnRules.Numeric(ColumnRules.NumericForm.DECIMAL, 20, 3);
    ColumnRules rules = new ColumnRules(decimal, null, null, null).orElse(ColumnRules.DEFAULT);
    assertThat(open.columns(rules))
        .extracting(c -> c.type().precision() + " " + c.type().scale() + " " + c.readAs())
        .containsExactly(
            "20 3 null", "20 3 null", "20 3 null", "20 3 null", "20 3 null", "4 2 null");
    ColumnRules fail =
        new ColumnRules(
                new ColumnRules.Numeric(ColumnRules.NumericForm.FAIL, 0, 0), null, null, null)
            .orElse(ColumnRules.DEFAULT);
    assertThatThrownBy(() -> open.columns(fail))
        .isInstanceOfSatisfying(
            MillraceException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.TYPE_UNSUPPORTED))
        .hasMessageContaining("column \"a\" is numeric");
  }

  @Test
  void commentsOfColumnsAreRead() {
    execute(
        "CREATE TABLE commented (a int4, b int4); COMMENT ON COLUMN commented.b IS 'in metres'");
    assertThat(relation(postgres, "public.commented").columns())
        .extracting(Column::comment)
        .containsExactly(null, "in metres");
  }

  @Test
  void aTableWithoutColumnsIsRefused() {
    execute("CREATE TABLE bare ()");
    assertFails(postgres, "public.bare", ErrorCode.TABLE_MISSING)
        .hasMessage("public.bare has no columns, so there is nothing to read");
  }

  @Test
  void generatedAndIdentityColumnsAreThereDroppedOnesAreNot() {
    execute(
        """
        CREATE TABLE grown (
          id int8 GENERATED ALWAYS AS IDENTITY, gone text, twice int8 GENERATED ALWAYS AS (7 * 2) STORED);
        ALTER TABLE grown DROP COLUMN gone\
        """);
    assertThat(relation(postgres, "public.grown").columns())
        .extracting(Column::name)
        .containsExactly("id", "twice");
  }

  @Test
  void aTableMayHave1600Columns() {
    execute(
        IntStream.rangeClosed(1, 1600)
            .mapToObj(i -> "c" + i + " int4")
            .collect(Collectors.joining(", ", "CREATE TABLE wide (", ")")));
    assertThat(relation(postgres, "public.wide").columns()).hasSize(1600);
  }

  @Test
  void kindsThatCanBeReadAreToldFromThoseThatCanNot() {
    execute(
        """
        CREATE TABLE plain (id int4 PRIMARY KEY);
        CREATE TABLE parted (id int4) PARTITION BY RANGE (id);
        CREATE VIEW shown AS SELECT id FROM plain;
        CREATE MATERIALIZED VIEW kept AS SELECT id FROM plain;
        CREATE SEQUENCE counter;
        CREATE TYPE composed AS (x int4)\
        """);
    assertThat(relation(postgres, "public.plain").kind()).isEqualTo(Relation.Kind.TABLE);
    assertThat(relation(postgres, "public.parted").kind())
        .isEqualTo(Relation.Kind.PARTITIONED_TABLE);
    assertThat(relation(postgres, "public.shown").kind()).isEqualTo(Relation.Kind.VIEW);
    assertThat(relation(postgres, "public.kept").kind()).isEqualTo(Relation.Kind.MATERIALIZED_VIEW);
    assertFails(postgres, "public.counter", ErrorCode.TABLE_MISSING)
        .hasMessageContaining("a sequence");
    assertFails(postgres, "public.plain_pkey", ErrorCode.TABLE_MISSING)
        .hasMessageContaining("an index");
    assertFails(postgres, "public.composed", ErrorCode.TABLE_MISSING)
        .hasMessageContaining("a composite type");
  }

  @Test
  void aMissingTableIsNamedWithWhatMayHaveBeenMeant() {
    execute("CREATE SCHEMA \"Lager Süd\"; CREATE TABLE \"Lager Süd\".\"Shipment\" (id int4)");
    assertFails(postgres, "public.shipment", ErrorCode.TABLE_MISSING)
        .hasMessage(
            "table public.shipment does not exist; did you mean \"Lager Süd\".\"Shipment\"?");
    assertFails(postgres, "public.nothing_like_it", ErrorCode.TABLE_MISSING)
        .hasMessage("table public.nothing_like_it does not exist");
  }

  @Test
  void rightsThatAreMissingAreNamed() {
    execute(
        """
        CREATE SCHEMA closed; CREATE TABLE closed.t (id int4);
        CREATE TABLE secret (id int4);
        CREATE TABLE half (id int4, salary int4, name text);
        GRANT SELECT (id, name) ON half TO catalogue_reader\
        """);
    assertFails(reader, "closed.t", ErrorCode.NO_PRIVILEGE).hasMessageContaining("\"closed\"");
    assertFails(reader, "public.secret", ErrorCode.NO_PRIVILEGE)
        .hasMessageContaining("public.secret");

    Relation half = relation(reader, "public.half");
    assertThat(half.unreadable()).containsExactly("salary");
    assertThatThrownBy(() -> SelectQuery.text(half, half.columns(), null))
        .isInstanceOfSatisfying(
            MillraceException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.NO_PRIVILEGE))
        .hasMessageContaining("\"salary\"")
        .hasMessageContaining("public.half");
    List<Column> rest = half.columns().stream().filter(c -> !c.name().equals("salary")).toList();
    assertThat(SelectQuery.text(half, rest, "\"id\" > 3"))
        .isEqualTo("SELECT \"id\", \"name\" FROM \"public\".\"half\" WHERE \"id\" > 3");
  }

  @Test
  void rowsThatAPolicyHidesAreAFailure() {
    execute(
        """
        CREATE TABLE policed (id int4); INSERT INTO policed VALUES (1), (2);
        ALTER TABLE policed ENABLE ROW LEVEL SECURITY;
        CREATE POLICY few ON policed USING (id = 1);
        GRANT SELECT ON policed TO catalogue_reader\
        """);
    Relation policed = relation(reader, "public.policed");
    String select = SelectQuery.text(policed, policed.columns(), null);
    assertThatThrownBy(() -> reader.read(c -> reader.copy(c, select, (data, offset, length) -> {})))
        .isInstanceOfSatisfying(
            MillraceException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.ROWS_HIDDEN))
        .hasMessageContaining("policed")
        .hasMessageContaining("BYPASSRLS");
  }

  @Test
  void onlyAnIndexThatServesTheWholeColumnCounts() {
    execute(
        """
        CREATE TABLE indexed (a int4, b int4, c int4, d int4);
        CREATE INDEX ON indexed (a, b);
        CREATE INDEX ON indexed (c) WHERE d > 0;
        CREATE INDEX ON indexed USING hash (d)\
        """);
    Relation indexed = relation(postgres, "public.indexed");
    assertThat(List.of("a", "b", "c", "d"))
        .filteredOn(
            column ->
                postgres.<Boolean>read(
                    c -> new Catalogue().hasIndexStartingWith(c, indexed, column)))
        .containsExactly("a");
  }

  @Test
  void anyUserMayAskForTheSourcesIdentity() {
    String expected =
        TestPostgres.query(database, "SELECT system_identifier FROM pg_control_system()");
    assertThat(reader.<SourceIdentity>read(c -> new Catalogue().identity(c)))
        .isEqualTo(new SourceIdentity(Long.parseLong(expected), database));
  }

  private static boolean unique(String table, String column) {
    return postgres.read(
        connection -> new Catalogue().isUnique(connection, TableName.parse(table), column));
  }

  @Test
  void aUniqueIndexOnTheColumnMakesItUnique() {
    execute(
        """
        CREATE TABLE "Unique" (
          id int8 PRIMARY KEY, sku text, "Late ""one" int4 UNIQUE DEFERRABLE INITIALLY DEFERRED,
          more int4, a int4, b int4, UNIQUE (a, b));
        CREATE UNIQUE INDEX ON "Unique" (sku) INCLUDE (more);
        CREATE TABLE split (id int8, day date, UNIQUE (id)) PARTITION BY RANGE (id);
        CREATE TABLE split_1 PARTITION OF split FOR VALUES FROM (1) TO (10)""");
    assertThat(unique("public.\"Unique\"", "id")).isTrue();
    assertThat(unique("public.\"Unique\"", "sku")).isTrue();
    assertThat(unique("public.\"Unique\"", "Late \"one")).isTrue();
    assertThat(unique("public.\"Unique\"", "more")).as("included only").isFalse();
    assertThat(unique("public.\"Unique\"", "a")).as("with another column").isFalse();
    assertThat(unique("public.split", "id")).isTrue();
    assertThat(unique("public.split", "day")).isFalse();
    assertThat(unique("public.split_1", "id")).isTrue();
  }

  @Test
  void anIndexThatDoesNotHoldForEachRowMakesNothingUnique() {
    execute(
        """
        CREATE COLLATION anycase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        CREATE TABLE loose (a int4, b text, c text, d numeric, e text COLLATE anycase, f text);
        CREATE INDEX ON loose (a);
        CREATE UNIQUE INDEX ON loose (b) WHERE b <> 'x';
        CREATE UNIQUE INDEX ON loose (lower(c));
        CREATE UNIQUE INDEX ON loose (trunc(d));
        CREATE UNIQUE INDEX ON loose (e COLLATE "C");
        CREATE UNIQUE INDEX ON loose (f COLLATE anycase);
        CREATE TABLE mother (id int8 PRIMARY KEY);
        CREATE TABLE child () INHERITS (mother);
        CREATE VIEW seen AS SELECT id FROM mother;
        CREATE TABLE twice (id int8);
        INSERT INTO twice VALUES (1), (1);
        CREATE TABLE parts (id int8) PARTITION BY RANGE (id);
        CREATE TABLE part PARTITION OF parts FOR VALUES FROM (1) TO (10);
        CREATE UNIQUE INDEX ON ONLY parts (id)""");
    assertThatThrownBy(() -> execute("CREATE UNIQUE INDEX CONCURRENTLY broken ON twice (id)"))
        .hasStackTraceContaining("could not create unique index");
    for (String column : List.of("a", "b", "c", "d", "e", "f")) {
      assertThat(unique("public.loose", column)).as(column).isFalse();
    }
    assertThat(unique("public.mother", "id")).as("has a child").isFalse();
    assertThat(unique("public.child", "id")).as("has no index of its own").isFalse();
    assertThat(unique("public.seen", "id")).as("a view").isFalse();
    assertThat(
            TestPostgres.query(database, "SELECT count(*) FROM pg_class WHERE relname = 'broken'"))
        .isEqualTo("1");
    assertThat(unique("public.twice", "id")).as("an index that could not be built").isFalse();
    assertThat(unique("public.parts", "id")).as("a partition has no part of it").isFalse();
    execute("CREATE UNIQUE INDEX part_id ON part (id)");
    execute("ALTER INDEX parts_id_idx ATTACH PARTITION part_id");
    assertThat(unique("public.parts", "id")).as("now it has").isTrue();
  }
}
