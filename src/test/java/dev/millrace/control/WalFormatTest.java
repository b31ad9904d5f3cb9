package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Consumer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The expected lines were written by feather-control-plane 0.1.0 itself. */
class WalFormatTest {
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

  private static final JsonMapper READER =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

  private static String line(WalRecord record) {
    return new String(WalFormat.line(record), StandardCharsets.US_ASCII);
  }

  private static WalRecord event(String errorDetail) {
    return event(errorDetail, null);
  }

  private static WalRecord event(ObjectNode extra) {
    return event(null, extra);
  }

  private static WalRecord event(String errorDetail, ObjectNode extra) {
    return new WalRecord.Event(
        "stylehr",
        "20260920T181500Z-stylehr-ffffff",
        4,
        Instant.parse("2026-11-30T10:44:52.920652Z"),
        "extras",
        null,
        null,
        EventStatus.OK,
        null,
        null,
        null,
        null,
        null,
        null,
        errorDetail,
        extra);
  }

  private static String value(String line, String key) {
    int start = line.indexOf("\"" + key + "\":") + key.length() + 3;
    return line.substring(start);
  }

  private static String extra(Consumer<ObjectNode> fill) {
    ObjectNode extra = NODES.objectNode();
    fill.accept(extra);
    String text = value(line(event(extra)), "extra");
    return text.substring(0, text.length() - 2);
  }

  @Test
  void aStartIsThePackagesLine() {
    WalRecord start =
        new WalRecord.RunStart(
            "20260920T181500Z-stylehr-ffffff",
            "stylehr",
            "नाइटली",
            "häst-ß",
            328,
            Instant.parse("2026-11-30T10:44:52.879797Z"),
            "control_wal/05_unicode_long_error/wal/stylehr/20260920T181500Z-stylehr-ffffff.jsonl",
            null);

    assertThat(line(start))
        .isEqualTo(
            "{\"kind\":\"run_start\",\"run_id\":\"20260920T181500Z-stylehr-ffffff\",\"extractor\":\"stylehr\","
                + "\"mode\":\"\\u0928\\u093e\\u0907\\u091f\\u0932\\u0940\",\"host\":\"h\\u00e4st-\\u00df\",\"pid\":328,"
                + "\"started_at\":\"2026-11-30T10:44:52.879797+00:00\",\"status\":\"running\",\"wal_path\":"
                + "\"control_wal/05_unicode_long_error/wal/stylehr/20260920T181500Z-stylehr-ffffff.jsonl\"}\n");
  }

  @Test
  void anEventIsThePackagesLine() {
    ObjectNode extra = NODES.objectNode().put("n_requests", 3).put("gen_ms", 12.5);
    WalRecord full =
        new WalRecord.Event(
            "gofrugal",
            "20261130T104450Z-gofrugal-e395e0",
            1,
            Instant.parse("2026-11-30T10:44:50.773066Z"),
            "sales_item_wise",
            "1002",
            LocalDate.of(2026, 9, 20),
            EventStatus.OK,
            200,
            43L,
            1,
            1,
            1200,
            800,
            "",
            null);
    WalRecord few =
        new WalRecord.Event(
            "gofrugal",
            "20261130T104450Z-gofrugal-e395e0",
            3,
            Instant.parse("2026-11-30T10:44:50.776130Z"),
            "stock",
            null,
            null,
            EventStatus.ZERO_ROWS,
            200,
            0L,
            null,
            null,
            null,
            null,
            null,
            extra);

    assertThat(line(full))
        .isEqualTo(
            "{\"kind\":\"event\",\"extractor\":\"gofrugal\",\"run_id\":\"20261130T104450Z-gofrugal-e395e0\",\"seq\":1,"
                + "\"ran_at\":\"2026-11-30T10:44:50.773066+00:00\",\"entity\":\"sales_item_wise\",\"unit\":\"1002\","
                + "\"business_date\":\"2026-09-20\",\"status\":\"ok\",\"http_status\":200,\"rows\":43,\"source_attempts\":1,"
                + "\"sink_attempts\":1,\"pull_ms\":1200,\"load_ms\":800,\"error_detail\":null,\"extra\":null}\n");
    assertThat(line(few))
        .isEqualTo(
            "{\"kind\":\"event\",\"extractor\":\"gofrugal\",\"run_id\":\"20261130T104450Z-gofrugal-e395e0\",\"seq\":3,"
                + "\"ran_at\":\"2026-11-30T10:44:50.776130+00:00\",\"entity\":\"stock\",\"unit\":null,\"business_date\":null,"
                + "\"status\":\"zero_rows\",\"http_status\":200,\"rows\":0,\"source_attempts\":null,\"sink_attempts\":null,"
                + "\"pull_ms\":null,\"load_ms\":null,\"error_detail\":null,\"extra\":{\"n_requests\":3,\"gen_ms\":12.5}}\n");
  }

