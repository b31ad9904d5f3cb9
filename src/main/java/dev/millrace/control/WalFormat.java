package dev.millrace.control;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

/**
 * The bytes of a record in a write-ahead log: those that feather-control-plane 0.1.0 writes.
 *
 * <p>One JSON object a line, ASCII only, all keys in a fixed order. What could not be shipped later
 * is refused here. Stateless.
 */
public final class WalFormat {
  /** The most bytes of a line; readers set longer ones aside. */
  public static final int LONGEST_LINE = 16 << 20;

  /** The most characters of an extractor's, a run's and a budget's name. */
  static final int LONGEST_NAME = 200;

  /** The seconds that Python and Postgres both have. */
  private static final long FIRST = Instant.parse("0001-01-01T00:00:00Z").getEpochSecond();

  private static final long LAST = Instant.parse("9999-12-31T23:59:59Z").getEpochSecond();

  private final StringBuilder line = new StringBuilder(512);
  private final WalRecord record;

  private WalFormat(WalRecord record) {
    this.record = record;
  }

  /**
   * Returns the line of a record, with its line feed.
   *
   * @throws MillraceException with {@code BAD_RECORD} when the record holds what Postgres or
   *     another reader of the log can't take; the message names the field
   */
  public static byte[] line(WalRecord record) {
    return new WalFormat(record).write();
  }

  /**
   * Cuts an error's text to what an event keeps.
   *
   * @param errorDetail null is fine
   * @return its first {@link WalRecord#ERROR_DETAIL_CAP} code points; null for null and for nothing
   */
  public static String cut(String errorDetail) {
    if (errorDetail == null || errorDetail.isEmpty()) {
      return null;
    }
    if (errorDetail.codePointCount(0, errorDetail.length()) <= WalRecord.ERROR_DETAIL_CAP) {
      return errorDetail;
    }
    return errorDetail.substring(0, errorDetail.offsetByCodePoints(0, WalRecord.ERROR_DETAIL_CAP));
  }

  /**
   * Returns a text that a line can hold: what it can't is replaced by {@code U+FFFD}.
   *
   * @param text any text; null stays null
   */
  public static String printable(String text) {
    if (text == null) {
      return null;
    }
    StringBuilder printable = new StringBuilder(text.length());
    text.codePoints()
        .map(
            point -> point == 0 || Character.getType(point) == Character.SURROGATE ? 0xfffd : point)
        .forEach(printable::appendCodePoint);
    return printable.toString();
  }

  /** Appends a text as a JSON string in ASCII. */
  static void quote(StringBuilder target, String text) {
    target.append('"');
    if (isPlain(text)) {
      target.append(text).append('"');
      return;
    }
    for (int index = 0; index < text.length(); index++) {
      char character = text.charAt(index);
      switch (character) {
        case '"' -> target.append("\\\"");
        case '\\' -> target.append("\\\\");
        case '\b' -> target.append("\\b");
        case '\f' -> target.append("\\f");
        case '\n' -> target.append("\\n");
        case '\r' -> target.append("\\r");
        case '\t' -> target.append("\\t");
        default -> {
          if (character >= 0x20 && character <= 0x7e) {
            target.append(character);
          } else {
            String hexadecimal = Integer.toHexString(character);
            target.append("\\u").append("0".repeat(4 - hexadecimal.length())).append(hexadecimal);
          }
        }
      }
    }
    target.append('"');
  }

  private static boolean isPlain(String text) {
    for (int index = 0; index < text.length(); index++) {
      char character = text.charAt(index);
      if (character < 0x20 || character > 0x7e || character == '"' || character == '\\') {
        return false;
      }
    }
    return true;
  }

  private byte[] write() {
    // One loop over a list: code for each field of its own would be cold whenever a sync is over.
    Object[] fields = fields();
    for (int index = 0; index < fields.length; index += 2) {
      line.append(index == 0 ? "{\"" : ",\"").append(fields[index]).append("\":");
      append((String) fields[index], fields[index + 1]);
    }
    line.append("}\n");
    if (line.length() > LONGEST_LINE) {
      throw refused(
          "it takes %d bytes, and the limit is %d".formatted(line.length(), LONGEST_LINE));
    }
    return line.toString().getBytes(StandardCharsets.US_ASCII);
  }

  /** Returns keys and values in turn. */
  private Object[] fields() {
    if (record instanceof WalRecord.RunStart start) {
      Object[] fields = {
        "kind", "run_start",
        "run_id", name("run_id", start.runId()),
        "extractor", name("extractor", start.extractor()),
        "mode", start.mode(),
        "host", start.host(),
        "pid", start.pid(),
        "started_at", needed("started_at", start.startedAt()),
        "status", RunStatus.RUNNING.word(),
        "wal_path", start.walPath()
      };
      return withExtra(fields, start.extra());
    }
    if (record instanceof WalRecord.Event event) {
      return new Object[] {
        "kind", "event",
        "extractor", name("extractor", event.extractor()),
        "run_id", name("run_id", event.runId()),
        "seq", event.seq(),
        "ran_at", needed("ran_at", event.ranAt()),
        "entity", event.entity(),
        "unit", event.unit(),
        "business_date", event.businessDate(),
        "status", needed("status", event.status()).word(),
        "http_status", event.httpStatus(),
        "rows", event.rows(),
        "source_attempts", event.sourceAttempts(),
        "sink_attempts", event.sinkAttempts(),
        "pull_ms", event.pullMs(),
        "load_ms", event.loadMs(),
        "error_detail", cut(event.errorDetail()),
        "extra", event.extra()
      };
    }
    if (record instanceof WalRecord.Budget budget) {
      return new Object[] {
        "kind", "budget",
        "extractor", name("extractor", budget.extractor()),
        "run_id", name("run_id", budget.runId()),
        "budget_name", name("budget_name", budget.budgetName()),
        "limit_val", budget.limit(),
        "used", budget.used(),
        "remaining", budget.remaining(),
        "hit", budget.hit(),
        "ran_at", needed("ran_at", budget.ranAt())
      };
    }
    WalRecord.RunFinish finish = (WalRecord.RunFinish) record;
    Object[] fields = {
      "kind", "run_finish",
      "extractor", name("extractor", finish.extractor()),
      "run_id", name("run_id", finish.runId()),
      "started_at", needed("started_at", finish.startedAt()),
      "finished_at", needed("finished_at", finish.finishedAt()),
      "status", needed("status", finish.status()).word(),
      "stop_reason", needed("stop_reason", finish.stopReason()).word(),
      "n_ok", finish.ok(),
      "n_err", finish.failed(),
      "n_skipped", finish.skipped()
    };
    return withExtra(fields, finish.extra());
  }

