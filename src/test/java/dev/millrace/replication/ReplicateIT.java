package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import ch.qos.logback.classic.Level;
import com.fasterxml.jackson.databind.JsonNode;
import dev.millrace.testing.Appdb;
import dev.millrace.testing.LakeReader;
import dev.millrace.testing.Logs;
import dev.millrace.testing.TestRun;
import dev.millrace.testing.TestWorker;
import io.temporal.api.enums.v1.EventType;
import io.temporal.common.converter.DefaultDataConverter;
import io.temporal.failure.ApplicationFailure;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What runs copy, on real servers. */
class ReplicateIT {
  private static final String LAKE = "raw/postgres/replicate_it/";

  private static TestWorker worker;

  @BeforeAll
  static void start() {
    worker = TestWorker.shared();
    Appdb.execute("CREATE SCHEMA replicate_it");
  }

  private static List<String> column(List<Map<String, String>> rows, String column) {
    return rows.stream().map(row -> row.get(column)).toList();
  }

  private static String watermark(String pipeline) {
    return Appdb.value(
        "SELECT value FROM millrace.watermark WHERE pipeline = '%s'".formatted(pipeline));
  }

  private static Instant instant(TestRun run, String child) {
    byte[] input =
        run.child(child)
            .history(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED)
            .get(0)
            .getWorkflowExecutionStartedEventAttributes()
            .getInput()
            .getPayloads(0)
            .getData()
            .toByteArray();
    return Instant.parse(
        TestWorker.json(new String(input, java.nio.charset.StandardCharsets.UTF_8))
            .get("instant")
            .textValue());
  }

  @Test
  void eachRunCopiesWhatChangedSinceTheLastOne() {
    Appdb.execute(
        """
        CREATE TABLE replicate_it.orders
          (id bigint PRIMARY KEY, note text, updated_at timestamptz NOT NULL DEFAULT now());
        CREATE INDEX ON replicate_it.orders (updated_at);
        INSERT INTO replicate_it.orders SELECT i, 'n' || i FROM generate_series(1, 100) AS i""");

    TestRun firstRun = worker.replicate("rit_orders", "[\"replicate_it.orders\"]");
    JsonNode first = firstRun.onlyTable();

    assertThat(first.get("table").textValue()).isEqualTo("replicate_it.orders");
    assertThat(first.get("low").isNull()).isTrue();
    assertThat(first.get("high").textValue())
        .matches("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z");
    assertThat(first.get("rows").longValue()).isEqualTo(100);
    assertThat(first.get("bytes").longValue()).isPositive();
    assertThat(first.get("initial_load").booleanValue()).isTrue();
    assertThat(first.get("baseline").longValue()).isZero();
    assertThat(first.get("spike").booleanValue()).isFalse();
    String named =
        DateTimeFormatter.ofPattern("yyyyMMdd_HHmmss")
            .withZone(ZoneOffset.UTC)
            .format(instant(firstRun, "replicate_it.orders"));
    assertThat(first.get("object").textValue())
        .endsWith("/" + LAKE + "orders/" + named + ".parquet");
    List<Map<String, String>> rows = LakeReader.rows(first.get("object").textValue());
    assertThat(rows).hasSize(100);
    assertThat(rows.get(0)).containsOnlyKeys("id", "note", "updated_at");
    assertThat(column(rows, "note"))
        .containsExactlyInAnyOrderElementsOf(Appdb.values("SELECT note FROM replicate_it.orders"));
    assertThat(
            Appdb.values(
                """
                SELECT concat_ws(' ', pipeline, schema_name, table_name, seed_key, value)
                FROM millrace.watermark WHERE pipeline = 'rit_orders'"""))
        .containsExactly(
            "rit_orders replicate_it orders sling_watermark_replicate_it__orders "
                + first.get("high").textValue());

    JsonNode second = worker.replicate("rit_orders", "[\"replicate_it.orders\"]").onlyTable();

    assertThat(second.get("low")).isEqualTo(first.get("high"));
    assertThat(second.get("rows").longValue()).isZero();
    assertThat(second.get("object").isNull()).isTrue();
    assertThat(second.get("high").textValue()).isGreaterThan(first.get("high").textValue());
    assertThat(watermark("rit_orders")).isEqualTo(second.get("high").textValue());
    assertThat(LakeReader.objects(LAKE + "orders/")).hasSize(1);

    Appdb.execute(
        """
        UPDATE replicate_it.orders SET note = 'changed', updated_at = clock_timestamp()
        WHERE id IN (7, 9);
        INSERT INTO replicate_it.orders VALUES (101, 'new', clock_timestamp())""");
    JsonNode third = worker.replicate("rit_orders", "[\"replicate_it.orders\"]").onlyTable();

    assertThat(third.get("low")).isEqualTo(second.get("high"));
    assertThat(column(LakeReader.rows(third.get("object").textValue()), "id"))
        .containsExactlyInAnyOrder("7", "9", "101");
    assertThat(column(LakeReader.rows(third.get("object").textValue()), "note"))
        .containsExactlyInAnyOrder("changed", "changed", "new");
    assertThat(LakeReader.objects(LAKE + "orders/")).hasSize(2);
    assertThat(LakeReader.openUploads(LAKE)).isEmpty();
  }

