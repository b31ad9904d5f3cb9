package dev.millrace.refresh;

import java.util.function.UnaryOperator;

/**
 * A figure of a source column, taken before the load, that shows a value without a place in the
 * target's type.
 *
 * @param aggregate {@code min} or {@code max}
 * @param argument what is aggregated, of the value as SQL
 * @param condition which values count, of the value as SQL; null for all
 * @param offends whether the figure is one that has no place, of the figure as SQL
 * @param complaint what is wrong with a value that is named before it, such as {@code is before
 *     1900-01-01, the first Date32}
 */
record RangeCheck(
    String aggregate,
    UnaryOperator<String> argument,
    UnaryOperator<String> condition,
    UnaryOperator<String> offends,
    String complaint) {

  /** All values below a bound are wrong. */
  static RangeCheck atLeast(String bound, String complaint) {
    return new RangeCheck(
        "min", UnaryOperator.identity(), null, least -> least + " < " + bound, complaint);
  }

  /** All values above a bound are wrong. */
  static RangeCheck atMost(String bound, String complaint) {
    return new RangeCheck(
        "max", UnaryOperator.identity(), null, greatest -> greatest + " > " + bound, complaint);
  }

  /** All values for which a condition holds are wrong. */
  static RangeCheck none(UnaryOperator<String> condition, String complaint) {
    return new RangeCheck(
        "max",
        UnaryOperator.identity(),
        condition,
        greatest -> greatest + " IS NOT NULL",
        complaint);
  }

  /** Returns the aggregate: the offending value as text, NULL when there is none. */
  String sql(String value) {
    String figure = figure(value);
    return "CASE WHEN %s THEN (%s)::text END".formatted(offends.apply(figure), figure);
  }

  private String figure(String value) {
    String call = "%s(%s)".formatted(aggregate, argument.apply(value));
    return condition == null
        ? call
        : "%s FILTER (WHERE %s)".formatted(call, condition.apply(value));
  }

  /** Returns the same check for each element of an array. */
  RangeCheck ofElements() {
    return new RangeCheck(
        aggregate,
        array -> "(SELECT %s FROM unnest(%s) AS u(e))".formatted(figure("u.e"), array),
        null,
        offends,
        complaint);
  }
}
