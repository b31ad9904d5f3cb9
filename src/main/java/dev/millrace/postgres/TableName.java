package dev.millrace.postgres;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The name of a table as the catalogue has it.
 *
 * @param schema the schema, without quotes
 * @param table the table, without quotes
 */
public record TableName(String schema, String table) {
  private static final String UNQUOTED = "[A-Za-z_\\u0080-\\uffff][A-Za-z0-9_$\\u0080-\\uffff]*";
  private static final String QUOTED = "\"(?:[^\"]|\"\")+\"";
  private static final Pattern QUALIFIED =
      Pattern.compile("(" + UNQUOTED + "|" + QUOTED + ")\\.(" + UNQUOTED + "|" + QUOTED + ")");
  private static final Pattern PLAIN = Pattern.compile("[a-z_][a-z0-9_$]*");

  /**
   * Reads {@code schema.table}. Unquoted parts fold to lower case, quoted ones don't, as in <a
   * href="https://www.postgresql.org/docs/current/sql-syntax-lexical.html#SQL-SYNTAX-IDENTIFIERS">
   * Postgres</a>.
   *
   * @throws MillraceException with {@code BAD_INPUT} when the text is not such a name
   */
  public static TableName parse(String text) {
    Matcher matcher = QUALIFIED.matcher(text);
    if (!matcher.matches()) {
      throw new MillraceException(
          ErrorCode.BAD_INPUT,
          "'%s' is not a table name; write it as schema.table, and quote parts with other characters: \"My Schema\".\"Order\""
              .formatted(text));
    }
    return new TableName(fold(matcher.group(1)), fold(matcher.group(2)));
  }

  private static String fold(String part) {
    if (part.startsWith("\"")) {
      return part.substring(1, part.length() - 1).replace("\"\"", "\"");
    }
    return part.toLowerCase(Locale.ROOT);
  }

  /** Returns the name as {@link #parse} reads it: parts are quoted only where they have to be. */
  @Override
  public String toString() {
    return shown(schema) + "." + shown(table);
  }

  private static String shown(String part) {
    return PLAIN.matcher(part).matches() ? part : Identifiers.quote(part);
  }
}
