package dev.millrace.app;

import dev.millrace.app.ConfigurationNode.Fields;
import dev.millrace.app.ConfigurationNode.Items;
import dev.millrace.app.ConfigurationReader.Section;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.NearestName;
import dev.millrace.postgres.RowFilter;
import dev.millrace.postgres.RowFilter.Condition;
import dev.millrace.postgres.RowFilter.Operands;
import dev.millrace.postgres.RowFilter.Operator;
import dev.millrace.postgres.TableName;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Reads {@code filters} of a connection: tables, each with a list of conditions. Whether a table
 * has the columns is found when it is read. Not thread-safe.
 */
final class RowFilterReader {
  private static final List<String> KEYS = List.of("column", "operator", "value");
  private static final int MOST_CONDITIONS = 50;
  private static final int MOST_VALUES = 1000;

  private final ConfigurationReader reader;

  RowFilterReader(ConfigurationReader reader) {
    this.reader = reader;
  }

  /** Returns the filters by table; problems are added to the reader's. */
  Map<TableName, RowFilter> read(Section section) {
    String path = section.pathOf(ConfigurationSetting.POSTGRES_FILTERS);
    ConfigurationNode node =
        section.fields().fields().get(ConfigurationSetting.POSTGRES_FILTERS.key());
    Map<TableName, RowFilter> filters = new LinkedHashMap<>();
    if (node instanceof Fields tables) {
      tables
          .fields()
          .forEach((table, conditions) -> read(filters, path + "." + table, table, conditions));
    } else if (node != null) {
      reader.problem(
          node, path, "must hold tables, written as schema.table: with a list of conditions");
    }
    return filters;
  }

  private void read(
      Map<TableName, RowFilter> filters, String path, String table, ConfigurationNode node) {
    TableName name;
    try {
      name = TableName.parse(table);
    } catch (MillraceException exception) {
      reader.problem(node, path, "can't be used: " + exception.getMessage());
      return;
    }
    if (!(node instanceof Items list) || list.items().isEmpty()) {
      reader.problem(
          node,
          path,
          "must be a list of conditions such as {column: status, operator: \"=\", value: paid}");
      return;
    }
    if (list.items().size() > MOST_CONDITIONS) {
      reader.problem(node, path, "has more than %d conditions".formatted(MOST_CONDITIONS));
      return;
    }
    List<Condition> conditions = new ArrayList<>();
    int position = 0;
    for (ConfigurationNode item : list.items()) {
      condition("%s[%d]".formatted(path, position++), item).ifPresent(conditions::add);
    }
    if (filters.putIfAbsent(name, new RowFilter(conditions)) != null) {
      reader.problem(node, path, "is the table %s, which is there already".formatted(name));
    }
  }

  private Optional<Condition> condition(String path, ConfigurationNode node) {
    if (!(node instanceof Fields fields)) {
      reader.problem(
          node, path, "must be a condition such as {column: status, operator: \"=\", value: paid}");
      return Optional.empty();
    }
    fields
        .fields()
        .forEach(
            (key, value) -> {
              if (!KEYS.contains(key)) {
                reader.problem(
                    value,
                    path + "." + key,
                    "is not a setting; did you mean %s?".formatted(NearestName.of(key, KEYS)));
              }
            });
    Optional<String> column =
        field(path, fields, "column").flatMap(value -> reader.verbatim(path + ".column", value));
    Optional<Operator> operator =
        field(path, fields, "operator")
            .flatMap(
                value ->
                    reader
                        .verbatim(path + ".operator", value)
                        .flatMap(text -> operator(path + ".operator", value, text)));
    if (column.isEmpty() || operator.isEmpty()) {
      return Optional.empty();
    }
    List<String> values = values(path, fields, operator.get());
    return values.isEmpty() && operator.get().operands() != Operands.NONE
        ? Optional.empty()
        : Optional.of(new Condition(column.get(), operator.get(), values));
  }

  private Optional<ConfigurationNode> field(String path, Fields fields, String key) {
    ConfigurationNode node = fields.fields().get(key);
    if (node == null) {
      reader.problem(fields, path + "." + key, "is required");
    }
    return Optional.ofNullable(node);
  }

  private Optional<Operator> operator(String path, ConfigurationNode node, String text) {
    Optional<Operator> operator = Operator.of(text);
    if (operator.isEmpty()) {
      reader.problem(
          node,
          path,
          "must be %s, in quotes"
              .formatted(
                  ConfigurationReader.anyOf(
                      Stream.of(Operator.values()).map(Operator::text).toList())));
    }
    return operator;
  }

  /** Returns the values, or none when a problem was added or the operator takes none. */
  private List<String> values(String path, Fields fields, Operator operator) {
    if (operator.operands() == Operands.NONE) {
      ConfigurationNode idle = fields.fields().get("value");
      if (idle != null) {
        reader.problem(
            idle,
            path + ".value",
            "has no meaning for the operator %s; remove it".formatted(operator.text()));
      }
      return List.of();
    }
    String where = path + ".value";
    Optional<ConfigurationNode> node = field(path, fields, "value");
    if (node.isEmpty()) {
      return List.of();
    }
    boolean isList = node.get() instanceof Items;
    if (isList != (operator.operands() == Operands.LIST)) {
      reader.problem(
          node.get(),
          where,
          isList
              ? "must be one value for the operator %s; a list is for in and not in"
                  .formatted(operator.text())
              : "must be a list for the operator %s, written as [one, another]"
                  .formatted(operator.text()));
      return List.of();
    }
    List<ConfigurationNode> items =
        node.get() instanceof Items list ? list.items() : List.of(node.get());
    if (items.isEmpty() || items.size() > MOST_VALUES) {
      reader.problem(node.get(), where, "must hold 1 to %,d values".formatted(MOST_VALUES));
      return List.of();
    }
    return items.stream().flatMap(item -> value(where, item).stream()).toList();
  }

  private Optional<String> value(String path, ConfigurationNode node) {
    if (node instanceof ConfigurationNode.Scalar scalar
        && scalar.kind() == ConfigurationNode.Kind.NOTHING) {
      reader.problem(
          node, path, "has no value; NULL is asked for by the operators is null and is not null");
      return Optional.empty();
    }
    return reader.verbatim(path, node);
  }
}
