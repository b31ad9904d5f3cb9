package dev.millrace.postgres;

/** The one place that puts names and texts of people into SQL. */
public final class Identifiers {
  private Identifiers() {}

  /**
   * Returns the name as a quoted identifier.
   *
   * @param name a name as the catalogue has it
   * @throws IllegalArgumentException when it holds a NUL, which Postgres has in no name
   */
  public static String quote(String name) {
    if (name.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("a name holds a NUL character");
    }
    return '"' + name.replace("\"", "\"\"") + '"';
  }

  /** Returns {@code "schema"."table"}. */
  public static String quote(TableName name) {
    return quote(name.schema()) + "." + quote(name.table());
  }

  /**
   * Returns a text as a literal that means it whatever {@code standard_conforming_strings} is, as
   * {@code quote_literal} does.
   *
   * @throws IllegalArgumentException when it holds a NUL, which Postgres has in no text
   */
  public static String literal(String text) {
    if (text.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("a text holds a NUL character");
    }
    String quoted = "'" + text.replace("'", "''") + "'";
    return text.indexOf('\\') < 0 ? quoted : "E" + quoted.replace("\\", "\\\\");
  }
}