  @Test
  void anUnusualBatchIsFlaggedAndWarnedOf() {
    Appdb.execute(
        "CREATE TABLE replicate_it.visits (id bigserial PRIMARY KEY, updated_at timestamptz)");
    assertThat(visits(100, 5)).isEqualTo("rows 100, baseline 0, spike false");
    // The first load was no baseline, so nothing compares with its 100 rows.
    assertThat(visits(20, 2)).isEqualTo("rows 20, baseline 0, spike false");
    assertThat(visits(0, 5)).isEqualTo("rows 0, baseline 20, spike false");
    // Exactly five times as many is not more than five times.
    assertThat(visits(100, 5)).isEqualTo("rows 100, baseline 20, spike false");
    try (Logs logs = Logs.listen()) {
      assertThat(visits(19, 5)).isEqualTo("rows 19, baseline 100, spike true");
      assertThat(logs.messages(Level.WARN))
          .contains("replicate_it.visits: 19 rows this run, 100 in the previous batch");
      assertThat(logs.messages(Level.INFO))
          .anyMatch(
              line ->
                  line.matches(
                      "replicate_it\\.visits: 19 rows changed in"
                          + " \\(\\d.*Z, \\d.*Z\\], previous batch 100"));
    }
    assertThat(visits(96, 5)).isEqualTo("rows 96, baseline 19, spike true");
  }

  private static String visits(int rows, int factor) {
    Appdb.execute(
        "INSERT INTO replicate_it.visits (updated_at) SELECT clock_timestamp() FROM generate_series(1, %d)"
            .formatted(rows));
    JsonNode table =
        worker
            .replicate("rit_visits", "[\"replicate_it.visits\"]", "\"spike_factor\": " + factor)
            .onlyTable();
    return "rows %d, baseline %d, spike %s"
        .formatted(
            table.get("rows").longValue(),
            table.get("baseline").longValue(),
            table.get("spike").booleanValue());
  }

  @Test
  void numberKeysAreWindowsUpToTheGreatestKey() {
    Appdb.execute(
        """
        CREATE TABLE replicate_it.n_big (id bigint PRIMARY KEY);
        INSERT INTO replicate_it.n_big VALUES (-5), (9007199254740993);
        CREATE TABLE replicate_it.n_scaled (id numeric(20,3) PRIMARY KEY);
        INSERT INTO replicate_it.n_scaled VALUES (0.001), (12345678901234567.125);
        CREATE TABLE replicate_it.n_bare (id numeric PRIMARY KEY);
        INSERT INTO replicate_it.n_bare VALUES (9.5), (10.00000000000000000000000000000000000000001);
        CREATE TABLE replicate_it.n_empty (id int PRIMARY KEY)""");
    String tables =
        "[\"replicate_it.n_big\", \"replicate_it.n_scaled\", \"replicate_it.n_bare\","
            + " \"replicate_it.n_empty\"]";

    JsonNode first = worker.replicate("rit_numbers", tables, "\"update_key\": \"id\"").result();
    assertThat(first.get("rows").longValue()).isEqualTo(6);
    String marks =
        "SELECT value FROM millrace.watermark WHERE pipeline = 'rit_numbers' ORDER BY table_name";
    assertThat(Appdb.values(marks))
        .containsExactly(
            "10.00000000000000000000000000000000000000001",
            "9007199254740993",
            "12345678901234567.125");
    assertThat(column(LakeReader.rowsUnder(LAKE + "n_big/"), "id"))
        .containsExactly("-5", "9007199254740993");

    Appdb.execute(
        """
        INSERT INTO replicate_it.n_big VALUES (3), (9007199254740994);
        INSERT INTO replicate_it.n_scaled VALUES (12345678901234567.126);
        INSERT INTO replicate_it.n_bare VALUES (10.00000000000000000000000000000000000000002), (2)""");
    JsonNode second = worker.replicate("rit_numbers", tables, "\"update_key\": \"id\"").result();
    // 2 is below its watermark but within the look-back of a million keys; 3 is far below.
    assertThat(second.get("rows").longValue()).isEqualTo(4);
    assertThat(Appdb.values(marks))
        .containsExactly(
            "10.00000000000000000000000000000000000000002",
            "9007199254740994",
            "12345678901234567.126");

    JsonNode third = worker.replicate("rit_numbers", tables, "\"update_key\": \"id\"").result();
    assertThat(third.get("rows").longValue()).isZero();
    JsonNode empty =
        java.util.stream.StreamSupport.stream(third.get("results").spliterator(), false)
            .filter(table -> table.get("table").textValue().endsWith("n_empty"))
            .findFirst()
            .orElseThrow();
    assertThat(empty.get("high").isNull()).isTrue();
  }

