package dev.millrace.postgres;

/**
 * A column of a relation, or of a SELECT.
 *
 * @param name as the catalogue has it
 * @param type how its values come over binary COPY
 * @param nullable false only where the catalogue says NOT NULL
 * @param asText whether the type has no Parquet type of its own and is read as its text form
 * @param kind what Parquet shows it as, where the wire format alone does not tell
 */
public record Column(String name, ColumnType type, boolean nullable, boolean asText, Kind kind) {

  /** What a text value is. */
  public enum Kind {
    PLAIN,
    ENUM,
    JSON
  }
}
