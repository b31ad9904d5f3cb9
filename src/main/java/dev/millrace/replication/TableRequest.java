package dev.millrace.replication;

import dev.millrace.postgres.TableName;
import java.util.List;

/**
 * One table of a run as the input asks for it.
 *
 * @param name the table
 * @param updateKey the column that every insert and update sets
 * @param columns the only columns to copy, or an empty list for all
 * @param exclude columns to leave out
 */
public record TableRequest(
    TableName name, String updateKey, List<String> columns, List<String> exclude) {
  public TableRequest {
    columns = List.copyOf(columns);
    exclude = List.copyOf(exclude);
  }
}