  @Test
  void timestampKeysAreReadInTheirTimeZone() {
    Appdb.execute(
        """
        CREATE TABLE replicate_it.local (id int PRIMARY KEY, updated_at timestamp NOT NULL);
        INSERT INTO replicate_it.local VALUES
          (1, now() AT TIME ZONE 'Asia/Kathmandu'),
          (2, now() AT TIME ZONE 'Asia/Kathmandu' + interval '1 hour')""");
    String zone = "\"key_time_zone\": \"Asia/Kathmandu\"";
    JsonNode first = worker.replicate("rit_local", "[\"replicate_it.local\"]", zone).onlyTable();
    assertThat(column(LakeReader.rows(first.get("object").textValue()), "id")).containsExactly("1");
    Instant high = Watermark.instant(first.get("high").textValue());
    assertThat(high).isBetween(Instant.now().minusSeconds(300), Instant.now());

    Appdb.execute(
        "UPDATE replicate_it.local SET updated_at = clock_timestamp() AT TIME ZONE 'Asia/Kathmandu'");
    JsonNode second = worker.replicate("rit_local", "[\"replicate_it.local\"]", zone).onlyTable();
    assertThat(second.get("rows").longValue()).isEqualTo(2);
  }

  @Test
  void rowsWithEqualStampsComeTogetherAndOnce() {
    Appdb.execute(
        """
        CREATE TABLE replicate_it.equal (id int PRIMARY KEY, updated_at timestamptz NOT NULL);
        INSERT INTO replicate_it.equal
        SELECT i, '2026-01-01 00:00:00.302674Z' FROM generate_series(1, 5) AS i;
        INSERT INTO replicate_it.equal SELECT i, '2026-01-01 00:00:00.302675Z' FROM generate_series(6, 8) AS i""");
    worker.replicate("rit_equal", "[\"replicate_it.equal\"]").result();
    worker.replicate("rit_equal", "[\"replicate_it.equal\"]").result();
    assertThat(column(LakeReader.rowsUnder(LAKE + "equal/"), "id"))
        .containsExactlyInAnyOrder("1", "2", "3", "4", "5", "6", "7", "8");
  }

  @Test
  void rowsWithoutAKeyAreRefusedLeftOutOrTakenOnce() {
    for (String table : List.of("null_out", "null_in")) {
      Appdb.execute(
          """
          CREATE TABLE replicate_it.%1$s (id int PRIMARY KEY, updated_at timestamptz);
          INSERT INTO replicate_it.%1$s
          SELECT i, CASE WHEN i > 3 THEN now() END FROM generate_series(1, 10) AS i"""
              .formatted(table));
    }
    ApplicationFailure refused =
        worker.replicate("rit_null_out", "[\"replicate_it.null_out\"]").failure();
    assertThat(refused.getOriginalMessage())
        .contains("NULL_KEYS", "replicate_it.null_out", "3 rows", "updated_at");
    assertThat(LakeReader.objects(LAKE + "null_out/")).isEmpty();

    String exclude = "\"null_keys\": \"exclude\"";
    JsonNode out =
        worker.replicate("rit_null_out", "[\"replicate_it.null_out\"]", exclude).onlyTable();
    assertThat(out.get("rows").longValue()).isEqualTo(7);
    assertThat(out.get("null_keys").longValue()).isEqualTo(3);

    String once = "\"null_keys\": \"include_once\"";
    JsonNode in = worker.replicate("rit_null_in", "[\"replicate_it.null_in\"]", once).onlyTable();
    assertThat(in.get("rows").longValue()).isEqualTo(10);
    assertThat(in.get("null_keys").longValue()).isZero();
    JsonNode later =
        worker.replicate("rit_null_in", "[\"replicate_it.null_in\"]", once).onlyTable();
    assertThat(later.get("rows").longValue()).isZero();
    assertThat(later.get("null_keys").longValue()).isEqualTo(3);
    assertThat(column(LakeReader.rowsUnder(LAKE + "null_in/"), "id")).hasSize(10);
  }