  /** A run's extra comes last, and only where there is one. */
  private static Object[] withExtra(Object[] fields, ObjectNode extra) {
    if (extra == null) {
      return fields;
    }
    Object[] more = Arrays.copyOf(fields, fields.length + 2);
    more[fields.length] = "extra";
    more[fields.length + 1] = extra;
    return more;
  }

  private void append(String key, Object value) {
    if (value instanceof String text) {
      refuse(Poison.in(key, text));
      quote(line, text);
    } else if (value instanceof Instant instant) {
      appendInstant(key, instant);
    } else if (value instanceof LocalDate date) {
      checkYear(key, date.getYear());
      line.append('"').append(date).append('"');
    } else if (value instanceof ObjectNode object) {
      refuse(Poison.in(key, object));
      append(object);
    } else {
      line.append(value); // A number, a boolean or null.
    }
  }

  /** Python's clock has microseconds and leaves a fraction of zero out. */
  private void appendInstant(String key, Instant instant) {
    // Some years are beyond those of a LocalDateTime.
    long second = instant.getEpochSecond();
    checkYear(key, second < FIRST ? 0 : second > LAST ? 10_000 : 1);
    LocalDateTime time = LocalDateTime.ofEpochSecond(second, instant.getNano(), ZoneOffset.UTC);
    line.append('"');
    padded(4, time.getYear()).append('-');
    padded(2, time.getMonthValue()).append('-');
    padded(2, time.getDayOfMonth()).append('T');
    padded(2, time.getHour()).append(':');
    padded(2, time.getMinute()).append(':');
    padded(2, time.getSecond());
    int microseconds = time.getNano() / 1_000;
    if (microseconds != 0) {
      line.append('.');
      padded(6, microseconds);
    }
    line.append("+00:00\"");
  }

  private StringBuilder padded(int width, int number) {
    for (int limit = 10, digits = 1; digits < width; limit *= 10, digits++) {
      if (number < limit) {
        line.append('0');
      }
    }
    return line.append(number);
  }

  private void append(JsonNode value) {
    switch (value.getNodeType()) {
      case STRING -> quote(line, value.textValue());
      case NUMBER -> appendNumber(value);
      case ARRAY -> {
        line.append('[');
        for (int index = 0; index < value.size(); index++) {
          line.append(index == 0 ? "" : ",");
          append(value.get(index));
        }
        line.append(']');
      }
      case OBJECT -> {
        line.append('{');
        String separator = "";
        for (Map.Entry<String, JsonNode> member : value.properties()) {
          line.append(separator);
          quote(line, member.getKey());
          line.append(':');
          append(member.getValue());
          separator = ",";
        }
        line.append('}');
      }
      case NULL, BOOLEAN -> line.append(value.asText());
      case BINARY, MISSING, POJO -> throw new IllegalStateException("poison passed: " + value);
    }
  }

  private void appendNumber(JsonNode value) {
    switch (value.numberType()) {
      case INT, LONG, BIG_INTEGER -> line.append(value.asText());
      case FLOAT -> line.append(PythonFloat.text(value.floatValue()));
      case DOUBLE -> line.append(PythonFloat.text(value.doubleValue()));
      case BIG_DECIMAL -> line.append(PythonFloat.exact(value.decimalValue()));
    }
  }

  /** A name is part of a key in Postgres, whose index takes no long ones. */
  private String name(String key, String name) {
    if (needed(key, name).isEmpty()) {
      throw refused(key + " is empty");
    }
    if (name.length() > LONGEST_NAME) {
      throw refused(
          "%s has %d characters, and the limit is %d".formatted(key, name.length(), LONGEST_NAME));
    }
    return name;
  }

  private void checkYear(String key, int year) {
    if (year < 1 || year > 9999) {
      throw refused(key + " is not in the years 1 to 9999");
    }
  }

  private <T> T needed(String key, T value) {
    if (value == null) {
      throw refused(key + " is missing");
    }
    return value;
  }

  private void refuse(Optional<String> flaw) {
    flaw.ifPresent(
        text -> {
          throw refused(text);
        });
  }

  private MillraceException refused(String flaw) {
    return new MillraceException(
        ErrorCode.BAD_RECORD,
        "a record of run %s was not written to its log: %s; correct that and record it again"
            .formatted(record.runId() == null ? "?" : Poison.shown(record.runId()), flaw));
  }
}
