package dev.millrace.parquet;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How many values of a column were replaced by a rule.
 *
 * @param column the column's name
 * @param rule what the rule says, such as {@code nan: null}
 * @param values values that became something else; elements of arrays are counted one by one
 */
public record ReplacedValues(String column, String rule, long values) {
  /** Adds up what several encoders have replaced, in the order in which each came first. */
  static List<ReplacedValues> sum(List<ReplacedValues> parts) {
    record Where(String column, String rule) {}

    Map<Where, Long> sums = new LinkedHashMap<>();
    for (ReplacedValues part : parts) {
      sums.merge(new Where(part.column, part.rule), part.values, Long::sum);
    }
    return sums.entrySet().stream()
        .map(sum -> new ReplacedValues(sum.getKey().column(), sum.getKey().rule(), sum.getValue()))
        .toList();
  }
}
