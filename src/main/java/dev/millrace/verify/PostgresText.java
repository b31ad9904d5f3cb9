package dev.millrace.verify;

import dev.millrace.parquet.Form;
import dev.millrace.parquet.Values;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * Turns Postgres' own text of values into the form in which they are compared. The text comes from
 * the server's output functions and not from the bytes that the writer of files reads.
 *
 * <p>The session has to have time zone UTC, DateStyle ISO and {@code bytea_output} hex. Not
 * thread-safe.
 */
final class PostgresText {
  private static final long DAY_MICROS = 86_400_000_000L;
  private static final long FIRST_DATE = LocalDate.of(-4713, 11, 24).toEpochDay();
  private static final long LAST_DATE = LocalDate.of(5_874_897, 12, 31).toEpochDay();
  private static final long FIRST_TIMESTAMP = FIRST_DATE * DAY_MICROS;
  private static final long LAST_TIMESTAMP = Long.MAX_VALUE;

  private final Form form;
  private final boolean hex;
  private final boolean clamp;
  private long unheld;

  /**
   * Makes the rule of a column.
   *
   * @param form what its values are in the lake
   * @param hex whether text comes as hexadecimal digits of its bytes
   * @param clamp whether a run has put the end of a type's range in the place of infinity, and not
   *     NULL
   */
  PostgresText(Form form, boolean hex, boolean clamp) {
    this.form = form;
    this.hex = hex;
    this.clamp = clamp;
  }

  /** Returns how many values the lake's type can't hold, so that a rule has replaced them. */
  long unheld() {
    return unheld;
  }

  /** Takes back what was counted since: rows are read a second time where some are shown. */
  void forgetSince(long before) {
    unheld = before;
  }

  /** Puts a value. */
  void put(byte[] data, int offset, int length, Values values) {
    if (form.depth() == 0) {
      putScalar(data, offset, length, values);
      return;
    }
    putArray(new String(data, offset, length, StandardCharsets.UTF_8), values);
  }

  private void putScalar(byte[] data, int offset, int length, Values values) {
    switch (form.kind()) {
      case TEXT -> {
        if (hex) {
          putHex(data, offset, length, values);
        } else {
          values.putBytes(data, offset, length);
        }
      }
      case BYTES -> putHex(data, offset, length, values);
      case NUMBER -> putNumber(ascii(data, offset, length), values);
      case FLOAT -> values.putFloat(Float.parseFloat(ascii(data, offset, length)));
      case DOUBLE -> values.putDouble(Double.parseDouble(ascii(data, offset, length)));
      case BOOLEAN -> values.putBoolean(data[offset] == 't');
      case UUID -> {
        byte[] bytes = HexFormat.of().parseHex(ascii(data, offset, length).replace("-", ""));
        values.putBytes(bytes, 0, bytes.length);
      }
      case DATE -> putDate(ascii(data, offset, length), values);
      case TIME -> putTime(ascii(data, offset, length), values);
      case TIMESTAMP -> putTimestamp(ascii(data, offset, length), values);
    }
  }

  private static String ascii(byte[] data, int offset, int length) {
    return new String(data, offset, length, StandardCharsets.ISO_8859_1);
  }

  private static void putHex(byte[] data, int offset, int length, Values values) {
    byte[] bytes = HexFormat.of().parseHex(ascii(data, offset + 2, length - 2));
    values.putBytes(bytes, 0, bytes.length);
  }

  /** NaN, Infinity and -Infinity are no numbers of Parquet. */
  private void putNumber(String text, Values values) {
    if (text.endsWith("N") || text.endsWith("y")) {
      putReplaced(values);
      return;
    }
    values.putNumber(text);
  }

  private void putReplaced(Values values) {
    unheld++;
    values.putNull();
  }

  private void putInfinity(boolean negative, long first, long last, Values values) {
    if (!clamp) {
      putReplaced(values);
      return;
    }
    unheld++;
    values.putLong(negative ? first : last);
  }

  private void putDate(String text, Values values) {
    if (text.endsWith("infinity")) {
      putInfinity(text.startsWith("-"), FIRST_DATE, LAST_DATE, values);
      return;
    }
    boolean before = text.endsWith(" BC");
    values.putLong(day(before ? text.substring(0, text.length() - 3) : text, before));
  }

  /** Reads year, month and day; the year before year 1 is called 1 BC. */
  private static long day(String date, boolean before) {
    int dayAt = date.lastIndexOf('-');
    int monthAt = date.lastIndexOf('-', dayAt - 1);
    int year = Integer.parseInt(date, 0, monthAt, 10);
    return LocalDate.of(
            before ? 1 - year : year,
            Integer.parseInt(date, monthAt + 1, dayAt, 10),
            Integer.parseInt(date, dayAt + 1, date.length(), 10))
        .toEpochDay();
  }

  private void putTime(String text, Values values) {
    if (text.startsWith("24")) {
      putReplaced(values);
      return;
    }
    values.putLong(micros(text));
  }

  private static long micros(String time) {
    return LocalTime.parse(time).toNanoOfDay() / 1_000;
  }

  private void putTimestamp(String text, Values values) {
    if (text.endsWith("infinity")) {
      putInfinity(text.startsWith("-"), FIRST_TIMESTAMP, LAST_TIMESTAMP, values);
      return;
    }
    boolean before = text.endsWith(" BC");
    int end = before ? text.length() - 3 : text.length();
    if (text.startsWith("+00", end - 3)) {
      end -= 3;
    }
    int blank = text.indexOf(' ');
    values.putLong(
        Math.addExact(
            Math.multiplyExact(day(text.substring(0, blank), before), DAY_MICROS),
            micros(text.substring(blank + 1, end))));
  }

  /**
   * Puts an array from its <a
   * href="https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO">text form</a>; its lower
   * bounds are not kept in a file.
   */
  private void putArray(String text, Values values) {
    int start = text.startsWith("[") ? text.indexOf('=') + 1 : 0;
    new ArrayReader(text, start).put(values);
  }

  private final class ArrayReader {
    private final String text;
    private int at;

    private ArrayReader(String text, int at) {
      this.text = text;
      this.at = at;
    }

    private void put(Values values) {
      write(read(), values);
    }

    /** Reads an element: text, or null for NULL; or a list of such. */
    private Object read() {
      if (text.charAt(at) == '{') {
        at++;
        List<Object> elements = new ArrayList<>();
        while (text.charAt(at) != '}') {
          elements.add(read());
          if (text.charAt(at) == ',') {
            at++;
          }
        }
        at++;
        return elements;
      }
      return text.charAt(at) == '"' ? quoted() : plain();
    }

    private String quoted() {
      StringBuilder element = new StringBuilder();
      for (at++; text.charAt(at) != '"'; at++) {
        if (text.charAt(at) == '\\') {
          at++;
        }
        element.append(text.charAt(at));
      }
      at++;
      return element.toString();
    }

    private String plain() {
      int from = at;
      while (text.charAt(at) != ',' && text.charAt(at) != '}') {
        at++;
      }
      String element = text.substring(from, at);
      return element.equals("NULL") ? null : element;
    }

    private void write(Object element, Values values) {
      if (element == null) {
        values.putNull();
        return;
      }
      if (element instanceof List<?> elements) {
        values.putList(elements.size());
        elements.forEach(inner -> write(inner, values));
        return;
      }
      byte[] bytes = ((String) element).getBytes(StandardCharsets.UTF_8);
      putScalar(bytes, 0, bytes.length, values);
    }
  }
}
