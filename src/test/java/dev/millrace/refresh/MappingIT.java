package dev.millrace.refresh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.TableName;
import dev.millrace.testing.TestPostgres;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each pair of types, from a real Postgres to a real ClickHouse by both loads. */
class MappingIT {
  private static final AtomicInteger TABLES = new AtomicInteger();

  private static String database;
  private static Postgres postgres;
  private static Warehouse warehouse;

  @BeforeAll
  static void connect() {
    database = TestPostgres.createDatabase();
    TestPostgres.execute(
        database,
        """
        CREATE TYPE mood AS ENUM ('sad', 'so-so', 'ĝoja', 'it''s \\ odd');
        CREATE DOMAIN price AS numeric(12,2);
        CREATE DOMAIN code AS text;
        CREATE DOMAIN counts AS int4[];
        CREATE TYPE pair AS (x int4, y text);
        ALTER DATABASE %s SET timezone = 'Asia/Kathmandu';
        ALTER DATABASE %s SET datestyle = 'German';
        ALTER DATABASE %s SET bytea_output = 'escape';
        ALTER DATABASE %s SET extra_float_digits = -15;
        ALTER DATABASE %s SET intervalstyle = 'iso_8601'"""
            .formatted(database, database, database, database, database));
    postgres = TestPostgres.connect(database);
    warehouse = Warehouse.create();
  }

  @AfterAll
  static void close() {
    postgres.close();
    warehouse.close();
  }

  /** A value as SQL of Postgres, and how ClickHouse shows what became of it. */
  private record Value(String literal, String shown) {}

  private static Value value(String literal, String shown) {
    return new Value(literal, shown);
  }

  /** Of a type whose values both servers show alike. */
  private static Value same(String text) {
    return new Value("'" + text.replace("'", "''") + "'", text);
  }

  private static Arguments pair(String source, String target, Value... values) {
    return Arguments.of(source, target, List.of(values));
  }

  private static final Value NULL = new Value("NULL", "NULL");

  private static final String NINES_76 = "9".repeat(76);

