package dev.millrace.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Postgres;
import dev.millrace.testing.TestPostgres;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.TimeZone;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.parquet.column.statistics.Statistics;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.JsonLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.StringLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.Type;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
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
        CREATE TYPE pair AS (x int4, y text)""");
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
        type("\"char\"", "BINARY STRING", value("x", "x")),
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
        type("int4[]", "BINARY STRING", value("{1,NULL}", "{1,NULL}"), value("{}", "{}")),
        type("uuid[]", "BINARY STRING", value("{}", "{}"), value("{NULL}", "{NULL}")),
        type("interval", "BINARY STRING", value("1 day 2 hours", "1 day 02:00:00")),
        type("inet", "BINARY STRING", value("10.0.0.1/8", "10.0.0.1/8")),
        type("int4range", "BINARY STRING", value("[1,3]", "[1,4)")),
        type("pair", "BINARY STRING", value("(1,\"a b\")", "(1,\"a b\")")),
        type("timetz", "BINARY STRING", value("10:00+02", "10:00:00+02")),
        type("bit(3)", "BINARY STRING", value("101", "101")),
        type("xml", "BINARY STRING", value("<a/>", "<a/>")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("types")
  void aTypeKeepsItsValuesAsTheTableSays(String declared, String parquet, List<Value> values)
      throws Exception {
    String table = table(declared, values.stream().map(Value::literal).toList());
    TestPostgres.execute(database, "INSERT INTO " + table + " VALUES (1000, NULL)");

    Extracted extracted = Extracted.from(postgres, table);
    List<Group> rows = extracted.file().read();
    PrimitiveType type = rows.get(0).getType().getType(1).asPrimitiveType();
    assertThat(shown(type)).isEqualTo(parquet);
    assertThat(rows).hasSize(values.size() + 1);
    assertThat(rows.get(values.size()).getFieldRepetitionCount(1)).isZero();
    List<String> stored = new ArrayList<>();
    for (Group row : rows.subList(0, values.size())) {
      stored.add(stored(type, row));
    }
    assertThat(stored).containsExactlyElementsOf(values.stream().map(Value::stored).toList());
    assertThat(statistics(extracted, 1).getNumNulls()).isEqualTo(1);
    assertThat(extracted.summary().rowsEncoded()).isEqualTo(values.size() + 1);
    assertThat(extracted.summary().rowsInFooter()).isEqualTo(values.size() + 1);
    assertThat(extracted.copied()).isEqualTo(values.size() + 1);
    assertThat(extracted.summary().bytes()).isEqualTo(extracted.file().getLength());
    assertSameAsPostgresText(table, type, rows.subList(0, values.size()));
  }

  /** Postgres' own text form is the second opinion, where the stored form is text-like. */
  private static void assertSameAsPostgresText(String table, PrimitiveType type, List<Group> rows)
      throws Exception {
    List<String> texts =
        postgres.read(
            connection -> {
              List<String> found = new ArrayList<>();
              String epoch =
                  switch (type.getLogicalTypeAnnotation() == null
                      ? ""
                      : type.getLogicalTypeAnnotation().toString()) {
                    case "DATE" -> "v - date '1970-01-01'";
                    case "TIME(MICROS,false)" -> "(extract(epoch FROM v) * 1000000)::int8";
                    case "TIMESTAMP(MICROS,false)", "TIMESTAMP(MICROS,true)" ->
                        "(extract(epoch FROM v) * 1000000)::numeric(30,0)";
                    case "UUID" -> "replace(v::text, '-', '')";
                    default ->
                        type.getPrimitiveTypeName() == PrimitiveType.PrimitiveTypeName.BINARY
                                && type.getLogicalTypeAnnotation() == null
                            ? "substr(v::text, 3)"
                            : "v::text";
                  };
              try (Statement statement = connection.createStatement();
                  ResultSet row =
                      statement.executeQuery(
                          "SELECT " + epoch + " FROM " + table + " WHERE id < 1000 ORDER BY id")) {
                while (row.next()) {
                  found.add(row.getString(1));
                }
              }
              return found;
            });
    for (int i = 0; i < rows.size(); i++) {
      String stored = stored(type, rows.get(i));
      switch (type.getPrimitiveTypeName()) {
        case FLOAT -> assertThat(Float.valueOf(stored)).isEqualTo(Float.valueOf(texts.get(i)));
        case DOUBLE -> assertThat(Double.valueOf(stored)).isEqualTo(Double.valueOf(texts.get(i)));
        default -> assertThat(stored.stripTrailing()).isEqualTo(texts.get(i).stripTrailing());
      }
    }
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

  private static String shown(PrimitiveType type) {
    String physical = type.getPrimitiveTypeName().toString();
    if (type.getPrimitiveTypeName() == PrimitiveType.PrimitiveTypeName.FIXED_LEN_BYTE_ARRAY) {
      physical += "(" + type.getTypeLength() + ")";
    }
    LogicalTypeAnnotation logical = type.getLogicalTypeAnnotation();
    return logical == null ? physical : physical + " " + logical;
  }

  private static String stored(PrimitiveType type, Group row) {
    LogicalTypeAnnotation logical = type.getLogicalTypeAnnotation();
    if (logical instanceof DecimalLogicalTypeAnnotation decimal) {
      BigInteger unscaled =
          switch (type.getPrimitiveTypeName()) {
            case INT32 -> BigInteger.valueOf(row.getInteger(1, 0));
            case INT64 -> BigInteger.valueOf(row.getLong(1, 0));
            default -> new BigInteger(row.getBinary(1, 0).getBytes());
          };
      return new BigDecimal(unscaled, decimal.getScale()).toPlainString();
    }
    return switch (type.getPrimitiveTypeName()) {
      case INT32 -> Integer.toString(row.getInteger(1, 0));
      case INT64 -> Long.toString(row.getLong(1, 0));
      case FLOAT -> Float.toString(row.getFloat(1, 0));
      case DOUBLE -> Double.toString(row.getDouble(1, 0));
      case BOOLEAN -> Boolean.toString(row.getBoolean(1, 0));
      case BINARY, FIXED_LEN_BYTE_ARRAY ->
          logical instanceof StringLogicalTypeAnnotation
                  || logical instanceof JsonLogicalTypeAnnotation
              ? row.getBinary(1, 0).toStringUsingUTF8()
              : HexFormat.of().formatHex(row.getBinary(1, 0).getBytes());
      case INT96 -> throw new AssertionError();
    };
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

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("refusals")
  void aValueThatParquetCanNotHoldFailsWithColumnAndKey(
      String declared, String literal, String reason) {
    String table = table(declared, List.of());
    TestPostgres.execute(
        database,
        "INSERT INTO %s SELECT i, NULL FROM generate_series(1, 5000) AS i".formatted(table));
    TestPostgres.execute(database, "INSERT INTO %s VALUES (4711, '%s')".formatted(table, literal));
    assertThatThrownBy(() -> Extracted.from(postgres, table))
        .isInstanceOfSatisfying(
            MillraceException.class,
            e -> assertThat(e.code()).isEqualTo(ErrorCode.VALUE_OUT_OF_RANGE))
        .hasMessageContaining("column \"v\"")
        .hasMessageContaining("\"id\" = 4711")
        .hasMessageContaining(reason);
  }

  @Test
  void theLastTimestampInMicrosecondsIsHeld() {
    Extracted extracted =
        Extracted.from(postgres, table("timestamp", List.of("294247-01-10 04:00:54.775807")));
    assertThat(extracted.file().read().get(0).getLong(1, 0)).isEqualTo(Long.MAX_VALUE);
  }

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
  void theZoneOfTheJvmChangesNoByte() {
    TestPostgres.execute(
        database,
        """
        CREATE TABLE moments (id int4, d date, t time, ts timestamp, tz timestamptz);
        INSERT INTO moments VALUES
          (1, '2018-03-25', '03:17:17', '2018-03-25 03:17:17', '2018-03-25 03:17:17Z'),
          (2, '0044-03-15 BC', '00:00', '0044-03-15 BC', '0044-03-15 00:00Z BC'),
          (3, '1900-01-01', '23:59:59.999999', '1900-01-01 00:00:01', '1900-01-01 00:00:01+05:41:16')""");
    TimeZone before = TimeZone.getDefault();
    List<byte[]> files = new ArrayList<>();
    try {
      for (String zone : List.of("UTC", "Europe/Vilnius", "Asia/Kathmandu")) {
        TimeZone.setDefault(TimeZone.getTimeZone(zone));
        try (Postgres there = TestPostgres.connect(database)) {
          files.add(Extracted.from(there, "public.moments").file().bytes());
        }
      }
    } finally {
      TimeZone.setDefault(before);
    }
    assertThat(files.get(1)).isEqualTo(files.get(0));
    assertThat(files.get(2)).isEqualTo(files.get(0));
  }

  @Test
  void unusualNamesStayAsTheyAre() {
    TestPostgres.execute(
        database,
        """
        CREATE SCHEMA "Lager Süd";
        CREATE TABLE "Lager Süd"."Order" ("user id" int4, "a""b" text, "select" int8, "日付" date, "x.y" int4);
        INSERT INTO "Lager Süd"."Order" VALUES (1, 'x', 2, '2024-01-01', 3)""");
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
          (NULL, NULL, 1.5, NULL, NULL, 'é', NULL, NULL)""");
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
        INSERT INTO parted SELECT i, 'v' || i FROM generate_series(0, 199) AS i""");
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
          FROM generate_series(1, 100000) AS i""");
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