  @Test
  void anExpressionIsNoKeyButAQuotedColumnIs() {
    Appdb.execute(
        """
        CREATE TABLE replicate_it.changes
          (id int PRIMARY KEY, "Changed At" timestamptz, created_at timestamptz);
        INSERT INTO replicate_it.changes VALUES (1, now(), now())""");
    ApplicationFailure refused =
        worker
            .replicate(
                "rit_changes",
                "[{\"table\": \"replicate_it.changes\","
                    + " \"update_key\": \"coalesce(\\\"Changed At\\\", created_at)\"}]")
            .failure();
    assertThat(refused.getOriginalMessage())
        .contains("KEY_MISSING", "coalesce(\"Changed At\", created_at)", "view");

    JsonNode copied =
        worker
            .replicate(
                "rit_changes",
                "[{\"table\": \"replicate_it.changes\", \"update_key\": \"Changed At\"}]")
            .onlyTable();
    assertThat(copied.get("rows").longValue()).isEqualTo(1);
  }

  @Test
  void anEmptyTableMakesNoObjectAndMovesTheWatermark() {
    Appdb.execute("CREATE TABLE replicate_it.nothing (id int, updated_at timestamptz NOT NULL)");
    JsonNode table = worker.replicate("rit_nothing", "[\"replicate_it.nothing\"]").onlyTable();
    assertThat(table.get("rows").longValue()).isZero();
    assertThat(table.get("object").isNull()).isTrue();
    assertThat(watermark("rit_nothing")).isEqualTo(table.get("high").textValue());
    assertThat(LakeReader.objects(LAKE + "nothing/")).isEmpty();
    assertThat(LakeReader.openUploads(LAKE + "nothing/")).isEmpty();
  }

  @Test
  void namesOfAllKindsStayAsTheyAre() {
    Appdb.execute(
        """
        CREATE SCHEMA "Lager Süd";
        CREATE TABLE "Lager Süd"."Order"
          ("user id" bigint PRIMARY KEY, "a""b" text, "select" text, "日付" timestamptz NOT NULL);
        CREATE INDEX ON "Lager Süd"."Order" ("日付");
        INSERT INTO "Lager Süd"."Order" VALUES (1, 'x', 'y', now())""");
    String tables = "[{\"table\": \"\\\"Lager Süd\\\".\\\"Order\\\"\", \"update_key\": \"日付\"}]";
    TestRun run = worker.replicate("rit_names", tables);
    JsonNode table = run.onlyTable();
    assertThat(table.get("table").textValue()).isEqualTo("\"Lager Süd\".\"Order\"");
    assertThat(LakeReader.objects("raw/postgres/Lager"))
        .singleElement()
        .asString()
        .startsWith("raw/postgres/Lager%20S%C3%BCd/Order/");
    Map<String, String> row = LakeReader.rows(table.get("object").textValue()).get(0);
    assertThat(List.copyOf(row.keySet())).containsExactly("user id", "a\"b", "select", "日付");
    assertThat(row).contains(entry("user id", "1"), entry("a\"b", "x"), entry("select", "y"));

    Appdb.execute("INSERT INTO \"Lager Süd\".\"Order\" VALUES (2, NULL, NULL, clock_timestamp())");
    JsonNode second = worker.replicate("rit_names", tables).onlyTable();
    assertThat(column(LakeReader.rows(second.get("object").textValue()), "user id"))
        .containsExactly("2");
  }

  @Test
  void onlyWantedColumnsAreCopied() {
    Appdb.execute(
        """
        CREATE TABLE replicate_it.people
          (id int PRIMARY KEY, name text, secret text, updated_at timestamptz NOT NULL DEFAULT now());
        CREATE VIEW replicate_it.people_too AS SELECT * FROM replicate_it.people;
        INSERT INTO replicate_it.people VALUES (1, 'n', 's')""");
    JsonNode result =
        worker
            .replicate(
                "rit_people",
                "[{\"table\": \"replicate_it.people\", \"columns\": [\"name\", \"id\"]},"
                    + " {\"table\": \"replicate_it.people_too\","
                    + " \"exclude\": [\"secret\", \"updated_at\"]}]")
            .result();
    assertThat(result.get("ok").intValue()).isEqualTo(2);
    assertThat(LakeReader.rowsUnder(LAKE + "people/"))
        .singleElement()
        .isEqualTo(Map.of("id", "1", "name", "n"));
    assertThat(LakeReader.rowsUnder(LAKE + "people_too/"))
        .singleElement()
        .isEqualTo(Map.of("id", "1", "name", "n"));

    ApplicationFailure failure =
        worker
            .replicate(
                "rit_people", "[{\"table\": \"replicate_it.people\", \"exclude\": [\"nmae\"]}]")
            .failure();
    assertThat(failure.getOriginalMessage()).contains("COLUMN_MISSING", "nmae", "name");
  }

