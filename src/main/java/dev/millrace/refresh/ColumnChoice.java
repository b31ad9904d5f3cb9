package dev.millrace.refresh;

import dev.millrace.clickhouse.TargetColumn;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.NearestName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Which columns are copied.
 *
 * @param requested names from the input, or null to copy those that both sides share
 * @param key the input's {@code pk_column}
 * @param checksum the input's {@code checksum_column}
 * @param updated the input's {@code updated_column}; null for none
 */
record ColumnChoice(List<String> requested, String key, String checksum, String updated) {

  /**
   * Returns the names of the columns to copy: as requested, else in the target's order.
   *
   * @param source names of the Postgres table's columns
   * @param target the ClickHouse table's columns
   * @throws MillraceException with {@code COLUMN_MISSING} when a named column is missing on a side,
   *     with {@code COLUMN_MISMATCH} when the tables don't fit otherwise, with {@code BAD_INPUT}
   *     when a name is there twice
   */
  List<String> from(List<String> source, List<TargetColumn> target) {
    List<String> columns = requested == null ? shared(source, target) : named(source, target);
    requireSource("pk_column", key, source);
    requireSource("checksum_column", checksum, source);
    if (updated != null) {
      requireSource("updated_column", updated, source);
    }
    requireCopied("pk_column", key, columns);
    requireCopied("checksum_column", checksum, columns);
    requireFilled(columns, target);
    return columns;
  }

  private static List<String> shared(List<String> source, List<TargetColumn> target) {
    List<String> columns =
        target.stream()
            .filter(ColumnChoice::takesValues)
            .map(TargetColumn::name)
            .filter(source::contains)
            .toList();
    if (columns.isEmpty()) {
      throw new MillraceException(
          ErrorCode.COLUMN_MISMATCH,
          "source and target share no column; names are compared exactly, capitals too");
    }
    return columns;
  }

  private List<String> named(List<String> source, List<TargetColumn> target) {
    List<String> targets = target.stream().map(TargetColumn::name).toList();
    Set<String> seen = new HashSet<>();
    List<String> columns = new ArrayList<>();
    for (String name : requested) {
      if (!seen.add(name)) {
        throw new MillraceException(
            ErrorCode.BAD_INPUT, "columns names \"%s\" twice; leave one out".formatted(name));
      }
      requireKnown("columns", name, source, "the Postgres table");
      requireKnown("columns", name, targets, "the ClickHouse table");
      requireWritable(name, target);
      columns.add(name);
    }
    return columns;
  }

  private static void requireWritable(String name, List<TargetColumn> target) {
    Optional<TargetColumn> computed =
        target.stream()
            .filter(column -> column.name().equals(name) && !takesValues(column))
            .findFirst();
    if (computed.isPresent()) {
      throw new MillraceException(
          ErrorCode.COLUMN_MISMATCH,
          "columns names \"%s\", which is %s in ClickHouse and takes no values; leave it out"
              .formatted(name, computed.get().kind()));
    }
  }

  private static boolean takesValues(TargetColumn column) {
    return switch (column.kind()) {
      case ORDINARY, DEFAULT -> true;
      case MATERIALIZED, ALIAS, EPHEMERAL -> false;
    };
  }

  private static void requireSource(String setting, String name, List<String> source) {
    requireKnown(setting, name, source, "the Postgres table");
  }

  private static void requireKnown(
      String setting, String name, Collection<String> known, String where) {
    if (known.contains(name)) {
      return;
    }
    throw new MillraceException(
        ErrorCode.COLUMN_MISSING,
        "%s names \"%s\", which %s does not have; did you mean \"%s\"?"
            .formatted(setting, name, where, NearestName.of(name, known)));
  }

  private static void requireCopied(String setting, String name, List<String> columns) {
    if (columns.contains(name)) {
      return;
    }
    throw new MillraceException(
        ErrorCode.COLUMN_MISMATCH,
        "%s \"%s\" is not among the copied columns, so the two sides can't be compared by it; it has to be a stored column of both tables, and in columns"
            .formatted(setting, name));
  }

  private static void requireFilled(List<String> columns, List<TargetColumn> target) {
    List<String> unfilled =
        target.stream()
            .filter(column -> column.kind() == TargetColumn.Kind.ORDINARY)
            .map(TargetColumn::name)
            .filter(name -> !columns.contains(name))
            .map(name -> '"' + name + '"')
            .toList();
    if (unfilled.isEmpty()) {
      return;
    }
    throw new MillraceException(
        ErrorCode.COLUMN_MISMATCH,
        "the target's column %s is neither copied nor has a DEFAULT, so it would be filled with zeros or NULLs; add it to the source and to columns, or give it a DEFAULT"
            .formatted(String.join(", ", unfilled)));
  }
}
