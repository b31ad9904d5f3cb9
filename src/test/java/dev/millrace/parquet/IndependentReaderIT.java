package dev.millrace.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.postgres.Postgres;
import dev.millrace.testing.TestPostgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads our files with DuckDB from PyPI, which shares no code with parquet-java or us. */
class IndependentReaderIT {
  private static final String READER = "duckdb==1.4.4";

  private static final String SCRIPT =
      """
      import json, sys, duckdb
      print(json.dumps(duckdb.sql(open(sys.argv[1], encoding='utf-8').read()).fetchall()))
      """;

  /** Column, type, two values as SQL, and the expression that shows it, in DuckDB and Postgres. */
  private record Case(
      String type, String first, String second, String inDuckDb, String inPostgres) {}

  private static final List<Case> CASES =
      List.of(
          same("int2", "'-32768'", "'32767'"),
          same("int4", "'-2147483648'", "'2147483647'"),
          same("int8", "'9007199254740993'", "'-9223372036854775808'"),
          same("numeric(4,0)", "'2013'", "'-9999'"),
          fraction("numeric(9,9)", "'0.999999999'", "'-0.000000001'"),
          same("numeric(12,2)", "'9999999999.99'", "'-20000'"),
          fraction("numeric(19,19)", "'0.1234567890123456789'", "'-0.5'"),
          same("numeric(32,16)", "'9999999999999999.9999999999999999'", "'-0.0000000000000001'"),
          same("numeric(38,0)", "repeat('9', 38)::numeric(38,0)", "'-18446744073709551616'"),
          same("numeric(100,0)", "'1e99'", "'7'"),
          same("text", "'日付 🚂'", "''"),
          same("char(4)", "'ab'", "'abcd'"),
          new Case("bool", "true", "false", "%s::VARCHAR", "%s::text"),
          same(
              "uuid",
              "'12345678-9abc-def0-1234-56789abcdef0'",
              "'ffffffff-ffff-ffff-ffff-ffffffffffff'"),
          same("jsonb", "'{\"b\": [1, null], \"a\": \"ü\"}'", "'null'"),
          same("mood", "'ĝoja'", "'sad'"),
          same("int4[]", "'{1,NULL}'", "'{}'"),
          new Case("bytea", "'\\x00ff80'", "''", "lower(hex(%s))", "encode(%s, 'hex')"),
          new Case(
              "date",
              "'15000-01-01'",
              "'0044-03-15 BC'",
              "%s - DATE '1970-01-01'",
              "%s - date '1970-01-01'"),
          new Case("time", "'23:59:59.999999'", "'00:00'", "%s::VARCHAR", "%s::text"),
          micros("timestamp", "'2018-03-25 03:17:17.123456'", "'15000-01-01'"),
          micros("timestamp", "'0044-03-15 BC'", "'1969-12-31 23:59:59.999999'"),
          micros("timestamptz", "'2024-05-06 13:13:13+04'", "'0044-03-15 00:00Z BC'"),
          same("float8", "'0.1'", "'-2.5'"),
          new Case(
              "float4", "'NaN'", "'Infinity'", "lower(%s::VARCHAR)", "left(lower(%s::text), 3)"));

  private static Case same(String type, String first, String second) {
    return new Case(type, first, second, "%s::VARCHAR", "format('%%s', %s)");
  }

  /** DuckDB leaves out the zero before the point where the type has no digits there. */
  private static Case fraction(String type, String first, String second) {
    return new Case(type, first, second, "%s::VARCHAR", "regexp_replace(%s::text, '0[.]', '.')");
  }

  private static Case micros(String type, String first, String second) {
    return new Case(
        type, first, second, "epoch_us(%s)", "(extract(epoch FROM %s) * 1000000)::numeric(30,0)");
  }

  @TempDir private Path folder;

