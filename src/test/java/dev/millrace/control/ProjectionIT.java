package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.testing.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** Lines of write-ahead logs in the tables of a real Postgres. */
class ProjectionIT {
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
          .build();

  private static final String START =
      """
      {"kind":"run_start","run_id":"r","extractor":"x","mode":"nightly","host":"box","pid":7,
       "started_at":"2026-09-20T18:15:00.5+00:00","status":"running","wal_path":"w/x/r.jsonl"}""";

  private static final String FINISH =
      """
      {"kind":"run_finish","extractor":"x","run_id":"r","started_at":"2026-09-20T18:15:01+00:00",
       "finished_at":"2026-09-20T18:16:00.25+00:00","status":"ok","stop_reason":"clean","n_ok":2,
       "n_err":0,"n_skipped":1}""";

  private static final String BUDGET =
      """
      {"kind":"budget","extractor":"x","run_id":"r","budget_name":"walltime","limit_val":1800,
       "used":1700,"remaining":100,"hit":false,"ran_at":"2026-09-20T18:15:59+00:00"}""";

  private static String database;
  private static DsnDatabase control;

  @BeforeAll
  static void connect() {
    database = TestPostgres.createDatabase();
    // Whatever the server's default is, it is not what counts.
    TestPostgres.execute(
        "postgres", "ALTER DATABASE %s SET timezone = 'Asia/Kolkata'".formatted(database));
    TestPostgres.execute(
        "postgres", "ALTER DATABASE %s SET datestyle = 'ISO, DMY'".formatted(database));
    control = DsnDatabase.of(TestPostgres.uri(database));
    ControlSchema.ensure(control);
  }

  @BeforeEach
  void empty() {
    TestPostgres.execute(
        database, "TRUNCATE control.run, control.event, control.budget_usage, control.lease");
  }

  @AfterAll
  static void close() {
    control.close();
  }

  private static String event(long seq) {
    return event("x", "r", seq, "\"entity\":\"t%d\",\"status\":\"ok\"".formatted(seq));
  }

  private static String event(String extractor, String runId, long seq, String more) {
    return "{\"kind\":\"event\",\"extractor\":\"%s\",\"run_id\":\"%s\",\"seq\":%d,\"ran_at\":\"2026-09-20T18:15:30+00:00\",%s}"
        .formatted(extractor, runId, seq, more);
  }

  /** Returns the lines of a run with some events. */
  static List<WalLine> oneRun(String runId, int events) {
    List<String> lines = new ArrayList<>();
    lines.add(START.replace("\"r\"", "\"" + runId + "\""));
    IntStream.range(0, events)
        .forEach(seq -> lines.add(event("x", runId, seq, "\"status\":\"ok\"")));
    lines.add(BUDGET.replace("\"r\"", "\"" + runId + "\""));
    lines.add(FINISH.replace("\"r\"", "\"" + runId + "\""));
    return lines(lines);
  }

  private static List<WalLine> lines(List<String> texts) {
    return IntStream.range(0, texts.size())
        .mapToObj(i -> new WalLine(100L * i, 100, fields(texts.get(i))))
        .toList();
  }

  private static ObjectNode fields(String text) {
    try {
      return (ObjectNode) JSON.readTree(text);
    } catch (JsonProcessingException exception) {
      throw new IllegalArgumentException(text, exception);
    }
  }

  private static List<WalLine.Refused> apply(String... lines) {
    return apply(List.of(lines));
  }

  private static List<WalLine.Refused> apply(List<String> lines) {
    return control.transact(connection -> Projection.apply(connection, lines(lines)));
  }

  private static String query(String sql) {
    return control.transact(connection -> query(connection, sql));
  }

