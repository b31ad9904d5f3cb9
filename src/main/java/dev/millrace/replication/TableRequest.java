package dev.millrace.replication;

import dev.millrace.postgres.ColumnRules;
import dev.millrace.postgres.TableName;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One table of a run as the input asks for it.
 *
 * @param name the table
 * @param updateKey the column that every insert and update sets
 * @param columns the only columns to copy, or an empty list for all
 * @param exclude columns to leave out
 * @param rules what becomes of values that Parquet's natural type can't hold; complete
 * @param types rules that differ, by column; what they don't say is as in {@code rules}
 */
public record TableRequest(
    TableName name,
    String updateKey,
    List<String> columns,
    List<String> exclude,
    ColumnRules rules,
    Map<String, ColumnRules> types) {
  public TableRequest {
    columns = List.copyOf(columns);
    exclude = List.copyOf(exclude);
    // Histories from before there were rules have none.
    rules = rules == null ? ColumnRules.DEFAULT : rules;
    types = types == null ? Map.of() : Collections.unmodifiableMap(new LinkedHashMap<>(types));
  }

  /** Makes a request with the default rules. */
  public TableRequest(
      TableName name, String updateKey, List<String> columns, List<String> exclude) {
    this(name, updateKey, columns, exclude, ColumnRules.DEFAULT, Map.of());
  }
}
