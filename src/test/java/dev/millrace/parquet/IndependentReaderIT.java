package dev.millrace.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.parquet.FileFormat.Compression;
import dev.millrace.postgres.Postgres;
import dev.millrace.testing.TestClickHouse;
import dev.millrace.testing.TestPostgres;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Array;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.parquet.example.data.Group;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Reads our files with parquet-java's record reader, DuckDB and ClickHouse, which share no code
 * with each other or with us, and compares them with what Postgres says (cases 21, 22, 23, 29, 30,
 * 31, 33 and 35).
 */
class IndependentReaderIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** How a value is shown, as an expression of each database, so that all can show it alike. */
  private enum Form {
    TEXT("%s::text", "%s::VARCHAR", "%s", "String"),
    /** Not cast, which would strip its blanks. */
    PADDED("CASE WHEN %1$s IS NOT NULL THEN format('%%s', %1$s) END", "%s", "%s", "String"),
    BOOL("%s::text", "%s::VARCHAR", "toString(%s)", "Bool"),
    INTEGER("%s::text", "%s::VARCHAR", "toString(%s)", "Int64"),
    OID("%s::int8::text", "%s::VARCHAR", "toString(%s)", "Int64"),
    DECIMAL("%s::numeric::text", "%s::VARCHAR", "toString(%s)", "Decimal"),
    FLOAT("%s::text", "%s::VARCHAR", "toString(%s)", "Float32"),
    DOUBLE("%s::text", "%s::VARCHAR", "toString(%s)", "Float64"),
    BYTES("encode(%s, 'hex')", "lower(hex(%s))", "lower(hex(%s))", "String"),
    UUID(
        "replace(%s::text, '-', '')",
        "replace(%s::VARCHAR, '-', '')", "replaceAll(toString(%s), '-', '')", "UUID"),
    DATE(
        "(%s - date '1970-01-01')::text",
        "(%s - DATE '1970-01-01')::VARCHAR", "toString(%s)", "Int32"),
    TIME(
        "(extract(epoch FROM %s) * 1000000)::int8::text",
        "epoch_us(%s)::VARCHAR", "toString(%s)", "Time64(6)"),
    MOMENT(
        "(extract(epoch FROM %s) * 1000000)::numeric(30,0)::text",
        "epoch_us(%s)::VARCHAR", "toString(toUnixTimestamp64Micro(%s))", "DateTime64(6)");

    private final String postgres;
    private final String duckDb;
    private final String clickHouse;
    private final String clickHouseType;

    Form(String postgres, String duckDb, String clickHouse, String clickHouseType) {
      this.postgres = postgres;
      this.duckDb = duckDb;
      this.clickHouse = clickHouse;
      this.clickHouseType = clickHouseType;
    }

    /** Numbers are compared as numbers: readers differ in zeros at their ends. */
    private String normal(String text) {
      if (text == null) {
        return null;
      }
      return switch (this) {
        case DECIMAL -> new BigDecimal(text).stripTrailingZeros().toPlainString();
        case FLOAT -> Float.toString(Float.parseFloat(spelled(text)));
        case DOUBLE -> Double.toString(Double.parseDouble(spelled(text)));
        // ClickHouse has no number for it.
        case TIME ->
            text.contains(":") ? Long.toString(LocalTime.parse(text).toNanoOfDay() / 1000) : text;
        case TEXT, PADDED, BOOL, INTEGER, OID, BYTES, UUID, DATE, MOMENT -> text;
      };
    }

    private static String spelled(String text) {
      return text.replace("nan", "NaN").replaceFirst("inf$", "Infinity");
    }
  }

  /**
   * A type and values of it: minimum, maximum, empty and others.
   *
   * @param digits precision and scale in ClickHouse's words; empty for what is no decimal
   */
  private record Case(String type, Form form, String digits, List<String> literals) {}

  private static Case of(String type, Form form, String... literals) {
    return new Case(type, form, "", List.of(literals));
  }

  private static Case decimal(String type, int precision, int scale, String... literals) {
    return new Case(type, Form.DECIMAL, "(%d, %d)".formatted(precision, scale), List.of(literals));
  }

  private static final List<Case> CASES =
      List.of(
          of("int2", Form.INTEGER, "-32768", "32767", "0"),
          of("int4", Form.INTEGER, "-2147483648", "2147483647", "0"),
          // Case 33.
          of(
              "int8",
              Form.INTEGER,
              "-9223372036854775808",
              "9223372036854775807",
              "9007199254740993"),
          of("oid", Form.OID, "0", "4294967295"),
          of("float4", Form.FLOAT, "-3.4028235e38", "1e-45", "-0", "NaN", "Infinity", "-Infinity"),
          of(
              "float8",
              Form.DOUBLE,
              "-1.7976931348623157e308",
              "5e-324",
              "-0",
              "0.1",
              "NaN",
              "Infinity",
              "-Infinity"),
          // Cases 21 and 23.
          decimal("numeric(4,0)", 4, 0, "2013", "-9999", "9999", "0"),
          decimal("numeric(9,9)", 9, 9, "0.999999999", "-0.999999999", "-0.000000001"),
          decimal("numeric(12,2)", 12, 2, "9999999999.99", "-9999999999.99", "-20000", "1.10"),
          decimal("numeric(18,0)", 18, 0, "999999999999999999", "-999999999999999999"),
          decimal("numeric(19,19)", 19, 19, "0.1234567890123456789", "-0.9999999999999999999"),
          decimal(
              "numeric(32,16)",
              32,
              16,
              "9999999999999999.9999999999999999",
              "-9999999999999999.9999999999999999",
              "-0.0000000000000001"),
          decimal(
              "numeric(38,0)",
              38,
              0,
              "9".repeat(38),
              "-" + "9".repeat(38),
              "-18446744073709551616",
              "18446744073709551616"),
          decimal("price", 12, 2, "1.10", "0"),
          decimal("money", 19, 2, "-92233720368547758.08", "92233720368547758.07"),
          of("numeric", Form.TEXT, "NaN", "Infinity", "1e-30", "-1e300", "1.10"),
          of("numeric(100,0)", Form.TEXT, "1e99", "-7"),
          of("numeric(3,-2)", Form.TEXT, "12345", "-99900"),
          of("text", Form.TEXT, "", "日付 ünïcödé 🚂", "NULL", "{}", "\""),
          of("varchar(3)", Form.TEXT, "", "abc"),
          of("char(4)", Form.PADDED, "", "ab", "abcd"),
          of("name", Form.TEXT, "", "n".repeat(63)),
          of("\"char\"", Form.TEXT, "", "x", "\\377"),
          of("mood", Form.TEXT, "sad", "ĝoja"),
          of("bool", Form.BOOL, "true", "false"),
          // Case 35.
          of("bytea", Form.BYTES, "\\x00ff80", "", "\\x7b7d"),
          of(
              "uuid",
              Form.UUID,
              "00000000-0000-0000-0000-000000000000",
              "ffffffff-ffff-ffff-ffff-ffffffffffff",
              "12345678-9abc-def0-1234-56789abcdef0"),
          of("json", Form.TEXT, "{\"b\":1,  \"a\":2}", "null", "\"\""),
          of("jsonb", Form.TEXT, "{\"b\": [1, null], \"a\": \"ü\"}", "null", "{}"),
          of(
              "date",
              Form.DATE,
              "4714-11-24 BC",
              "5874897-12-31",
              "15000-01-01",
              "0044-03-15 BC",
              "1970-01-01"),
          of("time", Form.TIME, "00:00", "23:59:59.999999"),
          // Case 29.
          of(
              "timestamp",
              Form.MOMENT,
              "4714-11-24 BC",
              "294246-12-31 23:59:59.999999",
              "15000-01-01",
              "0044-03-15 BC",
              "2018-03-25 03:17:17.123456",
              "1969-12-31 23:59:59.999999"),
          // Case 30.
          of(
              "timestamptz",
              Form.MOMENT,
              "4714-11-24 00:00Z BC",
              "294246-12-31 23:59:59.999999Z",
              "2024-05-06 13:13:13+04",
              "0044-03-15 00:00Z BC"),
          of("timetz", Form.TEXT, "00:00+15:59:59", "24:00-15:59:59", "10:00+02"),
          of(
              "interval",
              Form.TEXT,
              "-178000000 years",
              "178000000 years",
              "1 day 0.000001 seconds",
              "infinity",
              "0"),
          of("inet", Form.TEXT, "0.0.0.0", "ffff::/16", "10.0.0.1/8"),
          of("cidr", Form.TEXT, "::/0", "10.0.0.0/8"),
          of("macaddr", Form.TEXT, "00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"),
          of("macaddr8", Form.TEXT, "00:00:00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff:ff:ff"),
          of("bit(3)", Form.TEXT, "000", "111"),
          of("varbit", Form.TEXT, "", "1" + "0".repeat(99)),
          of("xml", Form.TEXT, "<a/>", "<b x=\"ü\">🚂</b>"),
          of("hstore", Form.TEXT, "", "a=>1, \"b c\"=>NULL"),
          of("int4range", Form.TEXT, "empty", "(,)", "[-2147483648,2147483646]"),
          of("int8range", Form.TEXT, "[1,2)"),
          of("numrange", Form.TEXT, "[1.10,2)", "empty"),
          of("tsrange", Form.TEXT, "[-infinity,infinity]", "(,)"),
          of("tstzrange", Form.TEXT, "[2024-05-06 13:13:13+04,)"),
          of("daterange", Form.TEXT, "[0044-03-15 BC,15000-01-01)"),
          of("int8multirange", Form.TEXT, "{}", "{[1,3],[7,8)}"),
          of("pair", Form.TEXT, "(,)", "(1,\"a b\")", "(,\"\")"),
          of("tsvector", Form.TEXT, "", "'a':1 'b':2A"),
          of("tsquery", Form.TEXT, "'a' & !'b'"),
          of("regclass", Form.TEXT, "pg_class", "-"),
          of("regtype", Form.TEXT, "int4", "mood"),
          of("xid8", Form.TEXT, "0", "18446744073709551615"),
          of("pg_lsn", Form.TEXT, "0/0", "FFFFFFFF/FFFFFFFF"),
          of("tid", Form.TEXT, "(0,0)", "(4294967295,65535)"),
          of("point", Form.TEXT, "(0.1,-2)", "(NaN,Infinity)"),
          of("box", Form.TEXT, "(1,1),(0,0)"),
          of("path", Form.TEXT, "[(0,0),(1,1)]"),
          of("jsonpath", Form.TEXT, "$.\"a\"[*]"),
          of("int2vector", Form.TEXT, "", "1 2"));

  @TempDir private Path folder;

  @Test
  void everyReaderSeesOfEveryTypeWhatPostgresHas() throws Exception {
    String database = TestPostgres.createDatabase();
    TestPostgres.execute(
        database,
        """
        CREATE TYPE mood AS ENUM ('sad', 'ĝoja');
        CREATE DOMAIN price AS numeric(12,2) CHECK (VALUE >= 0);
        CREATE TYPE pair AS (x int4, y text);
        CREATE EXTENSION hstore WITH SCHEMA pg_catalog\
        """);
    fill(database);
    try (Postgres postgres = TestPostgres.connect(database);
        TestClickHouse clickHouse = TestClickHouse.start(folder.resolve("clickhouse"))) {
      Extracted extracted = Extracted.from(postgres, "public.kinds");
      Path file = Files.write(userFile("kinds.parquet"), extracted.file().bytes());
      List<List<Object>> expected = inPostgres(postgres);
      assertSame("parquet-java", expected, inParquetJava(extracted.file()), false);
      assertSame("DuckDB", expected, inDuckDb(file), false);
      // ClickHouse has no NULL beside an empty array.
      assertSame("ClickHouse", expected, inClickHouse(clickHouse, file), true);
    }
  }

  /** Returns a file that ClickHouse may read. */
  private Path userFile(String name) throws IOException {
    return Files.createDirectories(folder.resolve("clickhouse/data/user_files")).resolve(name);
  }

  /** One row for each value, one of NULLs, one of empty arrays and values. */
  private static void fill(String database) {
    int rows = CASES.stream().mapToInt(one -> one.literals().size()).max().orElseThrow();
    List<String> columns = new ArrayList<>(List.of("id int4"));
    for (int i = 0; i < CASES.size(); i++) {
      columns.add("v%d %s, a%d %s[]".formatted(i, CASES.get(i).type(), i, CASES.get(i).type()));
    }
    TestPostgres.execute(database, "CREATE TABLE kinds (" + String.join(", ", columns) + ")");
    TestPostgres.execute(database, "INSERT INTO kinds (id) VALUES (1000)");
    for (int row = 0; row < rows; row++) {
      List<String> values = new ArrayList<>(List.of(Integer.toString(row)));
      for (Case one : CASES) {
        String value =
            row < one.literals().size()
                ? "'" + one.literals().get(row).replace("'", "''") + "'::" + one.type()
                : "NULL";
        values.add(value);
        values.add(
            switch (row) {
              case 0 -> "'{}'";
              case 1 -> "'{NULL}'";
              default -> "ARRAY[NULL, " + value + ", " + value + "]::" + one.type() + "[]";
            });
      }
      TestPostgres.execute(
          database, "INSERT INTO kinds VALUES (" + String.join(", ", values) + ")");
    }
    // All values of a type in one array.
    List<String> values = new ArrayList<>(List.of("999"));
    for (Case one : CASES) {
      values.add("NULL");
      values.add(
          one.literals().stream()
              .map(literal -> "'" + literal.replace("'", "''") + "'::" + one.type())
              .reduce((left, right) -> left + ", " + right)
              .map(list -> "ARRAY[" + list + "]")
              .orElseThrow());
    }
    TestPostgres.execute(database, "INSERT INTO kinds VALUES (" + String.join(", ", values) + ")");
  }

  private static void assertSame(
      String reader, List<List<Object>> expected, List<List<Object>> found, boolean nullIsEmpty) {
    assertThat(found).as(reader).hasSameSizeAs(expected);
    for (int row = 0; row < expected.size(); row++) {
      for (int i = 0; i < CASES.size(); i++) {
        Form form = CASES.get(i).form();
        String what = "%s, %s, row %d".formatted(reader, CASES.get(i).type(), row);
        assertThat(normal(form, found.get(row).get(2 * i)))
            .as(what)
            .isEqualTo(normal(form, expected.get(row).get(2 * i)));
        Object list = expected.get(row).get(2 * i + 1);
        assertThat(normal(form, found.get(row).get(2 * i + 1)))
            .as(what + ", array")
            .isEqualTo(list == null && nullIsEmpty ? List.of() : normal(form, list));
      }
    }
  }

  private static Object normal(Form form, Object value) {
    return value instanceof List<?> list
        ? list.stream().map(element -> form.normal((String) element)).toList()
        : form.normal((String) value);
  }

  private static List<List<Object>> inPostgres(Postgres postgres) {
    List<String> list = new ArrayList<>();
    for (int i = 0; i < CASES.size(); i++) {
      String form = CASES.get(i).form().postgres;
      list.add(form.formatted("v" + i));
      list.add(
          "CASE WHEN a%1$d IS NOT NULL THEN (SELECT coalesce(jsonb_agg(%2$s ORDER BY o), '[]') FROM generate_subscripts(a%1$d, 1) AS o)::text END"
              .formatted(i, form.formatted("a%d[o]".formatted(i))));
    }
    String query = "SELECT " + String.join(", ", list) + " FROM public.kinds ORDER BY id";
    return postgres.read(
        connection -> {
          List<List<Object>> rows = new ArrayList<>();
          try (Statement statement = connection.createStatement();
              ResultSet result = statement.executeQuery(query)) {
            while (result.next()) {
              List<Object> row = new ArrayList<>();
              for (int i = 0; i < CASES.size(); i++) {
                row.add(result.getString(2 * i + 1));
                row.add(list(result.getString(2 * i + 2)));
              }
              rows.add(row);
            }
          }
          return rows;
        });
  }

  private static List<Object> list(String json) {
    try {
      return json == null ? null : list(JSON.readTree(json));
    } catch (JsonProcessingException e) {
      throw new AssertionError(json, e);
    }
  }

  private static List<Object> list(JsonNode array) {
    List<Object> elements = new ArrayList<>();
    array.forEach(element -> elements.add(element.textValue()));
    return elements;
  }

  private static List<List<Object>> inParquetJava(MemoryFile file) {
    List<Group> groups = new ArrayList<>(file.read());
    groups.sort((left, right) -> Integer.compare(left.getInteger(0, 0), right.getInteger(0, 0)));
    List<List<Object>> rows = new ArrayList<>();
    for (Group group : groups) {
      List<Object> row = new ArrayList<>();
      for (int field = 1; field < group.getType().getFieldCount(); field++) {
        row.add(Stored.value(group, field));
      }
      rows.add(row);
    }
    return rows;
  }

  private static List<List<Object>> inDuckDb(Path file) throws SQLException {
    List<String> list = new ArrayList<>();
    for (int i = 0; i < CASES.size(); i++) {
      String form = CASES.get(i).form().duckDb;
      list.add(form.formatted("v" + i));
      list.add("list_transform(a%d, lambda x: %s)".formatted(i, form.formatted("x")));
    }
    String query =
        "SELECT %s FROM read_parquet('%s') ORDER BY id".formatted(String.join(", ", list), file);
    List<List<Object>> rows = new ArrayList<>();
    try (Connection duckDb = DriverManager.getConnection("jdbc:duckdb:");
        Statement statement = duckDb.createStatement();
        ResultSet result = statement.executeQuery(query)) {
      while (result.next()) {
        List<Object> row = new ArrayList<>();
        for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
          Object value = result.getObject(i);
          row.add(
              value instanceof Array array ? Arrays.asList((Object[]) array.getArray()) : value);
        }
        rows.add(row);
      }
    }
    return rows;
  }

  private static List<List<Object>> inClickHouse(TestClickHouse clickHouse, Path file)
      throws IOException {
    List<String> structure = new ArrayList<>(List.of("id Int32"));
    List<String> list = new ArrayList<>();
    for (int i = 0; i < CASES.size(); i++) {
      Form form = CASES.get(i).form();
      String type = "Nullable(%s%s)".formatted(form.clickHouseType, CASES.get(i).digits());
      structure.add("v%d %s, a%d Array(%s)".formatted(i, type, i, type));
      list.add(form.clickHouse.formatted("v" + i));
      list.add("arrayMap(x -> %s, a%d)".formatted(form.clickHouse.formatted("x"), i));
    }
    String answer =
        clickHouse.query(
            "SELECT %s FROM file('%s', Parquet, '%s') ORDER BY id FORMAT JSONCompactEachRow"
                .formatted(String.join(", ", list), file, String.join(", ", structure)));
    List<List<Object>> rows = new ArrayList<>();
    for (String line : answer.lines().toList()) {
      List<Object> row = new ArrayList<>();
      JSON.readTree(line)
          .forEach(value -> row.add(value.isArray() ? list(value) : value.textValue()));
      rows.add(row);
    }
    return rows;
  }

  @Test
  void otherReadersAgreeOnRowsSumsAndFiltersOverPagesAndRowGroups() throws Exception {
    String database = TestPostgres.createDatabase();
    TestPostgres.execute(
        database,
        """
        CREATE TABLE many AS
          SELECT i AS id, md5(i::text) || md5((-i)::text) || md5((i + 7)::text) AS v,
                 CASE WHEN i % 3 = 0 THEN (i % 1000)::numeric(12,2) / 7 END AS ignored,
                 CASE WHEN i % 11 <> 0 THEN i * 1003 % 65537 END AS n,
                 CASE WHEN i % 5 <> 0 THEN array_fill(i, ARRAY[i % 9]) END AS l
          FROM generate_series(1, 500000) AS i\
        """);
    try (Postgres postgres = TestPostgres.connect(database);
        TestClickHouse clickHouse = TestClickHouse.start(folder.resolve("clickhouse"))) {
      Extracted extracted = Extracted.from(postgres, "public.many");
      assertThat(extracted.file().footer().getBlocks()).hasSizeGreaterThan(1);
      Path file = Files.write(userFile("many.parquet"), extracted.file().bytes());
      String all =
          "SELECT count(*), count(n), sum(n), min(v), max(v), sum(length(v)), sum(CASE WHEN id"
              + " BETWEEN 150000 AND 150009 THEN n END), sum(%s) FROM %s";
      String some = "SELECT count(*), sum(n) FROM %s WHERE id > 399000 AND v > 'f'";
      List<String> expected =
          List.of(
              numbers(
                  postgres, all.formatted("(SELECT sum(e) FROM unnest(l) AS e)", "public.many")),
              numbers(postgres, some.formatted("public.many")));
      String inDuckDb = "read_parquet('" + file + "')";
      try (Connection duckDb = DriverManager.getConnection("jdbc:duckdb:")) {
        assertThat(numbers(duckDb, all.formatted("list_sum(l)", inDuckDb)))
            .isEqualTo(expected.get(0));
        assertThat(numbers(duckDb, some.formatted(inDuckDb))).isEqualTo(expected.get(1));
      }
      String inClickHouse = "file('" + file + "', Parquet)";
      assertThat(
              clickHouse.query(
                  all.formatted("arraySum(arrayMap(x -> assumeNotNull(x), l))", inClickHouse)))
          .isEqualTo(expected.get(0));
      assertThat(clickHouse.query(some.formatted(inClickHouse))).isEqualTo(expected.get(1));
    }
  }

  @Test
  void otherReadersReadEachCompressionAndSizeOfRowGroups() throws Exception {
    String database = TestPostgres.createDatabase();
    TestPostgres.execute(
        database,
        """
        CREATE TABLE few AS
          SELECT i AS id, md5(i::text) AS v, ARRAY[i::text, NULL] AS l
          FROM generate_series(1, 100000) AS i\
        """);
    try (Postgres postgres = TestPostgres.connect(database);
        TestClickHouse clickHouse = TestClickHouse.start(folder.resolve("clickhouse"));
        Connection duckDb = DriverManager.getConnection("jdbc:duckdb:")) {
      String query = "SELECT count(*), sum(id), min(v), max(v), count(%s) FROM %s";
      String expected = numbers(postgres, query.formatted("l[1]", "public.few"));
      List<Long> sizes = new ArrayList<>();
      for (Compression compression : Compression.values()) {
        FileFormat format = new FileFormat(compression, 3, 1 << 20);
        Path file = userFile(compression + ".parquet");
        MemoryFile written = Extracted.write(postgres, "public.few", format);
        Files.write(file, written.bytes());
        sizes.add(Files.size(file));
        assertThat(written.footer().getBlocks()).as("%s", compression).hasSizeGreaterThan(1);
        assertThat(numbers(duckDb, query.formatted("l[1]", "read_parquet('" + file + "')")))
            .as("DuckDB, %s", compression)
            .isEqualTo(expected);
        assertThat(
                numbers(
                    duckDb, "SELECT DISTINCT compression FROM parquet_metadata('" + file + "')"))
            .isEqualTo(compression == Compression.NONE ? "UNCOMPRESSED" : compression.name());
        assertThat(clickHouse.query(query.formatted("l[1]", "file('" + file + "', Parquet)")))
            .as("ClickHouse, %s", compression)
            .isEqualTo(expected);
      }
      assertThat(sizes).isSorted();
    }
  }

  private static String numbers(Postgres postgres, String query) {
    return postgres.read(connection -> numbers(connection, query));
  }

  /** Returns the first row as ClickHouse writes it. */
  private static String numbers(Connection connection, String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(query)) {
      row.next();
      List<String> values = new ArrayList<>();
      for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
        values.add(row.getString(i));
      }
      return String.join("\t", values);
    }
  }
}
