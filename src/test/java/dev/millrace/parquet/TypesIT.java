package dev.millrace.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.ColumnRules;
import dev.millrace.postgres.Postgres;
import dev.millrace.testing.TestPostgres;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.TimeZone;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.schema.Type;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Each Postgres type, from a real server, read back by parquet-java. */
class TypesIT {
  private static final AtomicInteger TABLES = new AtomicInteger();

  private static String database;
  private static Postgres postgres;

  @BeforeAll
  static void connect() {
    database = TestPostgres.createDatabase();
    TestPostgres.execute(
        database,
        """
        CREATE TYPE mood AS ENUM ('sad', 'so-so', 'ĝoja');
        CREATE DOMAIN price AS numeric(12,2) CHECK (VALUE >= 0);
        CREATE DOMAIN grid AS int4[][];
        CREATE TYPE pair AS (x int4, y text);
        CREATE EXTENSION hstore WITH SCHEMA pg_catalog\
        """);
    postgres = TestPostgres.connect(database);
  }

  @AfterAll
  static void close() {
    postgres.close();
  }

  /** A value as SQL, and what has to be in the file for it. */
  private record Value(String literal, String stored) {}

  private static Value value(String literal, String stored) {
    return new Value(literal, stored);
  }

  private static Arguments type(String declared, String parquet, Value... values) {
    return Arguments.of(declared, parquet, List.of(values));
  }

