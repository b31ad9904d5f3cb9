package dev.millrace.replication;

import dev.millrace.postgres.Column;
import java.util.Optional;

/** What an update key is made of, which decides how its windows are cut. */
public enum KeyKind {
  /** An instant: windows end at a time. */
  TIMESTAMPTZ,
  /** A wall clock in the input's {@code key_time_zone}: windows end at a time. */
  TIMESTAMP,
  /** An integer or decimal: windows end at the greatest key there is. */
  NUMBER;

  /** Returns the kind of a key, or nothing where no window can be cut. */
  public static Optional<KeyKind> of(Column key) {
    if (key.readAs() != null || key.type().isArray()) {
      return Optional.empty();
    }
    return switch (key.type().wire()) {
      case TIMESTAMPTZ -> Optional.of(TIMESTAMPTZ);
      case TIMESTAMP -> Optional.of(TIMESTAMP);
      case INT2, INT4, INT8, NUMERIC -> Optional.of(NUMBER);
      // A date names a whole day: rows written later on that day would be lost. Floats have NaN.
      case DATE, TIME, BOOL, FLOAT4, FLOAT8, TEXT, JSONB, BYTEA, UUID -> Optional.empty();
    };
  }
}
