package dev.millrace.parquet;

/**
 * How many values of a column were replaced by a rule.
 *
 * @param column the column's name
 * @param rule what the rule says, such as {@code nan: null}
 * @param values values that became something else; elements of arrays are counted one by one
 */
public record ReplacedValues(String column, String rule, long values) {}