  @Test
  void theEndsOfTheNumbersAreThePackagesLine() {
    WalRecord bounds =
        new WalRecord.Event(
            "stylehr",
            "20260920T181500Z-stylehr-ffffff",
            6,
            Instant.parse("2026-11-30T10:44:52.923356Z"),
            "bounds",
            null,
            null,
            EventStatus.OK,
            Integer.MAX_VALUE,
            Long.MAX_VALUE,
            null,
            null,
            Integer.MIN_VALUE,
            null,
            null,
            null);

    assertThat(line(bounds))
        .isEqualTo(
            "{\"kind\":\"event\",\"extractor\":\"stylehr\",\"run_id\":\"20260920T181500Z-stylehr-ffffff\",\"seq\":6,"
                + "\"ran_at\":\"2026-11-30T10:44:52.923356+00:00\",\"entity\":\"bounds\",\"unit\":null,\"business_date\":null,"
                + "\"status\":\"ok\",\"http_status\":2147483647,\"rows\":9223372036854775807,\"source_attempts\":null,"
                + "\"sink_attempts\":null,\"pull_ms\":-2147483648,\"load_ms\":null,\"error_detail\":null,\"extra\":null}\n");
  }

  @Test
  void aBudgetIsThePackagesLine() {
    Instant ranAt = Instant.parse("2026-11-30T10:44:50.889005Z");
    WalRecord budget =
        new WalRecord.Budget(
            "zakya",
            "20260920T181500Z-zakya-0a1b2c",
            BudgetName.API_DAILY.word(),
            25_000L,
            24_000L,
            1_000L,
            false,
            ranAt);
    WalRecord own =
        new WalRecord.Budget(
            "zakya", "20260920T181500Z-zakya-0a1b2c", "custom", null, 7L, null, true, ranAt);

    assertThat(line(budget))
        .isEqualTo(
            "{\"kind\":\"budget\",\"extractor\":\"zakya\",\"run_id\":\"20260920T181500Z-zakya-0a1b2c\","
                + "\"budget_name\":\"api_daily\",\"limit_val\":25000,\"used\":24000,\"remaining\":1000,\"hit\":false,"
                + "\"ran_at\":\"2026-11-30T10:44:50.889005+00:00\"}\n");
    assertThat(line(own))
        .endsWith(
            "\"budget_name\":\"custom\",\"limit_val\":null,\"used\":7,\"remaining\":null,\"hit\":true,"
                + "\"ran_at\":\"2026-11-30T10:44:50.889005+00:00\"}\n");
  }

  @Test
  void aFinishIsThePackagesLine() {
    assertThat(line(finish(47, null)))
        .isEqualTo(
            "{\"kind\":\"run_finish\",\"extractor\":\"zakya\",\"run_id\":\"20260920T181500Z-zakya-0a1b2c\","
                + "\"started_at\":\"2026-11-30T10:44:50.849182+00:00\",\"finished_at\":\"2026-11-30T10:44:50.894679+00:00\","
                + "\"status\":\"partial\",\"stop_reason\":\"budget_time\",\"n_ok\":47,\"n_err\":1,\"n_skipped\":0}\n");
    assertThat(line(finish(null, null))).contains("\"n_ok\":null,\"n_err\":1,");
  }

  private static WalRecord finish(Integer ok, ObjectNode extra) {
    return new WalRecord.RunFinish(
        "zakya",
        "20260920T181500Z-zakya-0a1b2c",
        Instant.parse("2026-11-30T10:44:50.849182Z"),
        Instant.parse("2026-11-30T10:44:50.894679Z"),
        RunStatus.PARTIAL,
        StopReason.BUDGET_TIME,
        ok,
        1,
        0,
        extra);
  }

  @Test
  void aRunsExtraComesLastAndOnlyWhereThereIsOne() {
    ObjectNode extra = NODES.objectNode().put("temporal", "x");
    WalRecord start =
        new WalRecord.RunStart("r", "e", null, null, null, Instant.EPOCH, null, extra);

    assertThat(line(start)).endsWith("\"wal_path\":null,\"extra\":{\"temporal\":\"x\"}}\n");
    assertThat(line(finish(0, extra)))
        .endsWith(",\"n_skipped\":0,\"extra\":{\"temporal\":\"x\"}}\n");
    assertThat(line(event(NODES.objectNode()))).endsWith(",\"extra\":{}}\n");
  }

