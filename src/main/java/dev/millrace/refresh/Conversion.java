package dev.millrace.refresh;

import java.util.List;

/**
 * How values of one Postgres type become values of one ClickHouse type, without a change.
 *
 * <p>All SQL is for one value that is not NULL, and gives NULL for NULL unless said otherwise.
 * Stateless.
 */
interface Conversion {

  /**
   * Returns Postgres SQL that gives the value in the form in which ClickHouse reads it without a
   * change, whatever the session's settings. A value that has no place in the target is an error.
   *
   * @param value the value as Postgres SQL
   * @param complaint what such an error says before the value
   */
  String pull(String value, String complaint);

  /** Returns the ClickHouse type as which that form arrives. */
  String carrier();

  /**
   * Returns whether {@link #pull}'s form may hold any character; otherwise it has no comma and no
   * letter outside of ASCII.
   */
  default boolean isFreeText() {
    return false;
  }

  /**
   * Returns ClickHouse SQL that makes the target's value of what {@link #pull} sent; NULL is an
   * error when the type is not Nullable.
   *
   * @param carried an expression of type {@code Nullable(carrier)}
   * @param type the whole type of the target
   */
  String insert(String carried, String type);

  /**
   * Returns whether {@code postgresql()} gives the column itself in that form too, without our
   * query.
   */
  default boolean isNative() {
    return false;
  }

  /** Returns Postgres SQL that gives the value in the binary form that {@link #encoder} reads. */
  default String push(String value) {
    return value;
  }

  /** Returns the same for a whole array of such values. */
  default String pushArray(String array) {
    return array;
  }

  /** Returns what encodes a value. */
  ValueEncoder encoder();

  /**
   * Returns Postgres SQL for the canonical text of a value: the same text as {@link #targetText},
   * and none of it ends inside another one's. A value without a place in the target gives any other
   * text, no error.
   */
  String sourceText(String value);

  /** Returns ClickHouse SQL for the canonical text of a value that is not Nullable. */
  String targetText(String value);

  /** Returns what has to hold for the source's values; empty where the type alone is enough. */
  default List<RangeCheck> checks() {
    return List.of();
  }
}