  @Test
  void anotherReaderSeesWhatPostgresHas() throws Exception {
    Path python = python();
    String database = TestPostgres.createDatabase();
    TestPostgres.execute(database, "CREATE TYPE mood AS ENUM ('sad', 'ĝoja')");
    List<String> definitions = new ArrayList<>(List.of("id int4"));
    List<String> first = new ArrayList<>(List.of("1"));
    List<String> second = new ArrayList<>(List.of("2"));
    List<String> duck = new ArrayList<>(List.of("id::VARCHAR"));
    List<String> sql = new ArrayList<>(List.of("id::text"));
    for (int i = 0; i < CASES.size(); i++) {
      Case one = CASES.get(i);
      definitions.add("c" + i + " " + one.type());
      first.add(one.first());
      second.add(one.second());
      duck.add("coalesce((" + one.inDuckDb().formatted("c" + i) + ")::VARCHAR, 'NULL')");
      sql.add(
          "CASE WHEN c%d IS NULL THEN 'NULL' ELSE (%s)::text END"
              .formatted(i, one.inPostgres().formatted("c" + i)));
    }
    TestPostgres.execute(
        database,
        "CREATE TABLE kinds (%s); INSERT INTO kinds VALUES (%s), (%s); INSERT INTO kinds (id) VALUES (3)"
            .formatted(
                String.join(", ", definitions),
                String.join(", ", first),
                String.join(", ", second)));
    try (Postgres postgres = TestPostgres.connect(database)) {
      Extracted extracted = Extracted.from(postgres, "public.kinds");
      Path file = Files.write(folder.resolve("kinds.parquet"), extracted.file().bytes());
      String query =
          "SELECT %s FROM read_parquet('%s') ORDER BY id".formatted(String.join(", ", duck), file);
      List<List<String>> expected =
          rows(
              postgres,
              "SELECT %s FROM public.kinds ORDER BY id".formatted(String.join(", ", sql)));
      List<List<String>> found = duckDb(python, query);
      assertThat(found).hasSize(3);
      for (int row = 0; row < 3; row++) {
        for (int i = 0; i < CASES.size(); i++) {
          assertThat(found.get(row).get(i + 1))
              .as("%s, row %d", CASES.get(i).type(), row + 1)
              .isEqualTo(expected.get(row).get(i + 1));
        }
      }
    }
  }

  @Test
  void anotherReaderAgreesOnRowsSumsAndFiltersOverPagesAndRowGroups() throws Exception {
    Path python = python();
    String database = TestPostgres.createDatabase();
    TestPostgres.execute(
        database,
        """
        CREATE TABLE many AS
          SELECT i AS id, md5(i::text) || md5((-i)::text) || md5((i + 7)::text) AS v,
                 CASE WHEN i % 3 = 0 THEN (i % 1000)::numeric(12,2) / 7 END AS ignored,
                 CASE WHEN i % 11 <> 0 THEN i * 1003 % 65537 END AS n
          FROM generate_series(1, 400000) AS i""");
    try (Postgres postgres = TestPostgres.connect(database)) {
      Extracted extracted = Extracted.from(postgres, "public.many");
      Path file = Files.write(folder.resolve("many.parquet"), extracted.file().bytes());
      String select =
          "SELECT count(*)::%1$s, count(n)::%1$s, sum(n)::%1$s, min(v)::%1$s, max(v)::%1$s, sum(length(v))::%1$s, sum(CASE WHEN id BETWEEN 150000 AND 150009 THEN n END)::%1$s FROM %2$s";
      assertThat(duckDb(python, select.formatted("VARCHAR", "read_parquet('" + file + "')")))
          .isEqualTo(rows(postgres, select.formatted("text", "public.many")));
      String filtered = "SELECT count(*)::%1$s FROM %2$s WHERE id > 399000 AND v > 'f'";
      assertThat(duckDb(python, filtered.formatted("VARCHAR", "read_parquet('" + file + "')")))
          .isEqualTo(rows(postgres, filtered.formatted("text", "public.many")));
    }
  }

  private static List<List<String>> rows(Postgres postgres, String query) {
    return postgres.read(
        connection -> {
          List<List<String>> rows = new ArrayList<>();
          try (Statement statement = connection.createStatement();
              ResultSet result = statement.executeQuery(query)) {
            while (result.next()) {
              List<String> row = new ArrayList<>();
              for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
                row.add(result.getString(i));
              }
              rows.add(row);
            }
          }
          return rows;
        });
  }

  private List<List<String>> duckDb(Path python, String query) throws Exception {
    Path script = Files.writeString(folder.resolve("read.py"), SCRIPT);
    Path sql = Files.writeString(folder.resolve("query.sql"), query);
    String output = run(List.of(python.toString(), script.toString(), sql.toString()));
    return new ObjectMapper().readValue(output, new TypeReference<List<List<String>>>() {});
  }

  /** Returns the interpreter of an environment that has the reader; made once, then kept. */
  private static Path python() throws Exception {
    String cache = System.getenv("MILLRACE_CACHE");
    Path base =
        cache == null
            ? Path.of(System.getProperty("user.home"), ".cache", "millrace")
            : Path.of(cache);
    Path environment = base.resolve("reader-" + READER.replace("==", "-"));
    Path python = environment.resolve("bin").resolve("python");
    Path ready = environment.resolve("ready");
    if (Files.exists(ready)) {
      return python;
    }
    try {
      Files.createDirectories(base);
      run(List.of("python3", "-m", "venv", environment.toString()));
      run(List.of(python.toString(), "-m", "pip", "install", "--quiet", READER));
      Files.createFile(ready);
    } catch (IOException | IllegalStateException e) {
      if (Boolean.getBoolean("millrace.ci")) {
        fail("the independent reader can't be installed", e);
      }
      assumeTrue(
          false, "no independent reader, pip can't install " + READER + ": " + e.getMessage());
    }
    return python;
  }

  private static String run(List<String> command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IllegalStateException(String.join(" ", command) + " failed: " + output);
    }
    return output;
  }
}