  @Test
  void charactersAreEscapedAsByThePackage() {
    String text =
        "Traceback:\n\tline 1 \"quoted\" \\ back/slash"
            + "é😀漢\u0301ʼ؏\u2028\u2029\ufeff\u007f\u0001\u001f\b\f\n\r\t\"\\/<>&'$`~ \u00a0"
            + "\udbff\udfff\ue000";

    assertThat(value(line(event(text)), "error_detail"))
        .startsWith(
            "\"Traceback:\\n\\tline 1 \\\"quoted\\\" \\\\ back/slash"
                + "\\u00e9\\ud83d\\ude00\\u6f22\\u0301\\u02bc\\u060f\\u2028\\u2029\\ufeff\\u007f\\u0001\\u001f"
                + "\\b\\f\\n\\r\\t\\\"\\\\/<>&'$`~ \\u00a0\\udbff\\udfff\\ue000\",\"extra\":null}");
  }

  @Test
  void extraIsThePackagesText() {
    ObjectNode extra = NODES.objectNode().put("z", 1);
    extra
        .putObject("a")
        .putArray("β")
        .add(1)
        .add(2.0)
        .add(-0.0)
        .add(1e16)
        .add(1e-7)
        .add(new BigInteger("123456789012345678901234567890"))
        .add(true)
        .add(false)
        .addNull()
        .add("\u2028😀");
    extra.put("", "").put("f", 0.1).put("g", 1e22).put("h", Double.MIN_VALUE);
    extra.put("i", Double.MAX_VALUE).put("j", 100_000.0).put("k", 1e15);
    extra.put("l", 0.0001).put("m", 1e-5);

    assertThat(line(event(extra)))
        .isEqualTo(
            "{\"kind\":\"event\",\"extractor\":\"stylehr\",\"run_id\":\"20260920T181500Z-stylehr-ffffff\",\"seq\":4,"
                + "\"ran_at\":\"2026-11-30T10:44:52.920652+00:00\",\"entity\":\"extras\",\"unit\":null,\"business_date\":null,"
                + "\"status\":\"ok\",\"http_status\":null,\"rows\":null,\"source_attempts\":null,\"sink_attempts\":null,"
                + "\"pull_ms\":null,\"load_ms\":null,\"error_detail\":null,\"extra\":{\"z\":1,\"a\":{\"\\u03b2\":"
                + "[1,2.0,-0.0,1e+16,1e-07,123456789012345678901234567890,true,false,null,\"\\u2028\\ud83d\\ude00\"]},"
                + "\"\":\"\",\"f\":0.1,\"g\":1e+22,\"h\":5e-324,\"i\":1.7976931348623157e+308,\"j\":100000.0,"
                + "\"k\":1000000000000000.0,\"l\":0.0001,\"m\":1e-05}}\n");
  }

  @ParameterizedTest
  @CsvSource({
    "1.0, 1.0",
    "0.0, 0.0",
    "-1.5, -1.5",
    "9999999999999998.0, 9999999999999998.0",
    "1.0E16, 1e+16",
    "-1.2345E17, -1.2345e+17",
    "1.0E23, 1e+23",
    "2.0E-3, 0.002",
    "1.0E-4, 0.0001",
    "9.9999E-5, 9.9999e-05",
    "1.0E-5, 1e-05",
    "1.0E-10, 1e-10",
    "1.0E100, 1e+100",
    "2.2250738585072014E-308, 2.2250738585072014e-308",
    "9.88E-324, 1e-323",
    "1.48E-323, 1.5e-323",
    "1.976E-323, 2e-323",
    "2.0019723562102813E-305, 2.0019723562102812e-305",
    "5.0E-324, 5e-324",
  })
  void floatsAreSpelledAsByPython(double value, String expected) {
    assertThat(extra(extra -> extra.put("f", value))).isEqualTo("{\"f\":" + expected + "}");
  }

