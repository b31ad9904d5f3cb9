package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.cfg.JsonNodeFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.testing.TestPostgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

/** Millrace and the Python package, each reading what the other wrote. */
class FeatherInteropIT {
  private static final JsonMapper JSON =
      JsonMapper.builder()
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .disable(JsonNodeFeature.STRIP_TRAILING_BIGDECIMAL_ZEROES)
          .build();

  private static final String ODD_TEXT = "é😀\u007f \"x\" \\ </>&\t\u0001 नाइटली";
  private static final String ODD_EXTRA =
      "{\"\":\"\",\"b\":[1,2.0,1e+16,1e-05,0.1,-0.0,9007199254740993,true,null],\"é😀\":{\"z\":{}}}";

  private static final List<Map<String, Object>> PYTHON_EVENTS =
      List.of(
          Map.of("entity", "sales", "unit", "1", "business_date", "2026-09-20", "status", "ok"),
          Map.of("entity", ODD_TEXT, "status", "sink_error", "error_detail", "😀".repeat(2_100)),
          Map.of(
              "entity",
              "bounds",
              "status",
              "zero_rows",
              "rows",
              Long.MAX_VALUE,
              "http_status",
              Integer.MAX_VALUE,
              "pull_ms",
              Integer.MIN_VALUE),
          Map.of("entity", "extra", "status", "ok", "extra", json(ODD_EXTRA)),
          Map.of("entity", "empty", "status", "timeout", "extra", Map.of(), "error_detail", ""));

  private static final List<Map<String, Object>> PYTHON_BUDGETS =
      List.of(
          Map.of("name", "walltime", "limit", 1800, "used", 1, "remaining", 1799, "hit", false),
          Map.of("name", "walltime", "limit", 1800, "used", 1800, "remaining", 0, "hit", true));

  private static FeatherPeer python;

  @TempDir private Path folder;
  private String database;
  private String dsn;

  @BeforeAll
  static void startPython() throws IOException {
    python = FeatherPeer.start();
  }

  @AfterAll
  static void stopPython() {
    if (python != null) {
      python.close();
    }
  }

  @BeforeEach
  void makeDatabase() {
    database = database();
    dsn = TestPostgres.uri(database);
  }

  private static String database() {
    String name = TestPostgres.createDatabase();
    TestPostgres.execute("postgres", "ALTER DATABASE %s SET timezone = 'UTC'".formatted(name));
    return name;
  }

  private static JsonNode json(String text) {
    try {
      return JSON.readTree(text);
    } catch (JsonProcessingException exception) {
      throw new IllegalArgumentException(text, exception);
    }
  }

  private String query(String sql) {
    return TestPostgres.query(database, sql);
  }

  private static String rows(String database) {
    return TestPostgres.query(
        database,
        """
        SELECT string_agg(line, E'\\n' ORDER BY line COLLATE "C") FROM (
          SELECT 'run ' || to_jsonb(run)::text FROM control.run
          UNION ALL SELECT 'event ' || to_jsonb(event)::text FROM control.event
          UNION ALL SELECT 'budget ' || to_jsonb(budget_usage)::text FROM control.budget_usage
        ) AS lines (line)
        """);
  }

  private static Shipper.Shipped ship(String database, WalFile log) {
    try (DsnDatabase control = DsnDatabase.of(TestPostgres.uri(database))) {
      ControlSchema.ensure(control);
      return new Shipper(control).ship(log);
    }
  }

  private void shipByPython(WalFile log, int expected) {
    python.ask("ensure", "dsn", dsn);
    assertThat(python.ask("ship", "dsn", dsn, "path", log.path().toString()).asInt())
        .isEqualTo(expected);
  }

  /** Ships a log with both and compares; neither ships again what the other has shipped. */
  private void assertBothShip(WalFile log, int lines) throws IOException {
    shipByPython(log, lines);
    String other = database();
    assertThat(ship(other, log).records()).as("Python's offset is honoured").isZero();
    Files.delete(log.offsetPath());
    assertThat(ship(other, log)).isEqualTo(new Shipper.Shipped(lines, 0, Files.size(log.path())));
    assertThat(rows(other)).isEqualTo(rows(database));
    shipByPython(log, 0);
  }

