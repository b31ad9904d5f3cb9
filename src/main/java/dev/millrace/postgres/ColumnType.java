package dev.millrace.postgres;

import java.util.Objects;

/**
 * How the values of a column come over binary COPY.
 *
 * @param wire the format of a value's bytes; of an array, those of its elements
 * @param precision digits of a {@code numeric}, 1 to 38; 0 for others, and while {@link
 *     ColumnRules} have not decided about a {@code numeric} that DECIMAL can't hold as it is
 * @param scale fraction digits of a {@code numeric}, 0 to its precision; 0 for others
 * @param dimensions of an array as it is declared, at least 1; 0 for what is no array
 * @param declared the type as Postgres shows it ({@code format_type}), for people and metadata
 */
public record ColumnType(Wire wire, int precision, int scale, int dimensions, String declared) {

  /** The format of a value's bytes, as the type's send function writes it. */
  public enum Wire {
    BOOL,
    INT2,
    INT4,
    INT8,
    FLOAT4,
    FLOAT8,
    /** Base-10000 digits. */
    NUMERIC,
    /** UTF-8 text: text, varchar, bpchar, name, enums, json, and each cast to text. */
    TEXT,
    /** One version byte, then text. */
    JSONB,
    BYTEA,
    UUID,
    /** Days since 2000-01-01. */
    DATE,
    /** Microseconds since midnight. */
    TIME,
    /** Microseconds since 2000-01-01 00:00, wall clock. */
    TIMESTAMP,
    /** Microseconds since 2000-01-01 00:00 UTC. */
    TIMESTAMPTZ
  }

  public ColumnType {
    Objects.requireNonNull(wire, "wire");
    Objects.requireNonNull(declared, "declared");
  }

  /** Makes the type of a column that is no array. */
  public ColumnType(Wire wire, int precision, int scale, String declared) {
    this(wire, precision, scale, 0, declared);
  }

  /** Returns whether it is an array. */
  public boolean isArray() {
    return dimensions > 0;
  }

  /** Returns whether it is a numeric, or an array of such, that DECIMAL can't hold as it is. */
  public boolean isOpenNumeric() {
    return wire == Wire.NUMERIC && precision == 0;
  }
}