  @Test
  void decimalsKeepTheirDigitsAndShortFloatsStayShort() {
    assertThat(
            extra(
                extra ->
                    extra
                        .put("a", 0.1f)
                        .put("b", -0.0f)
                        .put("c", new BigDecimal("0.1234567890123456789"))
                        .put("d", new BigDecimal("1E+16"))
                        .put("e", new BigDecimal("2.50"))
                        .put("f", BigDecimal.ZERO)
                        .put("g", new BigDecimal("-12345678901234567890.5"))
                        .put("h", (short) 7)))
        .isEqualTo(
            "{\"a\":0.1,\"b\":-0.0,\"c\":0.1234567890123456789,\"d\":1e+16,\"e\":2.5,\"f\":0.0,"
                + "\"g\":-1.23456789012345678905e+19,\"h\":7}");
  }

  @ParameterizedTest
  @CsvSource({
    "2026-09-20T00:00:00Z, 2026-09-20T00:00:00+00:00",
    "2026-09-20T00:00:00.1Z, 2026-09-20T00:00:00.100000+00:00",
    "2026-09-20T23:59:59.000001Z, 2026-09-20T23:59:59.000001+00:00",
    "2026-09-20T23:59:59.999999999Z, 2026-09-20T23:59:59.999999+00:00",
    "2026-09-20T23:59:59.000000999Z, 2026-09-20T23:59:59+00:00",
    "0001-01-01T00:00:00Z, 0001-01-01T00:00:00+00:00",
    "1969-12-31T23:59:59.5Z, 1969-12-31T23:59:59.500000+00:00",
    "9999-12-31T23:59:59.999999Z, 9999-12-31T23:59:59.999999+00:00",
  })
  void instantsAreSpelledAsByPython(Instant instant, String expected) {
    WalRecord record = new WalRecord.Budget("e", "r", "b", null, null, null, false, instant);

    assertThat(line(record)).endsWith("\"ran_at\":\"" + expected + "\"}\n");
  }

  @Test
  void errorDetailIsCutByCodePoints() {
    String astral = "😀".repeat(2_001);

    assertThat(WalFormat.cut(astral)).isEqualTo("😀".repeat(2_000));
    assertThat(WalFormat.cut("a".repeat(1_999) + "😀b")).isEqualTo("a".repeat(1_999) + "😀");
    assertThat(WalFormat.cut("z".repeat(2_000))).isEqualTo("z".repeat(2_000));
    assertThat(WalFormat.cut("")).isNull();
    assertThat(WalFormat.cut(null)).isNull();
    assertThat(value(line(event(astral)), "error_detail"))
        .isEqualTo("\"" + "\\ud83d\\ude00".repeat(2_000) + "\",\"extra\":null}\n");
    assertThat(line(event("a".repeat(2_000) + "\0"))).contains("aaa\",\"extra\"");
  }