  private static Run.Outcome outcome(
      String entity, EventStatus status, String detail, String extra) {
    return new Run.Outcome(
        entity,
        "(1, 2]",
        LocalDate.of(2026, 9, 20),
        status,
        200,
        Long.MAX_VALUE,
        1,
        2,
        3,
        Integer.MIN_VALUE,
        detail,
        extra == null ? null : (ObjectNode) json(extra));
  }

  private void recordInJava(String runId, RuntimeException failure) {
    ControlPlane.withoutDatabase("gofrugal", folder)
        .run(
            "nightly",
            runId,
            run -> {
              run.event(outcome("sales", EventStatus.OK, null, null));
              run.event(outcome(ODD_TEXT, EventStatus.SINK_ERROR, "😀".repeat(2_100), ODD_EXTRA));
              run.event(Run.Outcome.of("stock", null, EventStatus.ZERO_ROWS, 0L));
              run.event(outcome("", EventStatus.TIMEOUT, "", "{}"));
              run.budget("walltime", 1800L, 1L, 1799L, false);
              run.budget("walltime", 1800L, 1800L, 0L, true);
              if (failure != null) {
                throw failure;
              }
              run.finish(RunStatus.PARTIAL, StopReason.BUDGET_TIME, 47, 1, 0);
              return null;
            });
  }

  @Test
  void whatJavaWritesPythonShips() throws IOException {
    WalFile log = new WalFile(folder, "gofrugal", "20261130T104450Z-gofrugal-0a1b2c");
    recordInJava(log.runId(), null);

    assertBothShip(log, 8);
    assertThat(query("SELECT status || n_ok FROM control.run")).isEqualTo("partial47");
  }

  @Test
  void aRunThatFailsInJavaIsShippedByPythonWithItsExtra() throws IOException {
    WalFile log = new WalFile(folder, "gofrugal", "20261130T104450Z-gofrugal-0a1b2d");
    IllegalStateException failure = new IllegalStateException("no \ud83d disk\0 " + ODD_TEXT);
    assertThatThrownBy(() -> recordInJava(log.runId(), failure)).isSameAs(failure);

    assertBothShip(log, 8);
    assertThat(query("SELECT extra ->> 'error' FROM control.run")).contains("नाइटली");
  }

  @Test
  void whatPythonWritesJavaShips() throws IOException {
    WalFile log = new WalFile(folder, "sap", "20261130T104450Z-sap-446b12");
    Map<String, Object> finish =
        Map.of("run_status", "partial", "stop_reason", "budget_api", "n_ok", 4, "n_err", 1);
    recordInPython(null, log, "finish", finish);

    assertBothShip(log, 9);
    assertThat(query("SELECT status || n_ok FROM control.run")).isEqualTo("partial4");
  }

  @Test
  void whatPythonShippedItselfIsWhatJavaMakesOfItsLog() throws IOException {
    WalFile log = new WalFile(folder, "sap", "20261130T104450Z-sap-446b13");
    try (DsnDatabase control = DsnDatabase.of(dsn)) {
      ControlSchema.ensure(control);
    }
    recordInPython(dsn, log, "error", "no luck");

    String other = database();
    Files.delete(log.offsetPath());
    ship(other, log);
    assertThat(rows(other)).isEqualTo(rows(database)).contains("\"failed\"");
  }

  private static void recordInPython(String dsn, WalFile log, String key, Object value) {
    python.ask(
        "record",
        "dsn",
        dsn,
        "folder",
        log.folder().toString(),
        "extractor",
        log.extractor(),
        "run_id",
        log.runId(),
        "events",
        PYTHON_EVENTS,
        "budgets",
        PYTHON_BUDGETS,
        key,
        value);
  }

