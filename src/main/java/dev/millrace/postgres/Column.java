package dev.millrace.postgres;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.ColumnType.Wire;

/**
 * A column of a relation, or of a SELECT.
 *
 * @param name as the catalogue has it
 * @param type how its values come over binary COPY
 * @param nullable false only where the catalogue says NOT NULL
 * @param readAs the SQL type that it is cast to when it is read, such as {@code text}; null where
 *     it is read as it is
 * @param kind what Parquet shows it as, where the wire format alone does not tell
 * @param comment what {@code COMMENT ON COLUMN} says; null when nothing
 * @param rules what becomes of values that its Parquet type can't hold
 */
public record Column(
    String name,
    ColumnType type,
    boolean nullable,
    String readAs,
    Kind kind,
    String comment,
    ColumnRules rules) {

  private static final String TEXT = "text";
  private static final String TEXTS = "text[]";

  /** What a text value is. */
  public enum Kind {
    PLAIN,
    ENUM,
    JSON
  }

  /** Makes a column that is read as it is, under the default rules. */
  public Column(String name, ColumnType type, boolean nullable) {
    this(name, type, nullable, null, Kind.PLAIN, null, ColumnRules.DEFAULT);
  }

  /** Returns whether it, or each element of it, is read as its text form. */
  public boolean asText() {
    return TEXT.equals(readAs) || TEXTS.equals(readAs);
  }

  /**
   * Returns the column as it is read and written under some rules.
   *
   * @param given complete rules
   * @throws MillraceException with {@code TYPE_UNSUPPORTED} when they are {@code numeric: fail},
   *     and the column is a numeric that DECIMAL can't hold
   */
  public Column under(ColumnRules given) {
    if (type.isArray() && given.arrays() == ColumnRules.Arrays.TEXT) {
      return inTextForm().with(given);
    }
    if (!type.isOpenNumeric()) {
      return with(given);
    }
    return switch (given.numeric().form()) {
      case TEXT -> elementsAsText().with(given);
      case DECIMAL ->
          new Column(
              name,
              new ColumnType(
                  Wire.NUMERIC,
                  given.numeric().precision(),
                  given.numeric().scale(),
                  type.dimensions(),
                  type.declared()),
              nullable,
              readAs,
              kind,
              comment,
              given);
      case FAIL ->
          throw new MillraceException(
              ErrorCode.TYPE_UNSUPPORTED,
              "column \"%s\" is %s, which no DECIMAL holds, and the run says numeric: fail; say numeric: text or decimal(p,s) for it, or exclude it"
                  .formatted(name, type.declared()));
    };
  }

  /** Returns the column read as the text form of the whole value, also of an array. */
  Column inTextForm() {
    return text(TEXT, 0);
  }

  private Column elementsAsText() {
    return type.isArray() ? text(TEXTS, type.dimensions()) : inTextForm();
  }

  private Column text(String sqlType, int dimensions) {
    return new Column(
        name,
        new ColumnType(Wire.TEXT, 0, 0, dimensions, type.declared()),
        nullable,
        sqlType,
        // The text form of an array of JSON is no JSON.
        type.isArray() ? Kind.PLAIN : kind,
        comment,
        rules);
  }

  private Column with(ColumnRules given) {
    return new Column(name, type, nullable, readAs, kind, comment, given);
  }
}