  private static void refused(WalRecord record, String... parts) {
    assertThatThrownBy(() -> WalFormat.line(record))
        .isInstanceOfSatisfying(
            MillraceException.class,
            exception -> assertThat(exception.code()).isEqualTo(ErrorCode.BAD_RECORD))
        .hasMessageContainingAll(parts);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\0", "a\0b", "\ud83d", "\ude00", "\ude00\ud83d", "x\ud83dx", "😀\ud83d"})
  void textThatCantBeStoredIsRefusedWithItsField(String poison) {
    Instant now = Instant.EPOCH;
    ObjectNode inKey = NODES.objectNode();
    inKey.putObject("outer").put(poison, 1);
    ObjectNode inValue = NODES.objectNode();
    inValue.putArray("list").add("fine").addObject().put("deep", poison);

    refused(event(poison), "error_detail has ", "20260920T181500Z-stylehr-ffffff");
    refused(event(inValue), "extra.list[1].deep has ");
    refused(event(inKey), "a key of extra.outer has ");
    refused(new WalRecord.RunStart("r", "e", poison, null, 1, now, null, null), "mode has ");
    refused(new WalRecord.RunStart("r", "e", null, poison, 1, now, null, null), "host has ");
    refused(new WalRecord.RunStart("r", "e", null, null, 1, now, poison, null), "wal_path has ");
    refused(new WalRecord.RunStart("r", "e", null, null, 1, now, null, inKey), "a key of extra");
    refused(new WalRecord.RunStart(poison, "e", null, null, 1, now, null, null), "run_id has ");
    refused(new WalRecord.RunStart("r", poison, null, null, 1, now, null, null), "extractor has ");
    refused(new WalRecord.Budget("e", "r", poison, 1L, 1L, 1L, true, now), "budget_name has ");
    refused(named(poison, null), "entity has ");
    refused(named(null, poison), "unit has ");
    refused(finish(0, inValue), "extra.list[1].deep has ");
  }

  private static WalRecord named(String entity, String unit) {
    return new WalRecord.Event(
        "e",
        "r",
        0,
        Instant.EPOCH,
        entity,
        unit,
        null,
        EventStatus.OK,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null);
  }

  @Test
  void numbersThatCantBeStoredAreRefusedWithTheirField() {
    for (Map.Entry<JsonNode, String> poison :
        Map.<JsonNode, String>of(
                NODES.numberNode(Double.NaN), "NaN",
                NODES.numberNode(Double.NEGATIVE_INFINITY), "-Infinity",
                NODES.numberNode(Float.POSITIVE_INFINITY), "Infinity",
                NODES.numberNode(new BigDecimal("1E+309")), "range of a double",
                NODES.numberNode(new BigDecimal("1E+200000")), "range of a double",
                NODES.numberNode(new BigDecimal("1E-16384")), "16383 digits",
                NODES.numberNode(BigInteger.TEN.pow(4_300)), "4300 digits",
                NODES.binaryNode(new byte[1]), "BinaryNode",
                NODES.pojoNode(new Object()), "POJONode")
            .entrySet()) {
      ObjectNode extra = NODES.objectNode();
      extra.putArray("list").add(0).add(poison.getKey());
      refused(event(extra), "extra.list[1] ", poison.getValue());
    }
    assertThat(extra(extra -> extra.put("n", BigInteger.TEN.pow(4_299).negate())))
        .isEqualTo("{\"n\":-1" + "0".repeat(4_299) + "}");
  }

  @Test
  void extraThatIsNestedTooDeepIsRefused() {
    ObjectNode extra = NODES.objectNode();
    ObjectNode inner = extra;
    for (int level = 1; level < 500; level++) {
      inner = inner.putObject("x");
    }
    assertThat(line(event(extra))).contains("{\"x\":{\"x\":{");

    inner.putArray("x");
    refused(event(extra), "extra.x.x.x", "deeper than 500 levels");
  }

  @Test
  void aRecordThatNoReaderWouldKeepIsRefused() {
    ObjectNode extra = NODES.objectNode().put("text", "x".repeat(WalFormat.LONGEST_LINE));

    refused(event(extra), "bytes", "16777216");
  }

  @Test
  void namesAndTimesThatCantBeStoredAreRefusedWithTheirField() {
    Instant now = Instant.EPOCH;
    String longest = "x".repeat(200);

    refused(new WalRecord.Budget("", "r", "b", 1L, 1L, 1L, true, now), "extractor is empty");
    refused(new WalRecord.Budget("e", "", "b", 1L, 1L, 1L, true, now), "run_id is empty");
    refused(new WalRecord.Budget("e", "r", "", 1L, 1L, 1L, true, now), "budget_name is empty");
    refused(new WalRecord.Budget(null, "r", "b", 1L, 1L, 1L, true, now), "extractor is missing");
    refused(new WalRecord.Budget("e", null, "b", 1L, 1L, 1L, true, now), "run_id is missing");
    refused(new WalRecord.Budget("e", "r", null, 1L, 1L, 1L, true, now), "budget_name is missing");
    refused(new WalRecord.Budget("e", "r", "b", 1L, 1L, 1L, true, null), "ran_at is missing");
    refused(
        new WalRecord.Budget(longest + "x", "r", "b", 1L, 1L, 1L, true, now),
        "extractor has 201 characters",
        "200");
    refused(
        new WalRecord.Budget("e", longest + "x", "b", 1L, 1L, 1L, true, now),
        "run_id has 201 characters");
    refused(
        new WalRecord.Budget("e", "r", longest + "x", 1L, 1L, 1L, true, now),
        "budget_name has 201 characters");
    assertThat(line(new WalRecord.Budget(longest, longest, longest, 1L, 1L, 1L, true, now)))
        .contains(longest);
    for (String bad :
        List.of("0000-12-31T23:59:59Z", "-0001-01-01T00:00:00Z", "+10000-01-01T00:00:00Z")) {
      refused(
          new WalRecord.Budget("e", "r", "b", 1L, 1L, 1L, true, Instant.parse(bad)),
          "ran_at is not in the years 1 to 9999");
    }
    refused(new WalRecord.Budget("e", "r", "b", 1L, 1L, 1L, true, Instant.MAX), "ran_at is not");
    refused(new WalRecord.Budget("e", "r", "b", 1L, 1L, 1L, true, Instant.MIN), "ran_at is not");
    refused(dated(LocalDate.of(0, 1, 1)), "business_date is not in the years 1 to 9999");
    refused(dated(LocalDate.of(10_000, 1, 1)), "business_date is not");
    assertThat(line(dated(LocalDate.of(1, 2, 3)))).contains("\"business_date\":\"0001-02-03\"");
  }

  private static WalRecord dated(LocalDate date) {
    return new WalRecord.Event(
        "e",
        "r",
        0,
        Instant.EPOCH,
        null,
        null,
        date,
        EventStatus.OK,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null);
  }

  private static String text(Random random) {
    String characters = "aZ0 \"\\/\b\f\n\r\t\u0001\u001f<>&'\u007f\u0080é\u2028\ufeff\uffff";
    StringBuilder text = new StringBuilder();
    for (int length = random.nextInt(12); length > 0; length--) {
      if (random.nextInt(8) == 0) {
        text.appendCodePoint(0x10000 + random.nextInt(0x100000));
      } else {
        text.append(characters.charAt(random.nextInt(characters.length())));
      }
    }
    return text.toString();
  }

  private static JsonNode value(Random random, int levels) {
    return switch (random.nextInt(levels == 0 ? 5 : 8)) {
      case 0 -> NODES.textNode(text(random));
      case 1 -> NODES.numberNode(random.nextLong() >> random.nextInt(64));
      case 2 -> NODES.numberNode(new BigInteger(random.nextInt(300) + 65, random).negate());
      case 3 -> {
        double number = Double.longBitsToDouble(random.nextLong());
        yield NODES.numberNode(Double.isFinite(number) ? number : 0.5);
      }
      case 4 -> random.nextBoolean() ? NODES.nullNode() : NODES.booleanNode(random.nextBoolean());
      case 5 -> {
        ArrayNode list = NODES.arrayNode();
        for (int size = random.nextInt(4); size > 0; size--) {
          list.add(value(random, levels - 1));
        }
        yield list;
      }
      default -> object(random, levels - 1);
    };
  }

  private static ObjectNode object(Random random, int levels) {
    ObjectNode object = NODES.objectNode();
    for (int size = random.nextInt(4); size > 0; size--) {
      object.set(text(random), value(random, levels));
    }
    return object;
  }

  @Property(tries = 500)
  void aLineIsAsciiAndReadsBackEqual(@ForAll long seed) throws IOException {
    Random random = new Random(seed);
    String text = text(random);
    ObjectNode extra = object(random, 3);
    Instant ranAt = Instant.ofEpochSecond(random.nextLong() >> 29, random.nextInt(1_000_000_000));
    byte[] bytes =
        WalFormat.line(
            new WalRecord.Event(
                "e",
                "r",
                7,
                ranAt,
                text,
                null,
                null,
                EventStatus.OK,
                null,
                1L,
                null,
                null,
                null,
                null,
                text,
                extra));

    for (int index = 0; index < bytes.length - 1; index++) {
      assertThat(bytes[index]).isBetween((byte) 0x20, (byte) 0x7e);
    }
    assertThat(bytes[bytes.length - 1]).isEqualTo((byte) '\n');
    JsonNode back = READER.readTree(bytes);
    assertThat(back.get("entity").textValue()).isEqualTo(text);
    assertThat(back.get("error_detail").textValue()).isEqualTo(text.isEmpty() ? null : text);
    assertThat(normal(back.get("extra"))).isEqualTo(normal(extra));
    assertThat(Instant.parse(back.get("ran_at").textValue()))
        .isEqualTo(ranAt.truncatedTo(ChronoUnit.MICROS));
    assertThat(back.size()).isEqualTo(17);
  }

  /** Whole numbers of the same value are equal whatever their type in Java. */
  private static JsonNode normal(JsonNode value) throws IOException {
    return READER.readTree(new ObjectMapper().writeValueAsString(value));
  }

  @Property(tries = 2_000)
  void aFloatReadsBackEqual(@ForAll long bits) {
    double value = Double.longBitsToDouble(bits);
    if (!Double.isFinite(value)) {
      return;
    }
    String text = PythonFloat.text(value);

    assertThat(Double.doubleToLongBits(Double.parseDouble(text)))
        .isEqualTo(Double.doubleToLongBits(value));
    assertThat(text).matches("-?[0-9]+\\.[0-9]+|-?[0-9](\\.[0-9]*[1-9])?e[+-][0-9]{2,3}");
  }
}
