package dev.millrace.refresh;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The type that the values of a source column have, with domains taken off.
 *
 * @param kind what the values are
 * @param text the type as {@code format_type} shows it
 * @param precision digits of a {@code numeric}, 0 for one without; fraction digits of a timestamp,
 *     0 to 6; 0 for others
 * @param scale fraction digits of a {@code numeric}, which may be negative; 0 for others
 * @param element the type of an array's elements; null for others
 */
record PostgresType(Kind kind, String text, int precision, int scale, PostgresType element) {
  private static final Pattern NUMERIC = Pattern.compile("numeric\\((\\d+),(-?\\d+)\\)");
  private static final Pattern TIMESTAMP =
      Pattern.compile("timestamp(?:\\((\\d)\\))? (with|without) time zone");
  private static final Pattern LENGTH = Pattern.compile("(character varying|character)\\(\\d+\\)");
  private static final int MICROSECONDS = 6;

  private static final Map<String, Kind> KINDS =
      Map.ofEntries(
          Map.entry("smallint", Kind.INT2),
          Map.entry("integer", Kind.INT4),
          Map.entry("bigint", Kind.INT8),
          Map.entry("numeric", Kind.NUMERIC),
          Map.entry("real", Kind.FLOAT4),
          Map.entry("double precision", Kind.FLOAT8),
          Map.entry("boolean", Kind.BOOLEAN),
          Map.entry("text", Kind.TEXT),
          Map.entry("character varying", Kind.TEXT),
          Map.entry("name", Kind.TEXT),
          Map.entry("json", Kind.TEXT),
          Map.entry("character", Kind.PADDED_TEXT),
          Map.entry("bpchar", Kind.PADDED_TEXT),
          Map.entry("bytea", Kind.BYTES),
          Map.entry("uuid", Kind.UUID),
          Map.entry("date", Kind.DATE),
          Map.entry("inet", Kind.ADDRESS),
          Map.entry("jsonb", Kind.STABLE_FORM),
          Map.entry("xml", Kind.STABLE_FORM),
          Map.entry("cidr", Kind.STABLE_FORM),
          Map.entry("macaddr", Kind.STABLE_FORM),
          Map.entry("macaddr8", Kind.STABLE_FORM),
          Map.entry("\"char\"", Kind.STABLE_FORM),
          Map.entry("oid", Kind.STABLE_FORM),
          Map.entry("citext", Kind.STABLE_FORM),
          Map.entry("hstore", Kind.STABLE_FORM),
          Map.entry("ltree", Kind.STABLE_FORM),
          Map.entry("tsvector", Kind.STABLE_FORM),
          Map.entry("int4range", Kind.STABLE_FORM),
          Map.entry("int8range", Kind.STABLE_FORM),
          Map.entry("numrange", Kind.STABLE_FORM));

  /** What a value is, by what has to be done with it. */
  enum Kind {
    INT2,
    INT4,
    INT8,
    NUMERIC,
    FLOAT4,
    FLOAT8,
    BOOLEAN,
    /** Text whose binary form is its UTF-8: text, varchar, name, json. */
    TEXT,
    /** {@code char(n)}; a cast to text would take its blanks away. */
    PADDED_TEXT,
    /** The label of an enum. */
    LABEL,
    BYTES,
    UUID,
    DATE,
    TIMESTAMP,
    TIMESTAMP_WITH_ZONE,
    /** {@code inet}. */
    ADDRESS,
    ARRAY,
    /** Other types whose text form depends on no setting of a session. */
    STABLE_FORM,
    /** Other types. Their text form may depend on the session's zone, styles or locale. */
    SESSION_FORM
  }

  /**
   * Reads the text of {@code format_type} for a type that is no domain and no array.
   *
   * @param label whether the catalogue says that it is an enum, whose name can be anything
   */
  static PostgresType scalar(String text, boolean label) {
    if (label) {
      return plain(Kind.LABEL, text);
    }
    Matcher numeric = NUMERIC.matcher(text);
    if (numeric.matches()) {
      return new PostgresType(
          Kind.NUMERIC,
          text,
          Integer.parseInt(numeric.group(1)),
          Integer.parseInt(numeric.group(2)),
          null);
    }
    Matcher timestamp = TIMESTAMP.matcher(text);
    if (timestamp.matches()) {
      Kind kind = timestamp.group(2).equals("with") ? Kind.TIMESTAMP_WITH_ZONE : Kind.TIMESTAMP;
      String digits = timestamp.group(1);
      return new PostgresType(
          kind, text, digits == null ? MICROSECONDS : Integer.parseInt(digits), 0, null);
    }
    Matcher length = LENGTH.matcher(text);
    String name = length.matches() ? length.group(1) : text;
    return plain(KINDS.getOrDefault(name, Kind.SESSION_FORM), text);
  }

  /** Returns the type of arrays of these elements, of any number of dimensions. */
  static PostgresType arrayOf(PostgresType element) {
    return new PostgresType(Kind.ARRAY, element.text() + "[]", 0, 0, element);
  }

  private static PostgresType plain(Kind kind, String text) {
    return new PostgresType(kind, text, 0, 0, null);
  }

  /** Returns whether this is {@code numeric} without precision, which holds any number. */
  boolean isUnbounded() {
    return kind == Kind.NUMERIC && precision == 0;
  }
}