  @Test
  void aTornTailOfPythonIsNotShippedAndAppendedBehind() throws IOException {
    WalFile log = new WalFile(folder, "sap", "20261130T104450Z-sap-446b14");
    recordInPython(null, log, "error", "no luck");
    byte[] whole = Files.readAllBytes(log.path());
    Files.write(log.path(), Arrays.copyOf(whole, whole.length - 1));

    assertThat(ship(database, log).records()).isEqualTo(8);
    try (Wal wal = Wal.open(log)) {
      wal.append(WalWriter.event(log, 100, "behind a torn tail"));
    }
    shipByPython(log, 1);
    assertThat(query("SELECT error_detail FROM control.event WHERE seq = 100"))
        .isEqualTo("behind a torn tail");
    assertThat(query("SELECT status FROM control.run")).isEqualTo("running");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "01_normal",
        "02_partial_budget",
        "03_failed_exception",
        "04_torn_tail",
        "05_unicode_long_error",
        "06_two_extractors"
      })
  void aSampleGivesItsRows(String sample) throws IOException {
    Path source = FeatherPeer.folder().resolve("samples").resolve(sample);
    List<JsonNode> expected = table(source.resolve("rows.jsonl"));
    for (WalFile log : WalFile.in(source.resolve("wal"))) {
      WalFile copy = new WalFile(folder, log.extractor(), log.runId());
      Files.createDirectories(copy.path().getParent());
      Files.copy(log.path(), copy.path());
    }
    try (DsnDatabase control = DsnDatabase.of(dsn)) {
      ControlSchema.ensure(control);
      Shipper shipper = new Shipper(control);
      WalFile.in(folder).forEach(shipper::ship);
      for (JsonNode row : expected) {
        take(control, row);
      }
    }
    List<JsonNode> found = new ArrayList<>();
    for (String table : List.of("run", "event", "budget_usage", "lease")) {
      String rows =
          query("SELECT jsonb_agg(to_jsonb(%s))::text FROM control.%s".formatted(table, table));
      if (rows != null) {
        json(rows).forEach(row -> found.add(comparable("control." + table, row)));
      }
    }
    assertThat(found)
        .containsExactlyInAnyOrderElementsOf(
            expected.stream()
                .map(line -> comparable(line.get("table").asText(), line.get("row")))
                .toList());
  }

  private static List<JsonNode> table(Path file) throws IOException {
    try (Stream<String> lines = Files.lines(file, StandardCharsets.UTF_8)) {
      return lines.map(FeatherInteropIT::json).toList();
    }
  }

  /** Leases and deaths are in no log; they are done as the sample's writer did them. */
  private static void take(ControlDatabase control, JsonNode line) {
    if (!line.get("table").asText().equals("control.lease")) {
      return;
    }
    String extractor = line.get("row").get("extractor").asText();
    String runId = line.get("row").get("run_id").asText();
    control.transact(
        connection -> {
          Lease.take(connection, extractor, runId, Lease.TIME_TO_LIVE);
          List<Recovery.Unfinished> dead = Recovery.unfinished(connection, extractor, runId);
          return Recovery.markDead(connection, extractor, runId, Run.idsOf(dead));
        });
  }

  private static JsonNode comparable(String table, JsonNode row) {
    ObjectNode fields = ((ObjectNode) row).deepCopy();
    if (table.equals("control.lease")) {
      fields.remove("lease_expires_at");
    }
    if (fields.path("status").asText().equals("died")) {
      assertThat(Instant.parse(fields.get("finished_at").asText().replace("+00:00", "Z")))
          .isBeforeOrEqualTo(Instant.now());
      fields.put("finished_at", "when it was found");
    }
    fields.put("table", table);
    return json(fields.toString());
  }

  @Test
  void bothWriteEventsToOneSchemaAtOnce() {
    int each = 400;
    List<Map<String, Object>> events =
        IntStream.range(0, each)
            .<Map<String, Object>>mapToObj(
                i -> Map.of("entity", "t", "unit", "p" + i, "status", "ok"))
            .toList();
    python.tell(
        "record",
        "dsn",
        dsn,
        "folder",
        folder.toString(),
        "extractor",
        "sap",
        "run_id",
        "python-run",
        "events",
        events,
        "budgets",
        PYTHON_BUDGETS);
    ControlPlane.of("gofrugal", folder, dsn)
        .run(
            "nightly",
            "java-run",
            run -> {
              for (int i = 0; i < each; i++) {
                run.event(Run.Outcome.of("t", "j" + i, EventStatus.OK, 1L));
              }
              return null;
            });
    python.answer();

    assertThat(
            query(
                """
                SELECT string_agg(concat_ws(' ', run_id, n, seqs, units), E'\\n' ORDER BY run_id)
                FROM (SELECT run_id, count(*) AS n, count(DISTINCT seq) FILTER (WHERE seq < 400)
                        AS seqs, count(DISTINCT unit) AS units
                      FROM control.event GROUP BY run_id) AS runs
                """))
        .isEqualTo("java-run 400 400 400\npython-run 400 400 400");
    assertThat(query("SELECT string_agg(status, ' ') FROM control.run")).isEqualTo("ok ok");
    assertThat(python.ask("state", "dsn", dsn).asText()).isEqualTo("current");
  }

  private Object begin(String runId) {
    return python
        .ask(
            "begin",
            "dsn",
            dsn,
            "folder",
            folder.resolve("python").toString(),
            "extractor",
            "gofrugal",
            "run_id",
            runId,
            "ttl",
            300)
        .asText();
  }

  private ControlPlane java() {
    return ControlPlane.of("gofrugal", folder.resolve("java"), dsn)
        .withLease(Duration.ofMinutes(5), Duration.ofHours(1));
  }

  private void expire() {
    TestPostgres.execute(
        database, "UPDATE control.lease SET lease_expires_at = now() - interval '1 second'");
  }

  private Object renewByPython(String runId) {
    return python
        .ask("renew", "dsn", dsn, "extractor", "gofrugal", "run_id", runId, "ttl_s", 300)
        .asBoolean();
  }

  @Test
  void javaStealsAnExpiredLeaseOfPythonAndNoFreshOne() {
    assertThat(begin("python-run")).isEqualTo("begun");
    assertThatThrownBy(() -> java().run("nightly", "java-1", run -> null))
        .isInstanceOfSatisfying(
            MillraceException.class,
            refusal -> assertThat(refusal.code()).isEqualTo(ErrorCode.LEASE_HELD))
        .hasMessageContaining("python-run");
    assertThat(query("SELECT count(*) FROM control.run")).isEqualTo("1");

    expire();
    java()
        .run(
            "nightly",
            "java-2",
            run -> {
              assertThat(query("SELECT run_id || (lease_expires_at > now()) FROM control.lease"))
                  .isEqualTo("java-2true");
              assertThat(renewByPython("python-run")).isEqualTo(false);
              assertThat(begin("python-late").toString()).contains("ControlPlaneError");
              return null;
            });
    assertThat(
            query(
                "SELECT concat_ws(' ', status, reconciled_by) FROM control.run WHERE run_id = 'python-run'"))
        .isEqualTo("died java-2");
    python.ask("end", "run_id", "python-run");
    assertThat(query("SELECT status FROM control.run WHERE run_id = 'python-run'"))
        .as("a finish that comes late tells what was")
        .isEqualTo("ok");
    assertThat(query("SELECT run_id FROM control.lease")).isEqualTo("java-2");
  }

  @Test
  void pythonStealsAnExpiredLeaseOfJavaAndNoFreshOne() {
    java()
        .run(
            "nightly",
            "java-run",
            run -> {
              assertThat(begin("python-1").toString()).contains("ControlPlaneError");
              run.event(Run.Outcome.of("t", "1", EventStatus.OK, 1L));
              expire();
              assertThat(begin("python-2")).isEqualTo("begun");
              try (DsnDatabase control = DsnDatabase.of(dsn)) {
                assertThat(
                        control.<Boolean>transact(
                            connection ->
                                Lease.renew(
                                    connection, "gofrugal", "java-run", Lease.TIME_TO_LIVE)))
                    .isFalse();
                assertThatThrownBy(
                        () ->
                            control.transact(
                                connection -> {
                                  Lease.check(connection, "gofrugal", "java-run");
                                  return null;
                                }))
                    .isInstanceOfSatisfying(
                        MillraceException.class,
                        lost -> assertThat(lost.code()).isEqualTo(ErrorCode.LEASE_LOST));
              }
              return null;
            });
    assertThat(
            query(
                "SELECT concat_ws(' ', status, reconciled_by) FROM control.run WHERE run_id = 'java-run'"))
        .isEqualTo("ok python-2");
    assertThat(query("SELECT run_id || (lease_expires_at > now()) FROM control.lease"))
        .as("the end of the Java run lets go of nobody else's lease")
        .isEqualTo("python-2true");
    python.ask("end", "run_id", "python-2");
    java().run("nightly", "java-next", run -> null);
  }

  @Test
  void theSchemaMadeByEitherIsTheSameAndCurrentForTheOther() {
    python.ask("ensure", "dsn", dsn);
    String other = database();
    try (DsnDatabase control = DsnDatabase.of(TestPostgres.uri(other))) {
      ControlSchema.ensure(control);
    }
    assertThat(TestPostgres.query(other, ControlSchemaIT.FACTS_QUERY))
        .isEqualTo(query(ControlSchemaIT.FACTS_QUERY))
        .contains("run_dbt_ready_notify", "event_dbt_ready_notify");

    assertThat(python.ask("state", "dsn", TestPostgres.uri(other)).asText()).isEqualTo("current");
    TestPostgres.execute(database, ControlSchemaIT.FORBID_DDL);
    TestPostgres.execute(other, ControlSchemaIT.FORBID_DDL);
    python.ask("ensure", "dsn", TestPostgres.uri(other));
    try (DsnDatabase control = DsnDatabase.of(dsn)) {
      ControlSchema.ensure(control);
    }
  }

  @Test
  void eitherAddsWhatThePlaneOfThePastLacks() {
    String other = database();
    for (String each : List.of(database, other)) {
      python.ask("ensure", "dsn", TestPostgres.uri(each));
      TestPostgres.execute(each, "ALTER TABLE control.run DROP COLUMN extra");
      TestPostgres.execute(each, "DROP TRIGGER event_dbt_ready_notify ON control.event");
    }
    python.ask("ensure", "dsn", dsn);
    try (DsnDatabase control = DsnDatabase.of(TestPostgres.uri(other))) {
      ControlSchema.ensure(control);
    }
    assertThat(TestPostgres.query(other, ControlSchemaIT.FACTS_QUERY))
        .isEqualTo(query(ControlSchemaIT.FACTS_QUERY));
    assertThat(python.ask("state", "dsn", TestPostgres.uri(other)).asText()).isEqualTo("current");
  }

  @Test
  void listenersHearTheSameTextFromEither() throws SQLException, IOException {
    WalFile log = new WalFile(folder, "zakya", "20260920T181500Z-zakya-aaaaaa");
    ControlPlane.withoutDatabase("zakya", folder)
        .run(
            "nightly",
            log.runId(),
            run -> {
              run.event(Run.Outcome.of("invoices", "1", EventStatus.OK, 1L));
              run.event(
                  new Run.Outcome(
                      "transform_ready",
                      null,
                      LocalDate.of(2026, 9, 20),
                      EventStatus.OK,
                      null,
                      null,
                      null,
                      null,
                      null,
                      null,
                      null,
                      null));
              return null;
            });
    python.ask("ensure", "dsn", dsn);
    List<String> fromPython = heard(database, () -> shipByPython(log, 4));
    Files.delete(log.offsetPath());
    String other = database();
    try (DsnDatabase control = DsnDatabase.of(TestPostgres.uri(other))) {
      ControlSchema.ensure(control);
    }
    assertThat(heard(other, () -> ship(other, log)))
        .hasSize(2)
        .isEqualTo(fromPython)
        .anyMatch(line -> line.startsWith("dbt_ready {\"extractor\" : \"zakya\""))
        .anyMatch(line -> line.startsWith("dbt_run_finished {\"kind\" : \"run\""));
  }

  private static List<String> heard(String database, Runnable work) throws SQLException {
    try (Connection listener =
        TestPostgres.server().getDatabase("postgres", database).getConnection()) {
      try (Statement statement = listener.createStatement()) {
        statement.execute("LISTEN dbt_ready; LISTEN dbt_run_finished; LISTEN done");
      }
      work.run();
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
