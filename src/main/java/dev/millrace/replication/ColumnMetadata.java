package dev.millrace.replication;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.postgres.Column;
import java.util.List;

/** What the metadata of a file tells of its columns, as JSON. Stateless. */
final class ColumnMetadata {
  private static final JsonMapper JSON = new JsonMapper();

  private ColumnMetadata() {}

  /**
   * Returns a list with the name, the Postgres type, what it was cast to, and the comment of each
   * column; without what there is not.
   */
  static String of(List<Column> columns) {
    ArrayNode list = JSON.createArrayNode();
    for (Column column : columns) {
      ObjectNode node = list.addObject();
      node.put("name", column.name());
      node.put("type", column.type().declared());
      if (column.readAs() != null) {
        node.put("read_as", column.readAs());
      }
      if (column.comment() != null) {
        node.put("comment", column.comment());
      }
    }
    try {
      return JSON.writeValueAsString(list);
    } catch (JsonProcessingException exception) {
      throw new IllegalStateException("columns can't be written as JSON", exception);
    }
  }
}