  static List<Arguments> pairs() {
    return List.of(
        pair("int2", "Int8", same("-128"), same("127")),
        pair("int2", "UInt8", same("0"), same("255")),
        pair("int2", "Int16", same("-32768"), same("32767")),
        pair("int2", "Nullable(UInt256)", same("32767"), NULL),
        pair("int4", "Int32", same("-2147483648"), same("2147483647")),
        pair("int4", "Nullable(Int64)", same("-2147483648"), NULL),
        pair("int4", "UInt32", same("0"), same("2147483647")),
        pair(
            "int8",
            "Int64",
            same("-9223372036854775808"),
            same("9223372036854775807"),
            same("9007199254740993")),
        pair("int8", "UInt64", same("0"), same("9223372036854775807")),
        pair("int8", "Int128", same("-9223372036854775808"), same("9223372036854775807")),
        pair("int8", "Int256", same("-9223372036854775808"), same("-1")),
        pair("int8", "UInt128", same("9223372036854775807")),
        pair("int8", "Int32", same("-2147483648"), same("2147483647")),
        pair(
            "int8",
            "Decimal(38, 4)",
            value("'-9223372036854775808'", "-9223372036854775808"),
            same("0")),
        pair("int4", "Nullable(Decimal(9, 2))", same("9999999"), same("-9999999"), NULL),
        pair("int2", "Decimal(76, 70)", same("-32768"), same("1")),
        pair("int4", "Float64", same("-2147483648"), same("2147483647")),
        pair("int2", "Float32", same("-32768"), same("1")),
        pair("int8", "String", same("-9223372036854775808")),
        pair("numeric(4,0)", "Int16", same("2013"), same("-9999")),
        pair(
            "numeric",
            "Int64",
            same("-9223372036854775808"),
            same("9223372036854775807"),
            value("1.000", "1")),
        pair("numeric", "UInt64", same("18446744073709551615"), same("0")),
        pair(
            "numeric",
            "Int128",
            same("-170141183460469231731687303715884105728"),
            same("170141183460469231731687303715884105727")),
        pair("numeric", "UInt128", same("340282366920938463463374607431768211455")),
        pair(
            "numeric",
            "Int256",
            same("-57896044618658097711785492504343953926634992332820282019728792003956564819968"),
            same("57896044618658097711785492504343953926634992332820282019728792003956564819967")),
        pair(
            "numeric",
            "UInt256",
            same("115792089237316195423570985008687907853269984665640564039457584007913129639935"),
            same("0")),
        pair("numeric", "Int8", same("-128"), same("127")),
        pair("numeric(9,9)", "Decimal(9, 9)", same("0.999999999"), same("-0.000000001"), same("0")),
        pair(
            "numeric(12,2)",
            "Decimal(12, 2)",
            same("9999999999.99"),
            same("-9999999999.99"),
            value("1.10", "1.1"),
            same("-0.01")),
        pair("price", "Nullable(Decimal(18, 4))", same("9999999999.99"), NULL),
        pair(
            "numeric(38,10)",
            "Decimal(38, 10)",
            same("-9999999999999999999999999999.9999999999"),
            same("0.0000000001")),
        pair("numeric(76,0)", "Decimal(76, 0)", same(NINES_76), same("-" + NINES_76)),
        pair("numeric(76,76)", "Decimal(76, 76)", same("0." + NINES_76)),
        pair(
            "numeric",
            "Decimal(38, 19)",
            value("1.5000000000000000000000000000", "1.5"),
            same("-9999999999999999999.9999999999999999999")),
        pair("numeric(3,-2)", "Decimal(5, 0)", same("99900"), same("-100")),
        pair("numeric(2,4)", "Decimal(4, 4)", same("0.0099")),
        pair(
            "numeric",
            "String",
            value("'NaN'", "NaN"),
            same("1.10"),
            value("'-Infinity'", "-Infinity"),
            same("0.1234567890123456789012345678901234567890")),
        pair(
            "float4",
            "Float32",
            value("'NaN'", "nan"),
            value("'-0'", "-0"),
            value("'Infinity'", "inf"),
            value("'-Infinity'", "-inf"),
            value("3.4028235e38", "3.4028235e38"),
            value("1e-45", "1e-45")),
        pair("float4", "Float64", value("0.1", "0.10000000149011612"), value("'NaN'", "nan")),
        pair(
            "float8",
            "Nullable(Float64)",
            value("'NaN'", "nan"),
            value("'-0'", "-0"),
            value("'-Infinity'", "-inf"),
            value("5e-324", "5e-324"),
            value("0.1", "0.1"),
            value("1.7976931348623157e308", "1.7976931348623157e308"),
            NULL),
        pair("bool", "Bool", same("true"), same("false")),
        pair("bool", "Nullable(UInt8)", value("true", "1"), value("false", "0"), NULL),
        pair("bool", "LowCardinality(String)", same("true"), same("false")),
        pair(
            "text",
            "String",
            same(""),
            same("NULL"),
            same("\\N"),
            value(
                "E'tab\\tline\\nback\\\\ \"quote\" '' ; , :'",
                "tab\tline\nback\\ \"quote\" ' ; , :"),
            same("ĝ日付🦀")),
        pair("text", "LowCardinality(Nullable(String))", same("a"), same(""), NULL),
        pair("varchar(5)", "Nullable(String)", same("ab  "), NULL),
        pair("code", "String", same("x")),
        pair("char(5)", "String", value("'ab'", "ab   ")),
        pair("name", "String", same("pg_class")),
        pair(
            "text",
            "FixedString(4)",
            same("abcd"),
            value("'ab'", "ab"),
            value("''", ""),
            value("'日'", "日")),
        pair("mood", "String", same("ĝoja")),
        pair(
            "mood",
            "Enum8('sad' = -128, 'so-so' = 1, 'ĝoja' = 127, 'it\\'s \\\\ odd' = 5)",
            same("sad"),
            same("so-so"),
            same("ĝoja"),
            value("E'it''s \\\\ odd'", "it's \\ odd")),
        pair("text", "Nullable(Enum16('a' = -32768, '' = 32767))", same("a"), same(""), NULL),
        pair("json", "String", value("'{\"a\" :  1}'", "{\"a\" :  1}")),
        pair("jsonb", "Nullable(String)", value("'{\"a\" :  1}'", "{\"a\": 1}"), NULL),
        pair("xml", "String", same("<a>ĝ</a>")),
        pair(
            "bytea",
            "Nullable(String)",
            value("'\\x00ff8027'", "\u0000\ufffd\ufffd'"),
            value("''", ""),
            NULL),
        pair("bytea", "FixedString(2)", value("'\\x0000'", "")),
        pair(
            "uuid",
            "UUID",
            same("00000000-0000-0000-0000-000000000000"),
            same("ffffffff-ffff-ffff-ffff-ffffffffffff"),
            same("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0")),
        pair("uuid", "Nullable(String)", same("0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"), NULL),
        pair("date", "Date", same("1970-01-01"), same("2149-06-06")),
        pair(
            "date",
            "Nullable(Date32)",
            same("1900-01-01"),
            same("2299-12-31"),
            same("2000-02-29"),
            NULL),
        pair("timestamp", "DateTime", same("1970-01-01 00:00:00"), same("2106-02-07 06:28:15")),
        pair(
            "timestamptz",
            "DateTime('Europe/Vilnius')",
            value("'2018-03-25 00:59:59+00'", "2018-03-25 02:59:59"),
            value("'2018-03-25 01:00:00+00'", "2018-03-25 04:00:00")),
        pair(
            "timestamptz",
            "DateTime64(6)",
            same("1900-01-01 00:00:00.000000"),
            value("'2299-12-31 23:59:59.999999+00'", "2299-12-31 23:59:59.999999"),
            value("'2020-01-01 13:13:13+04'", "2020-01-01 09:13:13.000000"),
            value("'1969-12-31 23:59:59.5+00'", "1969-12-31 23:59:59.500000")),
        pair("timestamp", "Nullable(DateTime64(3, 'UTC'))", same("1969-12-31 23:59:59.001"), NULL),
        pair("timestamp(0)", "DateTime64(0, 'Etc/UTC')", same("2020-01-01 00:00:00")),
        pair(
            "timestamptz",
            "DateTime64(9, 'UTC')",
            value("'1900-01-01 00:00:00+00'", "1900-01-01 00:00:00.000000000"),
            value("'2262-04-11 23:47:15.999999+00'", "2262-04-11 23:47:15.999999000")),
        pair(
            "timestamptz",
            "DateTime64(7, 'UTC')",
            value("'1970-01-01 00:00:00.000001+00'", "1970-01-01 00:00:00.0000010"),
            value("'1970-01-01 00:00:00+00'", "1970-01-01 00:00:00.0000000")),
        pair(
            "inet",
            "IPv4",
            value("'10.1.2.3'", "10.1.2.3"),
            same("255.255.255.255"),
            same("0.0.0.0")),
        pair(
            "inet",
            "Nullable(IPv6)",
            same("2001:db8::1"),
            same("::"),
            same("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            NULL),
        pair("inet", "String", same("10.0.0.0/8"), same("10.0.0.1"), same("2001:db8::1")),
        pair("cidr", "String", same("10.0.0.0/8")),
        pair("macaddr", "String", same("08:00:2b:01:02:03")),
        pair("int4range", "Nullable(String)", same("[1,5)"), NULL),
        pair(
            "int4[]",
            "Array(Int32)",
            value("'{}'", "[]"),
            value("'{1,-2147483648}'", "[1,-2147483648]"),
            value("'[5:6]={7,8}'", "[7,8]")),
        pair(
            "counts",
            "Array(Nullable(Int16))",
            value("'{NULL}'", "[NULL]"),
            value("'{1,NULL,3}'", "[1,NULL,3]"),
            value("'{}'", "[]")),
        pair(
            "text[]",
            "Array(Nullable(String))",
            value("'{}'", "[]"),
            value("ARRAY['']", "['']"),
            value("ARRAY[NULL, 'NULL', 'N', 'a,b', '日']", "[NULL,'NULL','N','a,b','日']")),
        pair(
            "varchar(3)[]",
            "Array(LowCardinality(String))",
            value("ARRAY['abc','']", "['abc','']")),
        pair(
            "uuid[]",
            "Array(Nullable(UUID))",
            value("'{}'", "[]"),
            value("'{NULL}'", "[NULL]"),
            value(
                "'{0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0,00000000-0000-0000-0000-000000000000}'",
                "['0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0','00000000-0000-0000-0000-000000000000']")),
        pair(
            "numeric(10,2)[]",
            "Array(Decimal(12, 2))",
            value("'{1.10,-99999999.99}'", "[1.1,-99999999.99]")),
        pair(
            "timestamptz[]",
            "Array(Nullable(DateTime64(6, 'UTC')))",
            value(
                "ARRAY['2020-01-01 00:00:00.123456+00'::timestamptz, NULL]",
                "['2020-01-01 00:00:00.123456',NULL]")),
        pair(
            "date[]",
            "Array(Date32)",
            value("'{1900-01-01,2299-12-31}'", "['1900-01-01','2299-12-31']")),
        pair("bool[]", "Array(Bool)", value("'{t,f}'", "[true,false]")),
        pair("float8[]", "Array(Float64)", value("'{NaN,-0,0.1}'", "[nan,-0,0.1]")),
        pair("bytea[]", "Array(String)", value("ARRAY['\\x41'::bytea, '']", "['A','']")),
        pair(
            "price[]",
            "Array(Nullable(Decimal(12, 2)))",
            value("ARRAY[1.5, NULL]::price[]", "[1.5,NULL]")),
        pair(
            "mood[]",
            "Array(Enum8('sad' = 1, 'ĝoja' = 2))",
            value("'{sad,ĝoja}'", "['sad','ĝoja']")),
        pair("inet[]", "Array(IPv4)", value("'{10.0.0.1}'", "['10.0.0.1']")),
        pair("int4[]", "String", value("'{1,NULL}'", "{1,NULL}")));
  }

  static List<Arguments> pairsByPushOnly() {
    return List.of(
        pair("interval", "String", same("1 day 02:00:00")),
        pair("float8", "String", same("0.1"), value("'NaN'", "NaN")),
        pair(
            "date",
            "String",
            value("'0044-03-15 BC'", "0044-03-15 BC"),
            value("'infinity'", "infinity")),
        pair(
            "timestamptz",
            "Nullable(String)",
            value("'2020-01-01 00:00:00.5+00'", "2020-01-01 00:00:00.5+00"),
            NULL),
        pair("pair", "String", value("ROW(1, 'a b')", "(1,\"a b\")")),
        pair("date[]", "String", value("'{2020-01-01}'", "{2020-01-01}")));
  }

  private static Dimension table(String source, String target, List<Value> values) {
    return table(source, target, values, true);
  }

  private static Dimension table(
      String source, String target, List<Value> values, boolean takesQuery) {
    String name = "t" + TABLES.incrementAndGet();
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < values.size(); i++) {
      rows.add("(%d, %s)".formatted(i, values.get(i).literal()));
    }
    TestPostgres.execute(
        database,
        "SET datestyle = 'ISO'; CREATE TABLE %s (id int8 NOT NULL, x %s); INSERT INTO %s VALUES %s"
            .formatted(name, source, name, String.join(", ", rows)));
    return new Dimension(
        postgres,
        TestPostgres.settings(database),
        warehouse,
        new TableName("public", name),
        List.of("Int64", target),
        takesQuery);
  }

  @ParameterizedTest(name = "{0} to {1}")
  @MethodSource("pairs")
  void arrivesUnchangedByEitherLoad(String source, String target, List<Value> values) {
    Dimension dimension = table(source, target, values);
    for (Load load : Load.values()) {
      dimension.load(load);
      assertArrived(dimension, load, values);
    }
  }

  @ParameterizedTest(name = "{0} to {1}")
  @MethodSource("pairsByPushOnly")
  void arrivesUnchangedByPushWhereTheTextDependsOnTheSession(
      String source, String target, List<Value> values) {
    Dimension dimension = table(source, target, values);
    assertThatThrownBy(() -> dimension.mappings(Load.PULL))
        .isInstanceOf(MillraceException.class)
        .hasMessageContaining("load by push");
    dimension.load(Load.PUSH);
    assertArrived(dimension, Load.PUSH, values);
  }

  private static void assertArrived(Dimension dimension, Load load, List<Value> values) {
    AuditFigures source = dimension.auditSource(load);
    assertThat(dimension.shown(load, "x"))
        .as("%s", load)
        .isEqualTo(values.stream().map(Value::shown).toList());
    assertThat(dimension.differences(load)).as("%s", load).isEmpty();
    assertThat(source.hash()).isNotEqualTo("0");
    assertThat(source.rows()).isEqualTo(Integer.toString(values.size()));
  }

  /** A value of a pair that has no place in the target, and what the message says of it. */
  static List<Arguments> misfits() {
    return List.of(
        misfit("int2", "Int8", "128", "the value 128 of column \"x\" (smallint) is above 127"),
        misfit("int4", "UInt8", "-1", "the value -1 of column \"x\" (integer) is below 0"),
        misfit("int8", "UInt64", "-1", "is below 0, the least UInt64"),
        misfit("int8", "Int32", "2147483648", "is above 2147483647, the greatest Int32"),
        misfit("int4", "Decimal(9, 2)", "10000000", "has too many digits for Decimal(9, 2)"),
        misfit("numeric", "Decimal(12, 2)", "'NaN'", "NaN"),
        misfit("numeric", "Decimal(12, 2)", "'Infinity'", "Infinity"),
        misfit("numeric", "Decimal(12, 2)", "'-Infinity'", "-Infinity"),
        misfit("numeric(12,2)", "Decimal(12, 2)", "'NaN'", "NaN"),
        misfit(
            "numeric(12,2)",
            "Decimal(11, 2)",
            "9999999999.99",
            "has too many digits for Decimal(11, 2)"),
        misfit(
            "numeric(12,2)",
            "Decimal(11, 2)",
            "-1000000000",
            "has too many digits for Decimal(11, 2)"),
        misfit("numeric", "Decimal(12, 2)", "1.105", "has more than the 2 fraction digits"),
        misfit("numeric", "Decimal(12, 2)", "10000000000", "has too many digits"),
        misfit("numeric", "Decimal(76, 0)", "1" + "0".repeat(76), "has too many digits"),
        misfit("numeric", "Int64", "9223372036854775808", "is beyond Int64"),
        misfit("numeric", "Int64", "-9223372036854775809", "is beyond Int64"),
        misfit("numeric", "Int64", "0.5", "is no whole number"),
        misfit("numeric", "UInt8", "256", "is beyond UInt8"),
        misfit("numeric(3,0)", "UInt16", "-1", "is beyond UInt16"),
        misfit(
            "numeric",
            "Int256",
            "57896044618658097711785492504343953926634992332820282019728792003956564819968",
            "is beyond Int256"),
        misfit(
            "numeric",
            "UInt256",
            "115792089237316195423570985008687907853269984665640564039457584007913129639936",
            "is beyond UInt256"),
        misfit("numeric", "UInt256", "9".repeat(78), "is beyond UInt256"),
        misfit("numeric", "UInt256", "1" + "0".repeat(400), "UInt256"),
        misfit(
            "date",
            "Date",
            "'1969-12-31'",
            "the value 1969-12-31 of column \"x\" (date) is before 1970-01-01"),
        misfit("date", "Date", "'2149-06-07'", "is after 2149-06-06"),
        misfit("date", "Date32", "'1899-12-31'", "is before 1900-01-01"),
        misfit("date", "Date32", "'2300-01-01'", "is after 2299-12-31"),
        misfit("date", "Date32", "'0044-03-15 BC'", "0044-03-15 BC"),
        misfit("date", "Date32", "'infinity'", "infinity"),
        misfit("timestamptz", "DateTime64(6)", "'-infinity'", "-infinity"),
        misfit("timestamptz", "DateTime64(6)", "'infinity'", "infinity"),
        misfit(
            "timestamptz",
            "DateTime64(6)",
            "'1899-12-31 23:59:59.999999+00'",
            "is before 1900-01-01"),
        misfit("timestamptz", "DateTime64(6)", "'2300-01-01 00:00:00+00'", "2300-01-01"),
        misfit("timestamptz", "DateTime64(9)", "'2262-04-11 23:47:16+00'", "2262-04-11"),
        misfit("timestamp", "DateTime", "'1969-12-31 23:59:59'", "is before 1970-01-01"),
        misfit("timestamp", "DateTime", "'2106-02-07 06:28:16'", "2106-02-07"),
        misfit(
            "timestamp",
            "DateTime",
            "'2020-01-01 00:00:00.5'",
            "has a fraction finer than DateTime"),
        misfit(
            "timestamptz",
            "DateTime64(3)",
            "'2020-01-01 00:00:00.123456+00'",
            "has a fraction finer than DateTime64(3)"),
        misfit("text", "FixedString(2)", "'日'", "has more than the 2 bytes"),
        misfit("bytea", "FixedString(2)", "'\\x00'", "has not exactly the 2 bytes"),
        misfit(
            "text",
            "Enum8('a' = 1)",
            "'b'",
            "the value b of column \"x\" (text) is none of the names"),
        misfit("mood", "Enum8('sad' = 1)", "'so-so'", "is none of the names"),
        misfit("inet", "IPv4", "'10.0.0.0/8'", "is no single address of IPv4"),
        misfit("inet", "IPv4", "'::1'", "is no single address of IPv4"),
        misfit("inet", "IPv6", "'10.0.0.1'", "is no single address of IPv6"),
        misfit("int4[]", "Array(Int32)", "'{{1},{2}}'", "has more than one dimension"),
        misfit("int4[]", "Array(Int32)", "'{1,NULL}'", "has a NULL among its elements"),
        misfit(
            "int4[]",
            "Array(Int8)",
            "'{1,128}'",
            "the value 128 of column \"x\" (integer[]) is above 127"),
        misfit("numeric[]", "Array(Decimal(12, 2))", "'{NaN}'", "NaN"),
        misfit("date[]", "Array(Nullable(Date32))", "'{infinity}'", "infinity"),
        misfit(
            "text",
            "String",
            "NULL",
            "column \"x\" (text) is NULL in 1 rows, and String holds no NULL"),
        misfit("int4", "Int32", "NULL", "is NULL in 1 rows"),
        misfit("numeric", "Decimal(12, 2)", "NULL", "is NULL in 1 rows"),
        misfit("float8", "Float64", "NULL", "is NULL in 1 rows"),
        misfit("timestamptz", "DateTime64(6)", "NULL", "is NULL in 1 rows"),
        misfit("bool", "Bool", "NULL", "is NULL in 1 rows"),
        misfit("uuid", "UUID", "NULL", "is NULL in 1 rows"),
        misfit("bytea", "String", "NULL", "is NULL in 1 rows"),
        misfit("text", "LowCardinality(String)", "NULL", "is NULL in 1 rows"),
        misfit("date", "Date", "NULL", "is NULL in 1 rows"),
        misfit("int4[]", "Array(Nullable(Int32))", "NULL", "is NULL in 1 rows"));
  }

  private static Arguments misfit(String source, String target, String literal, String message) {
    return Arguments.of(source, target, literal, message);
  }

  @ParameterizedTest(name = "{0} to {1}: {2}")
  @MethodSource("misfits")
  void aValueWithoutAPlaceIsAnErrorBeforeAndDuringEachLoad(
      String source, String target, String literal, String message) {
    Dimension dimension = table(source, target, List.of(value(literal, null)));
    assertThatThrownBy(() -> dimension.auditSource(Load.PUSH))
        .isInstanceOfSatisfying(
            MillraceException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.VALUE_OUT_OF_RANGE))
        .hasMessageContaining(message);
    for (Load load : Load.values()) {
      assertThatThrownBy(() -> dimension.load(load))
          .as("%s", load)
          .isInstanceOf(RuntimeException.class);
      assertThat(warehouse.count(dimension.target(load))).as("%s", load).isZero();
    }
  }

  @Test
  void aPushThatFailsNamesColumnAndKey() {
    Dimension dimension =
        table("numeric", "Decimal(5, 2)", List.of(value("1", "1"), value("1.005", null)));
    assertThatThrownBy(() -> dimension.load(Load.PUSH))
        .isInstanceOfSatisfying(
            MillraceException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.VALUE_OUT_OF_RANGE))
        .hasMessageContaining(
            "the value of column \"x\" (numeric to Decimal(5, 2)) in the row with \"id\" = 1 has more than the 2 fraction digits");
  }

  @Test
  void aPullThatFailsNamesColumnAndValue() {
    Dimension dimension = table("numeric", "Decimal(5, 2)", List.of(value("1.005", null)));
    assertThatThrownBy(() -> dimension.load(Load.PULL))
        .hasMessageContaining(
            "column \"x\" (numeric) has a value that Decimal(5, 2) can't hold: 1.005");
  }
}