  private static String query(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      return row.next() ? row.getString(1) : null;
    }
  }

  private static String rows(String table) {
    return query(
        "SELECT string_agg(t::text, E'\\n' ORDER BY t::text) FROM control.%s AS t"
            .formatted(table));
  }

  private static String run(String column) {
    return query("SELECT %s::text FROM control.run WHERE run_id = 'r'".formatted(column));
  }

  /** Puts a key into a line, or a value at the place of another; the value is kept as it is. */
  private static String with(String line, String key, String value) {
    return fields(line).put(key, "the value").toString().replace("\"the value\"", value);
  }

  private static String without(String line, String key) {
    return ((ObjectNode) fields(line).without(key)).toString();
  }

  @Test
  void aWholeRunIsProjected() {
    assertThat(
            apply(
                START,
                event(
                    "x",
                    "r",
                    0,
                    """
                    "entity":"public.t","unit":"(1, 2]","business_date":"2026-09-20","status":"ok",
                    "http_status":200,"rows":9223372036854775807,"source_attempts":1,
                    "sink_attempts":2,"pull_ms":3,"load_ms":4,"error_detail":"é😀\\t\\\\N\\n\\\\.",
                    "extra":{"b":2.0,"a":[1e16,1e-5,"\\u00e9"]}"""),
                BUDGET,
                FINISH))
        .isEmpty();
    assertThat(rows("run"))
        .isEqualTo(
            "(r,x,nightly,box,7,\"2026-09-20 18:15:00.5+00\",\"2026-09-20 18:16:00.25+00\",ok,clean,2,0,1,,w/x/r.jsonl,)");
    assertThat(rows("event"))
        .isEqualTo(
            "(x,r,0,\"2026-09-20 18:15:30+00\",public.t,\"(1, 2]\",2026-09-20,ok,200,9223372036854775807,1,2,3,4,\"é😀\t\\\\N\n\\\\.\",\"{\"\"a\"\": [10000000000000000, 0.00001, \"\"é\"\"], \"\"b\"\": 2.0}\")");
    assertThat(rows("budget_usage"))
        .isEqualTo("(r,x,walltime,1800,1700,100,f,\"2026-09-20 18:15:59+00\")");
  }

  @Test
  void theSameTailAgainChangesNothing() {
    List<String> tail = new ArrayList<>(List.of(START));
    IntStream.range(0, 2 * Projection.COPY_FROM).forEach(seq -> tail.add(event(seq)));
    tail.addAll(List.of(BUDGET, FINISH));
    for (int from : new int[] {0, 50, tail.size() - 2}) {
      empty();
      apply(tail.subList(0, tail.size() - from));
      String[] before = {rows("run"), rows("event"), rows("budget_usage")};
      assertThat(apply(tail)).isEmpty();
      String[] whole = {rows("run"), rows("event"), rows("budget_usage")};
      assertThat(apply(tail)).isEmpty();
      assertThat(new String[] {rows("run"), rows("event"), rows("budget_usage")}).isEqualTo(whole);
      if (from == 0) {
        assertThat(whole).isEqualTo(before);
      }
      assertThat(query("SELECT count(*) FROM control.event"))
          .isEqualTo(Integer.toString(2 * Projection.COPY_FROM));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, Projection.COPY_FROM})
  void ofTwoEventsOfOneNumberTheFirstIsKept(int others) {
    List<String> tail = new ArrayList<>();
    IntStream.range(1, 1 + others).forEach(seq -> tail.add(event(seq)));
    tail.add(event("x", "r", 0, "\"entity\":\"first\",\"status\":\"ok\""));
    tail.add(event("x", "r", 0, "\"entity\":\"second\",\"status\":\"error\""));
    assertThat(apply(tail)).isEmpty();
    assertThat(query("SELECT entity FROM control.event WHERE seq = 0")).isEqualTo("first");
    assertThat(query("SELECT count(*) FROM control.event")).isEqualTo("" + (others + 1));
  }

  /** Values in the form that a writer gives them. */
  private static final List<String> USUAL =
      List.of(
          "\"status\":\"ok\"",
          "\"status\":\"\",\"entity\":\"\",\"unit\":\"a\\tb\\\\N\\r\\n\\\\.\",\"error_detail\":\"é漢😀\\u0001\\u007f\"",
          "\"status\":\"ok\",\"rows\":9223372036854775807,\"http_status\":2147483647",
          "\"status\":\"ok\",\"rows\":-9223372036854775808,\"pull_ms\":-2147483648",
          "\"status\":\"ok\",\"source_attempts\":1,\"sink_attempts\":0,\"load_ms\":12",
          "\"status\":\"ok\",\"business_date\":\"0001-01-01\"",
          "\"status\":\"ok\",\"business_date\":\"9999-12-31\"",
          "\"status\":\"ok\",\"business_date\":\"2028-02-29\"",
          "\"status\":\"ok\",\"ran_at\":\"0001-01-01T00:00:00+00:00\"",
          "\"status\":\"ok\",\"ran_at\":\"9999-12-31T23:59:59.999999+00:00\"",
          "\"status\":\"ok\",\"ran_at\":\"1999-12-31T23:59:59.000001+00:00\"",
          "\"status\":\"ok\",\"extra\":{}",
          "\"status\":\"ok\",\"extra\":{\"b\":[1,2.50,null,\"é\\t\"],\"a\":{\"c\":false}}");

  @Test
  void manyEventsAreCopiedAndBecomeTheSameRows() {
    List<String> events = new ArrayList<>();
    IntStream.range(0, 6 * USUAL.size())
        .forEach(seq -> events.add(event("x", "r", seq, USUAL.get(seq % USUAL.size()))));
    events.forEach(line -> assertThat(apply(line)).isEmpty());
    String oneByOne = rows("event");
    empty();
    TestPostgres.execute(
        database,
        """
        CREATE TABLE public.way (statement text);
        CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN INSERT INTO public.way VALUES (current_query()); RETURN NULL; END $$;
        CREATE TRIGGER note AFTER INSERT ON control.event
          FOR EACH ROW EXECUTE FUNCTION public.note()
        """);
    try {
      assertThat(apply(events)).isEmpty();
      assertThat(rows("event")).isEqualTo(oneByOne);
      assertThat(query("SELECT string_agg(DISTINCT left(statement, 4), ' ') FROM public.way"))
          .isEqualTo("COPY");
    } finally {
      TestPostgres.execute(
          database,
          "DROP TRIGGER note ON control.event; DROP FUNCTION public.note(); DROP TABLE public.way");
    }
  }

  @Test
  void aValueThatIsLargerThanAPieceIsCopied() {
    List<String> events = new ArrayList<>();
    IntStream.range(0, Projection.COPY_FROM)
        .forEach(
            seq ->
                events.add(
                    event(
                        "x",
                        "r",
                        seq,
                        "\"status\":\"ok\",\"error_detail\":\"%s\""
                            .formatted("é".repeat(seq * 4_000)))));
    assertThat(apply(events)).isEmpty();
    assertThat(
            query(
                "SELECT string_agg(length(error_detail)::text, ' ' ORDER BY seq) FROM control.event"))
        .isEqualTo(
            IntStream.range(0, Projection.COPY_FROM)
                .mapToObj(seq -> Integer.toString(seq * 4_000))
                .collect(Collectors.joining(" ")));
  }

  @Test
  void aSecondStartOfARunIsIgnored() {
    apply(START);
    assertThat(
            apply(
                with(
                    with(START, "started_at", "\"2027-01-01T00:00:00+00:00\""),
                    "mode",
                    "\"other\"")))
        .isEmpty();
    assertThat(run("mode")).isEqualTo("nightly");
    assertThat(run("started_at")).isEqualTo("2026-09-20 18:15:00.5+00");
  }

  @Test
  void aStartAfterTheFinishIsIgnored() {
    apply(FINISH, START);
    assertThat(run("status")).isEqualTo("ok");
    assertThat(run("mode")).isNull();
  }

  @Test
  void aFinishLeavesWhatTheStartSaid() {
    apply(START);
    TestPostgres.execute(database, "UPDATE control.run SET reconciled_by = 'r2'");
    apply(FINISH);
    assertThat(run("started_at")).isEqualTo("2026-09-20 18:15:00.5+00");
    assertThat(run("mode || host || pid || wal_path || reconciled_by"))
        .isEqualTo("nightlybox7w/x/r.jsonlr2");
  }

  @Test
  void aFinishWithoutAStartMakesTheRun() {
    apply(FINISH);
    assertThat(run("started_at")).isEqualTo("2026-09-20 18:15:01+00");
    empty();
    apply(without(FINISH, "started_at"));
    assertThat(run("started_at")).isEqualTo("2026-09-20 18:16:00.25+00");
  }

  @Test
  void aLateFinishOverwritesADeath() {
    apply(START);
    TestPostgres.execute(
        database,
        "UPDATE control.run SET status = 'died', stop_reason = 'died', finished_at = now(), reconciled_by = 'r2'");
    apply(FINISH);
    assertThat(rows("run"))
        .isEqualTo(
            "(r,x,nightly,box,7,\"2026-09-20 18:15:00.5+00\",\"2026-09-20 18:16:00.25+00\",ok,clean,2,0,1,r2,w/x/r.jsonl,)");
  }

  @Test
  void theLastFinishCounts() {
    apply(START, FINISH, with(with(FINISH, "status", "\"failed\""), "n_ok", "null"));
    assertThat(run("status")).isEqualTo("failed");
    assertThat(run("n_ok")).isNull();
  }

  @Test
  void aFinishWithoutExtraKeepsTheOneOfTheStart() {
    apply(with(START, "extra", "{\"a\":1}"), FINISH);
    assertThat(run("extra")).isEqualTo("{\"a\": 1}");
    apply(with(FINISH, "extra", "{\"b\":2}"));
    assertThat(run("extra")).isEqualTo("{\"b\": 2}");
    apply(with(FINISH, "extra", "null"));
    assertThat(run("extra")).isEqualTo("{\"b\": 2}");
  }

  @Test
  void theLastValueOfABudgetCounts() {
    apply(BUDGET, with(with(with(BUDGET, "used", "1800"), "hit", "true"), "limit_val", "null"));
    assertThat(rows("budget_usage"))
        .isEqualTo("(r,x,walltime,,1800,100,t,\"2026-09-20 18:15:59+00\")");
    assertThat(query("SELECT count(*) FROM control.budget_usage")).isEqualTo("1");
  }

  @Test
  void aRunOfAnotherExtractorIsNotTouchedAndNothingOfTheTailIsThere() {
    apply(START);
    for (String line : List.of(START, FINISH)) {
      assertThatThrownBy(
              () ->
                  apply(
                      event("y", "r", 0, "\"status\":\"ok\""),
                      with(line, "extractor", "\"y\""),
                      with(BUDGET, "extractor", "\"y\"")))
          .isInstanceOfSatisfying(
              MillraceException.class,
              failure -> assertThat(failure.code()).isEqualTo(ErrorCode.RUN_ID_TAKEN))
          .hasMessageContaining("'r' of y")
          .hasMessageContaining("a run of x");
    }
    assertThat(run("status")).isEqualTo("running");
    assertThat(rows("event")).isNull();
    assertThat(rows("budget_usage")).isNull();
  }

  @Test
  void aFaultOfTheServerIsThrown() {
    TestPostgres.execute(database, "ALTER TABLE control.budget_usage RENAME TO gone");
    try {
      assertThatThrownBy(() -> apply(START, BUDGET))
          .isInstanceOfSatisfying(
              MillraceException.class,
              failure -> assertThat(failure.code()).isEqualTo(ErrorCode.TABLE_MISSING));
      assertThat(rows("run")).isNull();
    } finally {
      TestPostgres.execute(database, "ALTER TABLE control.gone RENAME TO budget_usage");
    }
  }

  @Test
  void aTableWithRowLevelSecurityTakesManyEventsToo() {
    TestPostgres.execute(
        database,
        """
        ALTER TABLE control.event ENABLE ROW LEVEL SECURITY;
        CREATE POLICY everything ON control.event USING (true);
        CREATE ROLE restricted LOGIN;
        GRANT USAGE ON SCHEMA control TO restricted;
        GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA control TO restricted
        """);
    try (DsnDatabase restricted = DsnDatabase.of(TestPostgres.uri(database, "restricted"))) {
      List<WalLine> lines = oneRun("r", Projection.COPY_FROM);
      List<WalLine.Refused> refused =
          restricted.transact(connection -> Projection.apply(connection, lines));
      assertThat(refused).isEmpty();
    } finally {
      TestPostgres.execute(
          database,
          "DROP POLICY everything ON control.event; ALTER TABLE control.event DISABLE ROW LEVEL SECURITY");
    }
    assertThat(query("SELECT count(*) FROM control.event"))
        .isEqualTo(Integer.toString(Projection.COPY_FROM));
  }

  @Test
  void nothingIsDoneForNoLines() {
    assertThat(apply()).isEmpty();
  }

  /** What one line says, and what becomes of it; as the Python package does with each. */
  static Stream<Arguments> values() {
    return """
        event | entity | true | true
        event | entity | 5 | 5
        event | entity | 5.0 | 5
        event | entity | 1.5 | 1.5
        event | entity | -0.5 | -0.5
        event | entity | 0.0001 | 0.0001
        event | entity | 1e16 | 1e+16
        event | entity | 1.25e-7 | 1.25e-07
        event | entity | 100000000000000.0 | 100000000000000
        event | entity | 1000000000000000.0 | 1e+15
        event | entity | 12345678901234567890 | 12345678901234567890
        event | entity | "" |
        event | entity | "\\\\N" | \\N
        event | entity | null | null
        event | entity | [1] | refused
        event | entity | {} | refused
        event | entity | "a\\u0000b" | refused
        event | entity | "a\\ud800" | refused
        event | entity | "\\udc00a" | refused
        event | entity | "\\ud800\\ud800" | refused
        event | entity | "\\ud83d\\ude00" | 😀
        event | status | 5 | 5
        event | status | null | refused
        event | status | missing | refused
        event | run_id | 5 | 5
        event | run_id | null | refused
        event | run_id | missing | refused
        event | extractor | missing | refused
        event | seq | "5" | 5
        event | seq | 5.0 | 5
        event | seq | 1e16 | 10000000000000000
        event | seq | null | refused
        event | seq | missing | refused
        event | seq | true | refused
        event | seq | 9223372036854775808 | refused
        event | seq | 9223372036854775807.0 | refused
        event | seq | 1e999999999 | refused
        event | seq | 1e-999999999 | 0
        event | http_status | 200.0 | 200
        event | http_status | 1.5 | 2
        event | http_status | 2.5 | 2
        event | http_status | -0.5 | 0
        event | http_status | " 5 " | 5
        event | http_status | "0x10" | 16
        event | http_status | "1_000" | 1000
        event | http_status | "5.0" | refused
        event | http_status | "" | refused
        event | http_status | "abc" | refused
        event | http_status | "٥" | refused
        event | http_status | "-" | refused
        event | http_status | "+5" | 5
        event | http_status | true | refused
        event | http_status | [1] | refused
        event | http_status | {} | refused
        event | http_status | NaN | refused
        event | http_status | 2147483648 | refused
        event | http_status | missing | null
        event | rows | 2147483648 | 2147483648
        event | ran_at | "2026-09-20" | 2026-09-20 00:00:00+00
        event | ran_at | "2026-09-20 10:00" | 2026-09-20 10:00:00+00
        event | ran_at | "2026-09-20T10:00:00+05:30" | 2026-09-20 04:30:00+00
        event | ran_at | "2026-09-20T24:00:00+00:00" | 2026-09-21 00:00:00+00
        event | ran_at | "2026-09-20T23:59:60+00:00" | 2026-09-21 00:00:00+00
        event | ran_at | "2026-09-20T10:00:00.5+00:00" | 2026-09-20 10:00:00.5+00
        event | ran_at | "2026-09-20T10:00:00Z" | 2026-09-20 10:00:00+00
        event | ran_at | "2026-13-20T10:00:00+00:00" | refused
        event | ran_at | "0000-09-20T10:00:00+00:00" | refused
        event | ran_at | "2026-09-2xT10:00:00+00:00" | refused
        event | ran_at | "infinity" | infinity
        event | ran_at | "epoch" | 1970-01-01 00:00:00+00
        event | ran_at | "soon" | refused
        event | ran_at | 5 | refused
        event | ran_at | 1.5 | refused
        event | ran_at | null | refused
        event | ran_at | missing | refused
        event | business_date | "20260920" | 2026-09-20
        event | business_date | "09/20/2026" | 2026-09-20
        event | business_date | "20/09/2026" | refused
        event | business_date | "Sep 20 2026" | 2026-09-20
        event | business_date | "2026-09-20T23:59:00" | 2026-09-20
        event | business_date | "10000-01-01" | 10000-01-01
        event | business_date | "2026-02-30" | refused
        event | business_date | "0000-01-01" | refused
        event | business_date | 20260920 | refused
        event | business_date | true | refused
        event | business_date | null | null
        event | extra | {} | {}
        event | extra | [] | []
        event | extra | false | false
        event | extra | 5.0 | 5.0
        event | extra | -0.0 | 0.0
        event | extra | "x" | "x"
        event | extra | {"a":{"b":[1,null,2.50]}} | {"a": {"b": [1, null, 2.50]}}
        event | extra | null | null
        event | extra | NaN | refused
        event | extra | {"a":[Infinity]} | refused
        event | extra | {"a":["x\\u0000"]} | refused
        event | extra | {"a\\u0000":1} | refused
        event | extra | {"a":{"b":"\\ud800"}} | refused
        event | extra | {"a\\udc00":1} | refused
        event | extra | {"a":"\\\\u0000"} | {"a": "\\\\u0000"}
        event | extra | 1e999999 | refused
        event | kind | "evnt" | refused
        event | kind | null | refused
        event | kind | 5 | refused
        event | kind | missing | refused
        budget | hit | "yes" | true
        budget | hit | null | null
        budget | hit | 1 | refused
        budget | hit | "maybe" | refused
        budget | limit_val | 1.5 | 2
        budget | limit_val | "7" | 7
        budget | budget_name | 5 | 5
        budget | budget_name | missing | refused
        budget | ran_at | missing | null
        budget | ran_at | "x" | refused
        run_start | pid | 7.0 | 7
        run_start | pid | "7" | 7
        run_start | mode | 1.5 | 1.5
        run_start | started_at | missing | refused
        run_start | started_at | null | refused
        run_start | status | missing | refused
        run_start | extra | 5 | 5
        run_start | wal_path | missing | null
        run_finish | started_at | missing | 2026-09-20 18:16:00.25+00
        run_finish | started_at | null | refused
        run_finish | finished_at | missing | refused
        run_finish | finished_at | null | null
        run_finish | finished_at | 5 | refused
        run_finish | status | null | refused
        run_finish | n_ok | "7" | 7
        run_finish | n_ok | true | refused
        run_finish | extra | "7" | "7"
        """
        .lines()
        .map(line -> Arguments.of((Object[]) line.split(" \\| ?", -1)));
  }

  @ParameterizedTest(name = "{0} {1} {2} -> {3}")
  @MethodSource("values")
  void aValueIsTakenAsThePythonPackageTakesIt(
      String kind, String key, String value, String expected) {
    String base =
        switch (kind) {
          case "event" -> event("x", "r", 0, "\"status\":\"ok\"");
          case "budget" -> BUDGET;
          case "run_start" -> START;
          default -> FINISH;
        };
    String line = value.equals("missing") ? without(base, key) : with(base, key, value);
    String table =
        switch (kind) {
          case "event" -> "event";
          case "budget" -> "budget_usage";
          default -> "run";
        };
    assertOutcome(List.of(line), table, key, expected);
    // The way of many events is another one.
    List<String> many = new ArrayList<>(List.of(line));
    IntStream.range(0, Projection.COPY_FROM)
        .forEach(seq -> many.add(event("other", "other", seq, "\"status\":\"ok\"")));
    empty();
    assertOutcome(many, table, key, expected);
  }

  private static void assertOutcome(List<String> lines, String table, String key, String expected) {
    List<WalLine.Refused> refused = apply(lines);
    String others = table.equals("event") ? " WHERE extractor <> 'other'" : "";
    if (expected.equals("refused")) {
      assertThat(refused).singleElement().satisfies(one -> assertThat(one.offset()).isZero());
      assertThat(refused.get(0).reason()).isNotBlank();
      assertThat(query("SELECT count(*) FROM control." + table + others)).isEqualTo("0");
      return;
    }
    assertThat(refused).isEmpty();
    assertThat(query("SELECT %s::text FROM control.%s%s".formatted(key, table, others)))
        .isEqualTo(expected.equals("null") ? null : expected);
  }

  /** A line that Java refuses, and ones that only the server does. */
  private static final List<String> POISON =
      List.of(
          with(event(999), "entity", "\"\\u0000\""),
          with(event(999), "business_date", "\"never\""),
          with(event(999), "http_status", "99999999999"),
          with(START, "started_at", "\"never\""),
          with(FINISH, "n_ok", "99999999999"),
          with(BUDGET, "used", "\"much\""),
          with(event(999), "extractor", "\"" + incompressible(4000) + "\""));

  /** Text that is too long for a key of an index, however it is packed. */
  private static String incompressible(int length) {
    StringBuilder text = new StringBuilder();
    Random random = new Random(7);
    while (text.length() < length) {
      text.append((char) ('0' + random.nextInt(75))).append(random.nextInt());
    }
    return text.toString().replace("\\", "/");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6})
  void aPoisonedLineAnywhereHidesNoOther(int poison) {
    List<String> good = List.of(START, event(0), event(1), BUDGET, event(2), FINISH);
    for (int position = 0; position <= good.size(); position++) {
      assertOnlyPoisonIsRefused(good, position, POISON.get(poison));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 6})
  void aPoisonedLineAmongManyEventsHidesNoOther(int poison) {
    List<String> good = new ArrayList<>(List.of(START));
    IntStream.range(0, 3 * Projection.COPY_FROM).forEach(seq -> good.add(event(seq)));
    good.addAll(List.of(BUDGET, FINISH));
    for (int position : new int[] {0, 1, 2, 100, good.size() - 1, good.size()}) {
      assertOnlyPoisonIsRefused(good, position, POISON.get(poison));
    }
  }

  private void assertOnlyPoisonIsRefused(List<String> good, int position, String poison) {
    empty();
    assertThat(apply(good)).isEmpty();
    List<String> expected = List.of(rows("run"), rows("event"), rows("budget_usage"));
    empty();
    List<String> all = new ArrayList<>(good);
    all.add(position, poison);
    assertThat(apply(all))
        .as("poison at %d", position)
        .extracting(WalLine.Refused::offset)
        .containsExactly(100L * position);
    assertThat(List.of(rows("run"), rows("event"), rows("budget_usage"))).isEqualTo(expected);
  }

  @Test
  void allPoisonedLinesAreToldInTheirOrder() {
    List<String> lines = new ArrayList<>();
    List<Long> offsets = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      lines.add(event(i));
      lines.add(POISON.get(i % POISON.size()));
      offsets.add(100L * (2 * i + 1));
    }
    assertThat(apply(lines)).extracting(WalLine.Refused::offset).isEqualTo(offsets);
    assertThat(query("SELECT count(*) FROM control.event")).isEqualTo("40");
    assertThat(apply(Collections.nCopies(70, POISON.get(1)))).hasSize(70);
  }

  @Test
  void theReasonNamesTheCauseWithoutTheRow() {
    assertThat(apply(with(without(event(0), "entity"), "http_status", "\"abc\"")))
        .singleElement()
        .extracting(WalLine.Refused::reason)
        .isEqualTo(
            "Postgres refuses it: invalid input syntax for type integer: \"abc\" (SQLSTATE 22P02)");
    assertThat(apply(without(event(0), "seq")))
        .singleElement()
        .extracting(WalLine.Refused::reason)
        .isEqualTo("seq is missing");
  }

  @Test
  void theMarkerOfABatchIsToldOnce() throws SQLException {
    String marker =
        event(
            "zakya",
            "r",
            3,
            "\"entity\":\"transform_ready\",\"status\":\"ok\",\"business_date\":\"2026-09-20\"");
    assertThat(notifications(List.of(marker)))
        .containsExactly(
            "dbt_ready {\"extractor\" : \"zakya\", \"run_id\" : \"r\", \"business_date\" : \"2026-09-20\"}");
    assertThat(notifications(List.of(marker))).as("on a replay").isEmpty();
    empty();
    List<String> many = new ArrayList<>(List.of(marker));
    IntStream.range(10, 10 + Projection.COPY_FROM).forEach(seq -> many.add(event(seq)));
    assertThat(notifications(many)).as("among many").hasSize(1);
    assertThat(notifications(many)).as("on a replay of many").isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "extractor, \"x\"",
    "entity, \"transform\"",
    "status, \"error\"",
  })
  void anotherEventIsNotTold(String key, String value) throws SQLException {
    String marker = event("zakya", "r", 3, "\"entity\":\"transform_ready\",\"status\":\"ok\"");
    assertThat(notifications(List.of(with(marker, key, value)))).isEmpty();
  }

  @Test
  void aRunIsToldWhenItBecomesOkAndNeverAgain() throws SQLException {
    String told =
        "dbt_run_finished {\"kind\" : \"run\", \"extractor\" : \"x\", \"run_id\" : \"r\", \"finished_at\" : \"2026-09-20T18:16:00.25+00:00\"}";
    assertThat(notifications(List.of(START))).isEmpty();
    assertThat(notifications(List.of(FINISH))).containsExactly(told);
    assertThat(notifications(List.of(START, FINISH))).as("on a replay").isEmpty();
    empty();
    assertThat(notifications(List.of(FINISH))).as("without its start").containsExactly(told);
    empty();
    assertThat(notifications(List.of(START, with(FINISH, "status", "\"failed\"")))).isEmpty();
    assertThat(notifications(List.of(FINISH))).as("after all").containsExactly(told);
    empty();
    assertThat(
            notifications(
                List.of(with(START, "extractor", "\"dbt\""), with(FINISH, "extractor", "\"dbt\""))))
        .as("the listener's own run")
        .isEmpty();
  }

  /** Returns what listeners hear of one transaction; its end is heard as well. */
  private static List<String> notifications(List<String> lines) throws SQLException {
    try (Connection listener =
        TestPostgres.server().getDatabase("postgres", database).getConnection()) {
      try (Statement statement = listener.createStatement()) {
        statement.execute("LISTEN dbt_ready; LISTEN dbt_run_finished; LISTEN done");
      }
      assertThat(apply(lines)).isEmpty();
      TestPostgres.execute(database, "NOTIFY done");
      List<String> heard = new ArrayList<>();
      while (!heard.contains("done ")) {
        PGNotification[] some = listener.unwrap(PGConnection.class).getNotifications(30_000);
        assertThat(some).as("heard within 30 s").isNotEmpty();
        Arrays.stream(some)
            .map(one -> one.getName() + " " + one.getParameter())
            .forEach(heard::add);
      }
      heard.remove("done ");
      return heard;
    }
  }
}