  @Test
  void viewsAndPartitionedTablesAreSources() {
    Appdb.execute(
        """
        CREATE TABLE replicate_it.parts (id int, updated_at timestamptz NOT NULL) PARTITION BY RANGE (id);
        CREATE TABLE replicate_it.parts_1 PARTITION OF replicate_it.parts FOR VALUES FROM (0) TO (50);
        CREATE TABLE replicate_it.parts_2 PARTITION OF replicate_it.parts FOR VALUES FROM (50) TO (100);
        CREATE TABLE replicate_it.no_parts (id int, updated_at timestamptz NOT NULL) PARTITION BY RANGE (id);
        INSERT INTO replicate_it.parts SELECT i, now() FROM generate_series(0, 99) AS i;
        CREATE VIEW replicate_it.view AS
          SELECT id, coalesce(updated_at, now()) AS updated_at FROM replicate_it.parts WHERE id < 10;
        CREATE MATERIALIZED VIEW replicate_it.stored AS SELECT * FROM replicate_it.view""");
    JsonNode result =
        worker
            .replicate(
                "rit_kinds",
                "[\"replicate_it.parts\", \"replicate_it.no_parts\", \"replicate_it.view\","
                    + " \"replicate_it.stored\"]")
            .result();
    List<Long> rows = new ArrayList<>();
    result.get("results").forEach(table -> rows.add(table.get("rows").longValue()));
    assertThat(rows).containsExactly(100L, 0L, 10L, 10L);
  }

  @Test
  void demoModeMakesRowsAtTheSeedsPace(@TempDir Path folder) throws Exception {
    try (TestWorker demo =
        TestWorker.start(
            text -> text + "demo_folder: \"%s\"\n".formatted(folder.resolve("sling_demo")),
            Map.of())) {
      TestRun run =
          demo.start("Replicate", TestWorker.json("{\"demo_mode\": true, \"lag\": \"PT0S\"}"));
      JsonNode result = run.result();
      assertThat(result.get("summary").textValue()).startsWith("DEMO pipeline demo:");
      assertThat(demo.start("Replicate", TestWorker.json("{}")).result().get("rows").longValue())
          .isZero();
      List<Path> files;
      try (var walk = Files.walk(folder)) {
        files =
            walk.filter(Files::isRegularFile)
                .sorted(Comparator.comparing(Path::toString))
                .map(folder::relativize)
                .filter(file -> !file.toString().endsWith(".json"))
                .toList();
      }
      assertThat(files)
          .extracting(Path::toString)
          .satisfiesExactly(
              orders ->
                  assertThat(orders).matches("sling_demo/main/orders/\\d{8}_\\d{6}\\.parquet"),
              payments ->
                  assertThat(payments).matches("sling_demo/main/payments/\\d{8}_\\d{6}\\.parquet"));
      Instant high = Watermark.instant(result.get("results").get(0).get("high").textValue());
      Instant midnight =
          high.atZone(ZoneOffset.UTC).toLocalDate().atStartOfDay(ZoneOffset.UTC).toInstant();
      List<Map<String, String>> orders = LakeReader.rows(folder.resolve(files.get(0)));
      assertThat(orders).hasSize((int) ((high.getEpochSecond() - midnight.getEpochSecond()) / 10));
      assertThat(orders.get(1))
          .isEqualTo(
              Map.of(
                  "id", "2", "amount", "24.00", "updated_at", midnight.plusSeconds(20).toString()));
      assertThat(LakeReader.rows(folder.resolve(files.get(1))).get(0).get("updated_at"))
          .isEqualTo(midnight.plusSeconds(25).toString());
      assertThat(
              Appdb.values(
                  "SELECT seed_key FROM millrace.watermark WHERE pipeline = 'demo' ORDER BY 1"))
          .containsExactly(
              "sling_demo_watermark_main__orders", "sling_demo_watermark_main__payments");
      assertThat(
              DefaultDataConverter.newDefaultInstance()
                  .fromPayload(
                      run.child("main.orders")
                          .describe()
                          .getWorkflowExecutionInfo()
                          .getMemo()
                          .getFieldsOrThrow("pipeline"),
                      String.class,
                      String.class))
          .isEqualTo("demo");
    }
  }
}