  static List<Arguments> types() {
    return List.of(
        type(
            "int2",
            "INT32 INTEGER(16,true)",
            value("-32768", "-32768"),
            value("32767", "32767"),
            value("0", "0")),
        type(
            "int4",
            "INT32",
            value("-2147483648", "-2147483648"),
            value("2147483647", "2147483647")),
        type(
            "int8",
            "INT64",
            value("-9223372036854775808", "-9223372036854775808"),
            value("9223372036854775807", "9223372036854775807"),
            value("9007199254740993", "9007199254740993")),
        type(
            "float4",
            "FLOAT",
            value("-3.4028235e38", "-3.4028235E38"),
            value("1e-45", "1.4E-45"),
            value("-0", "-0.0"),
            value("NaN", "NaN"),
            value("Infinity", "Infinity"),
            value("-Infinity", "-Infinity")),
        type(
            "float8",
            "DOUBLE",
            value("-1.7976931348623157e308", "-1.7976931348623157E308"),
            value("5e-324", "4.9E-324"),
            value("0.1", "0.1"),
            value("-0", "-0.0"),
            value("NaN", "NaN"),
            value("Infinity", "Infinity"),
            value("-Infinity", "-Infinity")),
        type(
            "numeric(4,0)",
            "INT32 DECIMAL(4,0)",
            value("2013", "2013"),
            value("-9999", "-9999"),
            value("0", "0")),
        type(
            "numeric(9,9)",
            "INT32 DECIMAL(9,9)",
            value("0.999999999", "0.999999999"),
            value("-0.000000001", "-0.000000001")),
        type(
            "numeric(12,2)",
            "INT64 DECIMAL(12,2)",
            value("9999999999.99", "9999999999.99"),
            value("-9999999999.99", "-9999999999.99"),
            value("100", "100.00"),
            value("20000", "20000.00")),
        type(
            "numeric(18,0)",
            "INT64 DECIMAL(18,0)",
            value("999999999999999999", "999999999999999999"),
            value("-999999999999999999", "-999999999999999999")),
        type(
            "numeric(19,19)",
            "FIXED_LEN_BYTE_ARRAY(9) DECIMAL(19,19)",
            value("0.1234567890123456789", "0.1234567890123456789"),
            value("-0.9999999999999999999", "-0.9999999999999999999")),
        type(
            "numeric(32,16)",
            "FIXED_LEN_BYTE_ARRAY(14) DECIMAL(32,16)",
            value("9999999999999999.9999999999999999", "9999999999999999.9999999999999999"),
            value("-0.0000000000000001", "-0.0000000000000001"),
            value("1e15", "1000000000000000.0000000000000000")),
        type(
            "numeric(38,0)",
            "FIXED_LEN_BYTE_ARRAY(16) DECIMAL(38,0)",
            value(
                "99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
            value(
                "-99999999999999999999999999999999999999",
                "-99999999999999999999999999999999999999"),
            value("18446744073709551616", "18446744073709551616"),
            value("-18446744073709551616", "-18446744073709551616"),
            value("-1", "-1")),
        type("price", "INT64 DECIMAL(12,2)", value("1.10", "1.10")),
        type(
            "numeric",
            "BINARY STRING",
            value("NaN", "NaN"),
            value("1.10", "1.10"),
            value("1e-30", "0.000000000000000000000000000001")),
        type("numeric(100,0)", "BINARY STRING", value("1e99", "1" + "0".repeat(99))),
        type("numeric(3,-2)", "BINARY STRING", value("12345", "12300")),
        type("numeric(2,4)", "BINARY STRING", value("0.0099", "0.0099")),
        type(
            "text",
            "BINARY STRING",
            value("", ""),
            value("日付 ünïcödé 🚂", "日付 ünïcödé 🚂"),
            value("NULL", "NULL")),
        type("varchar(3)", "BINARY STRING", value("abc", "abc")),
        type("char(4)", "BINARY STRING", value("ab", "ab  ")),
        type("name", "BINARY STRING", value("pg_class", "pg_class")),
        type("\"char\"", "BINARY STRING", value("x", "x"), value("", ""), value("\\377", "\\377")),
        type("mood", "BINARY STRING", value("so-so", "so-so"), value("ĝoja", "ĝoja")),
        type("bool", "BOOLEAN", value("t", "true"), value("f", "false")),
        type("bytea", "BINARY", value("\\x00ff80", "00ff80"), value("", "")),
        type(
            "uuid",
            "FIXED_LEN_BYTE_ARRAY(16) UUID",
            value("00000000-0000-0000-0000-000000000000", "00000000000000000000000000000000"),
            value("ffffffff-ffff-ffff-ffff-ffffffffffff", "ffffffffffffffffffffffffffffffff"),
            value("12345678-9abc-def0-1234-56789abcdef0", "123456789abcdef0123456789abcdef0")),
        type("json", "BINARY JSON", value("{\"b\":1,  \"a\":2}", "{\"b\":1,  \"a\":2}")),
        type("jsonb", "BINARY JSON", value("{\"b\":1,  \"a\":2}", "{\"a\": 2, \"b\": 1}")),
        type(
            "date",
            "INT32 DATE",
            value("1970-01-01", "0"),
            value("2000-01-01", "10957"),
            value("0044-03-15 BC", "-735160"),
            value("15000-01-01", "4759110"),
            value("4713-01-01 BC", "-2440550"),
            value("5874897-12-31", "2145042905")),
        type(
            "time",
            "INT64 TIME(MICROS,false)",
            value("00:00", "0"),
            value("23:59:59.999999", "86399999999")),
        type(
            "timestamp",
            "INT64 TIMESTAMP(MICROS,false)",
            value("1970-01-01", "0"),
            value("2018-03-25 03:17:17", "1521947837000000"),
            value("1969-12-31 23:59:59.999999", "-1"),
            value("0044-03-15 BC", "-63517824000000000"),
            value("15000-01-01", "411187104000000000"),
            value("4713-01-01 BC", "-210863520000000000"),
            value("294246-12-31 23:59:59.999999", "9223371244799999999")),
        type(
            "timestamptz",
            "INT64 TIMESTAMP(MICROS,true)",
            value("2024-05-06 13:13:13+04", "1714986793000000"),
            value("2024-05-06 09:13:13Z", "1714986793000000"),
            value("0044-03-15 00:00Z BC", "-63517824000000000"),
            value("15000-01-01 00:00Z", "411187104000000000")),
        type(
            "int4[]",
            "LIST INT32",
            value("{1,NULL,-3}", "[1, null, -3]"),
            value("{}", "[]"),
            value("{NULL}", "[null]")),
        type(
            "text[][]",
            "LIST LIST BINARY STRING",
            value("{{a,NULL},{\"\",\"c,d\"}}", "[[a, null], [, c,d]]"),
            value("{}", "[]")),
        type(
            "int4[][][]",
            "LIST LIST LIST INT32",
            value("{{{1},{2}},{{3},{NULL}}}", "[[[1], [2]], [[3], [null]]]")),
        type("grid", "LIST LIST INT32", value("{{1,2},{3,4}}", "[[1, 2], [3, 4]]")),
        type("grid[]", "LIST BINARY STRING", value("{\"{{1},{2}}\",NULL}", "[{{1},{2}}, null]")),
        type("oid", "INT64", value("0", "0"), value("4294967295", "4294967295")),
        type("regclass", "BINARY STRING", value("pg_class", "pg_class"), value("0", "-")),
        type("regtype", "BINARY STRING", value("int4", "integer")),
        type("xid8", "BINARY STRING", value("18446744073709551615", "18446744073709551615")),
        type("pg_lsn", "BINARY STRING", value("FFFFFFFF/FFFFFFFF", "FFFFFFFF/FFFFFFFF")),
        type("tid", "BINARY STRING", value("(1,2)", "(1,2)")),
        type(
            "money",
            "FIXED_LEN_BYTE_ARRAY(9) DECIMAL(19,2)",
            value("-92233720368547758.08", "-92233720368547758.08"),
            value("92233720368547758.07", "92233720368547758.07"),
            value("0", "0.00")),
        type(
            "interval",
            "BINARY STRING",
            value("1 day 2 hours", "1 day 02:00:00"),
            value("-178000000 years", "-178000000 years"),
            value("178000000 years", "178000000 years"),
            value("0.000001 seconds", "00:00:00.000001"),
            value("infinity", "infinity")),
        type(
            "timetz",
            "BINARY STRING",
            value("10:00+02", "10:00:00+02"),
            value("00:00+15:59:59", "00:00:00+15:59:59"),
            value("24:00-15:59:59", "24:00:00-15:59:59")),
        type(
            "inet",
            "BINARY STRING",
            value("10.0.0.1/8", "10.0.0.1/8"),
            value("::1", "::1/128"),
            value("255.255.255.255", "255.255.255.255/32")),
        type("cidr", "BINARY STRING", value("10.0.0.0/8", "10.0.0.0/8"), value("::/0", "::/0")),
        type(
            "macaddr",
            "BINARY STRING",
            value("00:00:00:00:00:00", "00:00:00:00:00:00"),
            value("FF-FF-FF-FF-FF-FF", "ff:ff:ff:ff:ff:ff")),
        type(
            "macaddr8",
            "BINARY STRING",
            value("ff:ff:ff:ff:ff:ff:ff:ff", "ff:ff:ff:ff:ff:ff:ff:ff")),
        type("bit(3)", "BINARY STRING", value("101", "101"), value("000", "000")),
        type(
            "varbit",
            "BINARY STRING",
            value("", ""),
            value("1" + "0".repeat(80), "1" + "0".repeat(80))),
        type("xml", "BINARY STRING", value("<a/>", "<a/>"), value("<b>ü</b>", "<b>ü</b>")),
        type(
            "hstore",
            "BINARY STRING",
            value("", ""),
            value("a=>1, \"b c\"=>NULL", "\"a\"=>\"1\", \"b c\"=>NULL")),
        type(
            "int4range",
            "BINARY STRING",
            value("[1,3]", "[1,4)"),
            value("empty", "empty"),
            value("(,)", "(,)")),
        type(
            "tstzrange",
            "BINARY STRING",
            value("[2024-05-06 13:13:13+04,infinity)", "[\"2024-05-06 09:13:13+00\",infinity)")),
        type("numrange", "BINARY STRING", value("[1.10,2)", "[1.10,2)")),
        type(
            "int8multirange",
            "BINARY STRING",
            value("{}", "{}"),
            value("{[1,3],[7,8)}", "{[1,4),[7,8)}")),
        type(
            "pair",
            "BINARY STRING",
            value("(1,\"a b\")", "(1,\"a b\")"),
            value("(,)", "(,)"),
            value("(,\"\")", "(,\"\")")),
        type("tsvector", "BINARY STRING", value("", ""), value("b:2A a:1", "'a':1 'b':2A")),
        type("tsquery", "BINARY STRING", value("a & !b", "'a' & !'b'")),
        type("point", "BINARY STRING", value("(0.1,-2)", "(0.1,-2)")),
        type("jsonpath", "BINARY STRING", value("$.a[*]", "$.\"a\"[*]")),
        type("int2vector", "BINARY STRING", value("1 2", "1 2"), value("", "")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("types")
  void aTypeKeepsItsValuesAsTheTableSays(String declared, String parquet, List<Value> values) {
    String table = table(declared, values.stream().map(Value::literal).toList());
    TestPostgres.execute(database, "INSERT INTO " + table + " VALUES (1000, NULL)");

    Extracted extracted = Extracted.from(postgres, table);
    List<Group> rows = extracted.file().read();
    assertThat(Stored.type(rows.get(0).getType().getType(1))).isEqualTo(parquet);
    assertThat(rows).hasSize(values.size() + 1);
    assertThat(rows.get(values.size()).getFieldRepetitionCount(1)).isZero();
    assertThat(rows.subList(0, values.size()))
        .extracting(row -> String.valueOf(Stored.value(row, 1)))
        .containsExactlyElementsOf(values.stream().map(Value::stored).toList());
    assertThat(extracted.summary().rowsEncoded()).isEqualTo(values.size() + 1);
    assertThat(extracted.summary().rowsInFooter()).isEqualTo(values.size() + 1);
    assertThat(extracted.summary().replaced()).isEmpty();
    assertThat(extracted.copied()).isEqualTo(values.size() + 1);
    assertThat(extracted.summary().bytes()).isEqualTo(extracted.file().getLength());
    if (!parquet.startsWith("LIST")) {
      // Case 26: a NULL is no 1970, and the footer counts it.
      assertThat(statistics(extracted, 1).getNumNulls()).isEqualTo(1);
    }
  }

  /** Case 25: what holds for a value holds for an element. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("types")
  void anArrayKeepsElementsAsItsElementTypeDoes(
      String declared, String parquet, List<Value> values) {
    if (parquet.startsWith("LIST")) {
      return;
    }
    String table = table(declared + "[]", List.of("{}", "{NULL}"));
    TestPostgres.execute(database, "INSERT INTO %s VALUES (2, NULL)".formatted(table));
    TestPostgres.execute(
        database,
        "INSERT INTO %s VALUES (3, ARRAY[%s, NULL]::%s[])"
            .formatted(
                table,
                values.stream()
                    .map(value -> quoted(value.literal()) + "::" + declared)
                    .collect(Collectors.joining(", ")),
                declared));
    List<Group> rows = Extracted.from(postgres, table).file().read();
    assertThat(Stored.type(rows.get(0).getType().getType(1))).isEqualTo("LIST " + parquet);
    List<String> elements = new ArrayList<>(values.stream().map(Value::stored).toList());
    elements.add(null);
    // Case 31: four different results.
    assertThat(rows.stream().map(row -> Stored.value(row, 1)).toList())
        .isEqualTo(Arrays.asList(List.of(), Arrays.asList((Object) null), null, elements));
  }

  private static String table(String declared, List<String> literals) {
    String table = "public.t" + TABLES.incrementAndGet();
    TestPostgres.execute(database, "CREATE TABLE " + table + " (id int4, v " + declared + ")");
    for (int i = 0; i < literals.size(); i++) {
      TestPostgres.execute(
          database,
          "INSERT INTO %s VALUES (%d, '%s')"
              .formatted(table, i, literals.get(i).replace("'", "''")));
    }
    return table;
  }

  private static String quoted(String literal) {
    return "'" + literal.replace("'", "''") + "'";
  }

  private static Statistics<?> statistics(Extracted extracted, int column) {
    return extracted.file().footer().getBlocks().get(0).getColumns().get(column).getStatistics();
  }

  static List<Arguments> refusals() {
    return List.of(
        Arguments.of("numeric(10,2)", "NaN", "is NaN"),
        Arguments.of("numeric(30,2)", "NaN", "is NaN"),
        Arguments.of("date", "infinity", "is infinity"),
        Arguments.of("date", "-infinity", "is -infinity"),
        Arguments.of("timestamp", "infinity", "is infinity"),
        Arguments.of("timestamp", "-infinity", "is -infinity"),
        Arguments.of("timestamptz", "infinity", "is infinity"),
        Arguments.of("timestamptz", "-infinity", "is -infinity"),
        Arguments.of("timestamp", "294247-01-10 04:00:54.775808", "is later than 294247-01-10"),
        Arguments.of("time", "24:00", "is 24:00:00"));
  }

  /** Cases 25 and 27: outside arrays and inside alike. */
  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("refusals")
  void aValueThatParquetCanNotHoldFailsWithColumnAndKey(
      String declared, String literal, String reason) {
    assertRefused(declared, quoted(literal), reason, ColumnRules.DEFAULT);
    assertRefused(
        declared + "[]",
        "ARRAY[NULL, %s]::%s[]".formatted(quoted(literal), declared),
        reason,
        ColumnRules.DEFAULT);
  }

  private static void assertRefused(
      String declared, String value, String reason, ColumnRules rules) {
    String table = table(declared, List.of());
    TestPostgres.execute(
        database,
        "INSERT INTO %s SELECT i, NULL FROM generate_series(1, 5000) AS i".formatted(table));
    TestPostgres.execute(database, "INSERT INTO %s VALUES (4711, %s)".formatted(table, value));
    assertThatThrownBy(() -> Extracted.from(postgres, table, rules))
        .isInstanceOfSatisfying(
            MillraceException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.VALUE_OUT_OF_RANGE))
        .hasMessageContaining("column \"v\"")
        .hasMessageContaining("\"id\" = 4711")
        .hasMessageContaining(reason);
  }

  /** So the ranges of the table are whole: there is no value beyond what is tested. */
  @ParameterizedTest(name = "{0} {1}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "int2 | 32768",
        "int2 | -32769",
        "int4 | 2147483648",
        "int8 | 9223372036854775808",
        "int8 | -9223372036854775809",
        "oid | 4294967296",
        "float4 | 1e39",
        "float8 | 1e309",
        "numeric(4,0) | 10000",
        "numeric(9,9) | 1",
        "numeric(12,2) | 10000000000",
        "numeric(38,0) | 100000000000000000000000000000000000000",
        "numeric(10,2) | Infinity",
        "money | 92233720368547758.08",
        "varchar(3) | abcd",
        "char(4) | abcde",
        "mood | happy",
        "bool | 2",
        "uuid | 12345678-9abc-def0-1234-56789abcdef",
        "json | {",
        "jsonb | {",
        "date | 4714-11-23 BC",
        "date | 5874898-01-01",
        "time | 24:00:00.000001",
        "timestamp | 4714-11-23 23:59:59 BC",
        "timestamp | 294277-01-01",
        "timestamptz | 294277-01-01Z",
        "timetz | 00:00+16",
        "interval | 178956971 years",
        "inet | 256.0.0.0",
        "cidr | 10.0.0.1/8",
        "macaddr | ff:ff:ff:ff:ff",
        "bit(3) | 1010",
        "varbit | 2",
        "int4range | [1,2147483647]",
        "int8multirange | {[2,1]}",
        "pair | (1)",
        "tid | (4294967296,0)",
        "xid8 | 18446744073709551616"
      })
  void postgresItselfRefusesWhatIsBeyond(String declared, String literal) {
    assertThatThrownBy(() -> table(declared, List.of(literal)))
        .rootCause()
        .isInstanceOf(SQLException.class);
  }

  @Test
  void anArrayThatIsNoListFailsOrIsReadAsTextByRule() {
    assertRefused("int4[]", "'{{1,2},{3,4}}'", "has 2 dimensions", ColumnRules.DEFAULT);
    assertRefused("int4[][]", "'{1,2}'", "has 1 dimensions", ColumnRules.DEFAULT);
    assertRefused("int4[]", "'[0:1]={1,2}'", "has the lower bound 0", ColumnRules.DEFAULT);
    assertRefused("int4[][]", "'[1:1][2:2]={{1}}'", "has the lower bound 2", ColumnRules.DEFAULT);
    String table = table("int4[]", List.of("{1,NULL}", "{{1,2},{3,4}}", "[0:1]={1,2}", "{}"));
    ColumnRules text =
        new ColumnRules(null, null, null, ColumnRules.Arrays.TEXT).orElse(ColumnRules.DEFAULT);
    List<Group> rows = Extracted.from(postgres, table, text).file().read();
    assertThat(Stored.type(rows.get(0).getType().getType(1))).isEqualTo("BINARY STRING");
    assertThat(rows)
        .extracting(row -> Stored.value(row, 1))
        .containsExactly("{1,NULL}", "{{1,2},{3,4}}", "[0:1]={1,2}", "{}");
  }

  /** Case 24: a declared precision is held to, digit for digit. */
  @Test
  void aNumericWithoutPrecisionIsADecimalByRuleOrFailsWithColumnAndKey() {
    ColumnRules.Numeric decimal = new ColumnRules.Numeric(ColumnRules.NumericForm.DECIMAL, 20, 3);
    ColumnRules rules = new ColumnRules(decimal, null, null, null).orElse(ColumnRules.DEFAULT);
    String most = "99999999999999999.999";
    for (String declared : List.of("numeric", "numeric(100,10)")) {
      List<Group> rows =
          Extracted.from(postgres, table(declared, List.of(most, "-" + most, "1.5", "0")), rules)
              .file()
              .read();
      assertThat(Stored.type(rows.get(0).getType().getType(1)))
          .isEqualTo("FIXED_LEN_BYTE_ARRAY(9) DECIMAL(20,3)");
      assertThat(rows)
          .extracting(row -> Stored.value(row, 1))
          .containsExactly(most, "-" + most, "1.500", "0.000");
      assertRefused(declared, "100000000000000000", "has more than 17 digits", rules);
      assertRefused(declared, "0.0001", "has more than 3 fraction digits", rules);
      assertRefused(declared, "'NaN'", "is NaN", rules);
      assertRefused(declared + "[]", "ARRAY[0.0001]", "has more than 3 fraction digits", rules);
    }
    assertRefused("numeric", "'Infinity'", "is Infinity", rules);
    assertRefused("numeric[]", "'{-Infinity}'", "is -Infinity", rules);
  }

  /** Case 25. */
  @Test
  void notANumberIsNullByRuleAndCounted() {
    ColumnRules rules =
        new ColumnRules(null, ColumnRules.Nan.NULL, null, null).orElse(ColumnRules.DEFAULT);
    for (String declared : List.of("numeric(9,2)", "numeric(18,2)", "numeric(30,2)")) {
      Extracted extracted =
          Extracted.from(postgres, table(declared, List.of("NaN", "1.10", "-0.01")), rules);
      assertThat(extracted.file().read())
          .extracting(row -> Stored.value(row, 1))
          .containsExactly(null, "1.10", "-0.01");
      assertThat(statistics(extracted, 1).getNumNulls()).isEqualTo(1);
      assertThat(extracted.summary().replaced())
          .containsExactly(new ReplacedValues("v", "nan: null", 1));
      Extracted lists =
          Extracted.from(
              postgres, table(declared + "[]", List.of("{NaN,1,NULL}", "{NaN,NaN}")), rules);
      assertThat(lists.file().read())
          .extracting(row -> Stored.value(row, 1))
          .containsExactly(Arrays.asList(null, "1.00", null), Arrays.asList(null, null));
      assertThat(lists.summary().replaced())
          .containsExactly(new ReplacedValues("v", "nan: null", 3));
    }
  }

  /** Case 27. */
  @Test
  void infinityIsNullOrTheEndOfTheRangeByRuleAndCounted() {
    for (String declared : List.of("date", "timestamp", "timestamptz")) {
      String first = declared.equals("date") ? "-2440588" : "-210866803200000000";
      String last = declared.equals("date") ? "2145042905" : "9223372036854775807";
      List<String> literals = List.of("-infinity", "infinity", "1970-01-01Z");
      assertReplaced(declared, literals, ColumnRules.Infinity.NULL, null, null);
      assertReplaced(declared, literals, ColumnRules.Infinity.CLAMP, first, last);
    }
  }

  private static void assertReplaced(
      String declared,
      List<String> literals,
      ColumnRules.Infinity infinity,
      String first,
      String last) {
    ColumnRules rules = new ColumnRules(null, null, infinity, null).orElse(ColumnRules.DEFAULT);
    Extracted extracted = Extracted.from(postgres, table(declared, literals), rules);
    assertThat(extracted.file().read())
        .extracting(row -> Stored.value(row, 1))
        .containsExactly(first, last, "0");
    ReplacedValues two =
        new ReplacedValues("v", "infinity: " + infinity.name().toLowerCase(Locale.ROOT), 2);
    assertThat(extracted.summary().replaced()).containsExactly(two);
    Extracted lists =
        Extracted.from(
            postgres,
            table(declared + "[]", List.of("{" + String.join(",", literals) + "}")),
            rules);
    assertThat(Stored.value(lists.file().read().get(0), 1))
        .isEqualTo(Arrays.asList(first, last, "0"));
    assertThat(lists.summary().replaced()).containsExactly(two);
  }

  @Test
  void theEndsOfTheRangeAreThoseOfPostgres() {
    List<Group> rows =
        Extracted.from(postgres, table("date", List.of("4714-11-24 BC", "5874897-12-31")))
            .file()
            .read();
    assertThat(rows)
        .extracting(row -> Stored.value(row, 1))
        .containsExactly("-2440588", "2145042905");
    rows = Extracted.from(postgres, table("timestamp", List.of("4714-11-24 BC"))).file().read();
    assertThat(Stored.value(rows.get(0), 1)).isEqualTo("-210866803200000000");
  }

  @Test
  void theLastTimestampInMicrosecondsIsHeld() {
    Extracted extracted =
        Extracted.from(postgres, table("timestamp", List.of("294247-01-10 04:00:54.775807")));
    assertThat(extracted.file().read().get(0).getLong(1, 0)).isEqualTo(Long.MAX_VALUE);
  }

  /** Case 35. */
  @Test
  void bytesOfASqlAsciiDatabaseThatAreNotUtf8FailWithColumnAndKey() {
    String ascii =
        TestPostgres.createDatabase(
            "ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
    TestPostgres.execute(ascii, "CREATE TABLE raw (id int4, v text, b bytea)");
    TestPostgres.execute(ascii, "INSERT INTO raw VALUES (1, 'plain', '\\x00ff80')");
    try (Postgres raw = TestPostgres.connect(ascii)) {
      Extracted fine = Extracted.from(raw, "public.raw");
      assertThat(fine.file().read().get(0).getBinary("b", 0).getBytes())
          .containsExactly(0, 0xff, 0x80);
      TestPostgres.execute(
          ascii, "INSERT INTO raw SELECT 7, convert_from('\\x41ff42', 'SQL_ASCII'), NULL");
      assertThatThrownBy(() -> Extracted.from(raw, "public.raw"))
          .isInstanceOfSatisfying(
              MillraceException.class,
              e -> assertThat(e.code()).isEqualTo(ErrorCode.VALUE_OUT_OF_RANGE))
          .hasMessageContaining("column \"v\"")
          .hasMessageContaining("\"id\" = 7")
          .hasMessageContaining("is not UTF-8");
    }
  }

  @Test
  void arraysOfTextInASqlAsciiDatabaseAreTextAndSaySoWhereTheyAreBroken() {
    String ascii =
        TestPostgres.createDatabase(
            "ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
    TestPostgres.execute(
        ascii,
        """
        CREATE TABLE raw (id int4, v text[], j jsonb[], i inet[], n int4[], b bytea[]);
        INSERT INTO raw VALUES (1, '{a,NULL}', '{"{}"}', '{::1}', '{1,NULL}', '{"\\\\x00ff"}')\
        """);
    try (Postgres raw = TestPostgres.connect(ascii)) {
      Group row = Extracted.from(raw, "public.raw").file().read().get(0);
      assertThat(IntStream.range(1, 6).mapToObj(field -> Stored.value(row, field)))
          .containsExactly(
              "{a,NULL}", "{\"{}\"}", "{::1}", Arrays.asList("1", null), List.of("00ff"));
      TestPostgres.execute(
          ascii, "INSERT INTO raw SELECT 7, ARRAY[convert_from('\\x41ff42', 'SQL_ASCII')]");
      assertThatThrownBy(() -> Extracted.from(raw, "public.raw"))
          .isInstanceOfSatisfying(
              MillraceException.class,
              e -> assertThat(e.code()).isEqualTo(ErrorCode.VALUE_OUT_OF_RANGE))
          .hasMessageContaining("column \"v\"")
          .hasMessageContaining("\"id\" = 7")
          .hasMessageContaining("is not UTF-8");
    }
  }

  /** Cases 29 and 30. */
  @Test
  void theZoneOfTheJvmAndTheSettingsOfTheSessionChangeNoByte() {
    String moments = TestPostgres.createDatabase();
    TestPostgres.execute(
        moments,
        """
        CREATE TYPE stay AS (since timestamptz, length interval, ratio float8, raw bytea);
        CREATE TABLE moments (
          id int4, d date, t time, ts timestamp, tz timestamptz, tzs timestamptz[], ds date[],
          ttz timetz, span interval, spans interval[], range tstzrange, ranges tstzmultirange,
          stay stay, stays stay[], numbers point, xs xml, class regclass);
        INSERT INTO moments (id, d, t, ts, tz, tzs, ds, ttz, span, spans, range, ranges, stay, stays, numbers, xs, class)
        SELECT id, d::date, t::time, (d || ' ' || t)::timestamp, (d || ' ' || t || z)::timestamptz,
               ARRAY[(d || ' ' || t || z)::timestamptz, NULL], ARRAY[d::date], (t || z)::timetz,
               '1 mon -2 days 03:04:05.000006', '{-1 day,1 year}',
               tstzrange((d || ' ' || t || z)::timestamptz, NULL),
               tstzmultirange(tstzrange((d || ' ' || t || z)::timestamptz, NULL)),
               ROW((d || ' ' || t || z)::timestamptz, '1 year 2 mons'::interval, 0.1::float8, '\\x00ff'::bytea)::stay,
               ARRAY[ROW((d || ' ' || t || z)::timestamptz, '1 day'::interval, 1e-300, '\\x00')::stay],
               '(0.1,1e-300)', '<a/>', 'moments'
        FROM (VALUES (1, '2018-03-25', '03:17:17', 'Z'), (2, '0044-03-15', '00:00', '+05:30'),
                     (3, '1900-01-01', '23:59:59.999999', '+05:41:16')) AS v(id, d, t, z)\
        """);
    TimeZone before = TimeZone.getDefault();
    List<byte[]> files = new ArrayList<>();
    try {
      for (String zone : List.of("UTC", "Europe/Vilnius", "Asia/Kathmandu")) {
        TimeZone.setDefault(TimeZone.getTimeZone(zone));
        for (String settings :
            List.of("", "TimeZone = 'America/New_York'", "TimeZone = 'Asia/Kathmandu'")) {
          TestPostgres.execute(moments, "ALTER DATABASE " + moments + " RESET ALL");
          if (!settings.isEmpty()) {
            for (String setting :
                List.of(
                    settings,
                    "DateStyle = 'German, DMY'",
                    "IntervalStyle = 'iso_8601'",
                    "bytea_output = 'escape'",
                    "extra_float_digits = -5",
                    "search_path = public")) {
              TestPostgres.execute(moments, "ALTER DATABASE " + moments + " SET " + setting);
            }
          }
          try (Postgres there = TestPostgres.connect(moments)) {
            files.add(Extracted.from(there, "public.moments").file().bytes());
          }
        }
      }
    } finally {
      TimeZone.setDefault(before);
    }
    assertThat(files).hasSize(9);
    for (byte[] file : files) {
      assertThat(file).isEqualTo(files.get(0));
    }
  }

  @Test
  void generatedAndIdentityColumnsAreCopiedAndDroppedOnesAreNot() {
    TestPostgres.execute(
        database,
        """
        CREATE TABLE grown (
          id int8 GENERATED ALWAYS AS IDENTITY, gone text[],
          twice int4 GENERATED ALWAYS AS (7 * 2) STORED,
          tags text[] GENERATED ALWAYS AS (ARRAY['a', NULL]) STORED,
          number int4 GENERATED BY DEFAULT AS IDENTITY (START 40), lost int4);
        ALTER TABLE grown DROP COLUMN gone, DROP COLUMN lost;
        INSERT INTO grown DEFAULT VALUES\
        """);
    Group row = Extracted.from(postgres, "public.grown").file().read().get(0);
    assertThat(row.getType().getFields().stream().map(Type::getName))
        .containsExactly("id", "twice", "tags", "number");
    assertThat(IntStream.range(0, 4).mapToObj(field -> Stored.value(row, field)))
        .containsExactly("1", "14", Arrays.asList("a", null), "40");
  }

  @Test
  void aVirtualGeneratedColumnIsCopied() {
    assumeThat(Integer.parseInt(TestPostgres.query(database, "SHOW server_version_num")))
        .as("the server's version")
        .isGreaterThanOrEqualTo(180_000);
    TestPostgres.execute(
        database,
        """
        CREATE TABLE virtual (id int4, v int4 GENERATED ALWAYS AS (id * 2) VIRTUAL);
        INSERT INTO virtual VALUES (4)\
        """);
    Group row = Extracted.from(postgres, "public.virtual").file().read().get(0);
    assertThat(Stored.value(row, 1)).isEqualTo("8");
  }

  /** Stands in for pgvector and PostGIS, whose types come from the catalogue by name. */
  @Test
  void typesOfPgvectorAndPostgisAreListsAndWkb(@TempDir Path folder) throws Exception {
    String extended = TestPostgres.createDatabase();
    Path extensions = Files.createDirectories(folder.resolve("extension"));
    for (String name : List.of("vector", "postgis")) {
      Files.writeString(
          extensions.resolve(name + ".control"), "default_version = '1'\nrelocatable = true\n");
    }
    Files.writeString(
        extensions.resolve("vector--1.sql"),
        """
        CREATE TYPE vector;
        CREATE FUNCTION vector_in(cstring) RETURNS vector LANGUAGE internal IMMUTABLE STRICT AS 'textin';
        CREATE FUNCTION vector_out(vector) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
        CREATE TYPE vector (INPUT = vector_in, OUTPUT = vector_out, STORAGE = extended);
        CREATE FUNCTION vector_to_real(vector) RETURNS real[] LANGUAGE plpgsql IMMUTABLE STRICT AS
          'BEGIN RETURN translate(format(''%s'', $1), ''[]'', ''{}'')::real[]; END';
        CREATE CAST (vector AS real[]) WITH FUNCTION vector_to_real(vector)\
        """);
    Files.writeString(
        extensions.resolve("postgis--1.sql"),
        """
        CREATE TYPE geometry;
        CREATE FUNCTION geometry_in(cstring) RETURNS geometry LANGUAGE internal IMMUTABLE STRICT AS 'byteain';
        CREATE FUNCTION geometry_out(geometry) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'byteaout';
        CREATE FUNCTION geometry_send(geometry) RETURNS bytea LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
        CREATE TYPE geometry (
          INPUT = geometry_in, OUTPUT = geometry_out, SEND = geometry_send, STORAGE = extended)\
        """);
    TestPostgres.execute(
        extended,
        """
        SET extension_control_path = '%s:$system';
        CREATE SCHEMA ext;
        CREATE EXTENSION vector SCHEMA ext;
        CREATE EXTENSION postgis SCHEMA ext;
        CREATE TABLE public.places (id int4, v ext.vector, vs ext.vector[], g ext.geometry, gs ext.geometry[]);
        INSERT INTO public.places VALUES
          (1, '[1,-2.5]', '{"[1]",NULL}', '\\x0101', '{"\\\\x01",NULL}'), (2, NULL, NULL, NULL, NULL)\
        """
            .formatted(folder));
    try (Postgres there = TestPostgres.connect(extended)) {
      List<Group> rows = Extracted.from(there, "public.places").file().read();
      Group row = rows.get(0);
      assertThat(row.getType().getFields().stream().map(Stored::type))
          .containsExactly("INT32", "LIST FLOAT", "LIST BINARY STRING", "BINARY", "LIST BINARY");
      assertThat(IntStream.range(1, 5).mapToObj(field -> Stored.value(row, field)))
          .containsExactly(
              List.of("1.0", "-2.5"),
              Arrays.asList("[1]", null),
              "0101",
              Arrays.asList("01", null));
      assertThat(Stored.value(rows.get(1), 1)).isNull();
    }
  }

  @Test
  void aVectorOfPgvectorIsAListOfItsNumbers() {
    requireExtension("vector");
    String there = TestPostgres.createDatabase();
    TestPostgres.execute(
        there,
        """
        CREATE EXTENSION vector;
        CREATE TABLE vectors (id int4, v vector(3), h halfvec(2), s sparsevec(4));
        INSERT INTO vectors VALUES (1, '[1,-2.5,3e-7]', '[1,0.5]', '{1:1.5}/4')\
        """);
    try (Postgres extended = TestPostgres.connect(there)) {
      Group row = Extracted.from(extended, "public.vectors").file().read().get(0);
      assertThat(IntStream.range(1, 4).mapToObj(field -> Stored.value(row, field)))
          .containsExactly(List.of("1.0", "-2.5", "3.0E-7"), List.of("1.0", "0.5"), "{1:1.5}/4");
    }
  }

  @Test
  void aGeometryOfPostgisIsItsWkb() {
    requireExtension("postgis");
    String there = TestPostgres.createDatabase();
    TestPostgres.execute(
        there,
        """
        CREATE EXTENSION postgis;
        CREATE TABLE places (id int4, g geometry, p geography(Point, 4326), empty geometry);
        INSERT INTO places VALUES (1, 'POINT(1 2)', 'POINT(1 2)', 'POINT EMPTY')\
        """);
    try (Postgres extended = TestPostgres.connect(there)) {
      Group row = Extracted.from(extended, "public.places").file().read().get(0);
      for (int field = 1; field < 4; field++) {
        String name = row.getType().getFieldName(field);
        assertThat(Stored.value(row, field))
            .isEqualTo(
                TestPostgres.query(
                    there,
                    "SELECT encode(ST_AsEWKB(%s::geometry), 'hex') FROM places".formatted(name)));
      }
    }
  }

  private static void requireExtension(String name) {
    assumeThat(
            TestPostgres.query(
                database,
                "SELECT 1 FROM pg_available_extensions WHERE name = '%s'".formatted(name)))
        .as("extension %s", name)
        .isNotNull();
  }

  @Test
  void unusualNamesStayAsTheyAre() {
    TestPostgres.execute(
        database,
        """
        CREATE SCHEMA "Lager Süd";
        CREATE TABLE "Lager Süd"."Order" ("user id" int4, "a""b" text, "select" int8, "日付" date, "x.y" int4);
        INSERT INTO "Lager Süd"."Order" VALUES (1, 'x', 2, '2024-01-01', 3)\
        """);
    Extracted extracted = Extracted.from(postgres, "\"Lager Süd\".\"Order\"");
    Group row = extracted.file().read().get(0);
    assertThat(row.getType().getFields().stream().map(Type::getName))
        .containsExactly("user id", "a\"b", "select", "日付", "x.y");
    assertThat(row.getInteger("user id", 0)).isEqualTo(1);
    assertThat(row.getString("a\"b", 0)).isEqualTo("x");
    assertThat(row.getInteger("x.y", 0)).isEqualTo(3);
  }

  @Test
  void theFooterKnowsMinimumMaximumAndTheGivenMetadata() {
    TestPostgres.execute(
        database,
        """
        CREATE TABLE bounds (i int4, l int8, f float4, d float8, n numeric(30,2), s text, b bool, u uuid);
        INSERT INTO bounds VALUES
          (5, -7, 'NaN', -0.0, -12.5, 'b', true, '00000000-0000-0000-0000-000000000001'),
          (-3, 9, 2.5, 0.0, 99.99, '', true, 'f0000000-0000-0000-0000-000000000000'),
          (NULL, NULL, 1.5, NULL, NULL, 'é', NULL, NULL)\
        """);
    Extracted extracted = Extracted.from(postgres, "public.bounds");
    assertThat(extracted.file().footer().getFileMetaData().getKeyValueMetaData())
        .containsEntry("source", "public.bounds");
    List<String> bounds = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Statistics<?> found = statistics(extracted, i);
      bounds.add(found.minAsString() + " " + found.maxAsString() + " " + found.getNumNulls());
    }
    assertThat(bounds)
        .containsExactly(
            "-3 5 1",
            "-7 9 1",
            "1.5 2.5 0",
            "-0.0 0.0 1",
            "-12.50 99.99 1",
            " é 0",
            "true true 1",
            "00000000-0000-0000-0000-000000000001 f0000000-0000-0000-0000-000000000000 1");
  }

  @Test
  void aTableOf1600ColumnsIsCopied() {
    StringBuilder columns = new StringBuilder();
    StringBuilder values = new StringBuilder();
    for (int i = 1; i <= 1600; i++) {
      columns.append(i == 1 ? "" : ", ").append("c").append(i).append(" int4");
      values.append(i == 1 ? "" : ", ").append(i == 1 ? "g" : "g % " + i);
    }
    TestPostgres.execute(database, "CREATE TABLE widest (" + columns + ")");
    TestPostgres.execute(
        database, "INSERT INTO widest SELECT " + values + " FROM generate_series(1, 1500) AS g");
    Extracted extracted = Extracted.from(postgres, "public.widest");
    assertThat(extracted.summary().rowsInFooter()).isEqualTo(1500);
    List<Group> rows = extracted.file().read();
    for (int row : new int[] {0, 1309, 1310, 1499}) {
      assertThat(rows.get(row).getInteger(0, 0)).isEqualTo(row + 1);
      assertThat(rows.get(row).getInteger(1599, 0)).isEqualTo((row + 1) % 1600);
    }
  }

  @Test
  void aPartitionedParentGivesTheRowsOfAllItsPartitions() {
    TestPostgres.execute(
        database,
        """
        CREATE TABLE parted (id int4, v text) PARTITION BY RANGE (id);
        CREATE TABLE parted_a PARTITION OF parted FOR VALUES FROM (0) TO (100);
        CREATE TABLE parted_b PARTITION OF parted FOR VALUES FROM (100) TO (200);
        INSERT INTO parted SELECT i, 'v' || i FROM generate_series(0, 199) AS i\
        """);
    assertThat(Extracted.from(postgres, "public.parted").file().read()).hasSize(200);
  }

  @Test
  void anEmptyTableGivesAFileWithItsColumns() {
    TestPostgres.execute(database, "CREATE TABLE nothing (id int4, v text)");
    Extracted extracted = Extracted.from(postgres, "public.nothing");
    assertThat(extracted.summary().rowsInFooter()).isZero();
    assertThat(extracted.file().footer().getFileMetaData().getSchema().getColumns()).hasSize(2);
  }

  @Test
  void manyRowsOverPagesAndRowGroupsAllArriveInTheirPlace() {
    TestPostgres.execute(
        database,
        """
        CREATE TABLE many (id int8, v text, n int4);
        INSERT INTO many
          SELECT i, CASE WHEN i % 7 <> 0 THEN (SELECT string_agg(md5((i * k)::text), '') FROM generate_series(1, i % 40) AS k) END, CASE WHEN i % 3 = 0 THEN i END
          FROM generate_series(1, 100000) AS i\
        """);
    Extracted extracted = Extracted.from(postgres, "public.many");
    assertThat(extracted.file().footer().getBlocks()).hasSizeGreaterThan(1);
    List<Group> rows = extracted.file().read();
    assertThat(rows).hasSize(100_000);
    // A parallel scan gives the rows of a table in any order.
    rows.sort(Comparator.comparingLong(row -> row.getLong(0, 0)));
    String texts = TestPostgres.query(database, "SELECT sum(length(v))::text FROM many");
    long length = 0;
    for (int i = 0; i < rows.size(); i++) {
      Group row = rows.get(i);
      assertThat(row.getLong(0, 0)).isEqualTo(i + 1);
      assertThat(row.getFieldRepetitionCount(1))
          .isEqualTo((i + 1) % 7 == 0 || (i + 1) % 40 == 0 ? 0 : 1);
      assertThat(row.getFieldRepetitionCount(2)).isEqualTo((i + 1) % 3 == 0 ? 1 : 0);
      if ((i + 1) % 7 != 0 && (i + 1) % 40 != 0) {
        length += row.getString(1, 0).length();
      }
      if ((i + 1) % 3 == 0) {
        assertThat(row.getInteger(2, 0)).isEqualTo(i + 1);
      }
    }
    assertThat(Long.toString(length)).isEqualTo(texts);
  }
}
