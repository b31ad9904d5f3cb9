package dev.millrace.replication;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.parquet.ReplacedValues;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Counts of values that rules have replaced, as the state and results hold them. Stateless. */
final class ReplacedCounts {
  /** A result names so many columns; the counts of all others come as one. */
  static final int MOST_COLUMNS = 20;

  private static final JsonMapper JSON = new JsonMapper();

  private ReplacedCounts() {}

  /** Returns the greatest counts, and one that stands for all others. */
  static List<ReplacedValues> few(List<ReplacedValues> counts) {
    if (counts.size() <= MOST_COLUMNS) {
      return counts;
    }
    List<ReplacedValues> sorted = new ArrayList<>(counts);
    sorted.sort(Comparator.comparingLong(ReplacedValues::values).reversed());
    List<ReplacedValues> others = sorted.subList(MOST_COLUMNS, sorted.size());
    List<ReplacedValues> few = new ArrayList<>(sorted.subList(0, MOST_COLUMNS));
    few.add(
        new ReplacedValues(
            "(%d other columns)".formatted(others.size()),
            "any",
            others.stream().mapToLong(ReplacedValues::values).sum()));
    return few;
  }

  static String write(List<ReplacedValues> counts) {
    try {
      return JSON.writeValueAsString(counts);
    } catch (JsonProcessingException exception) {
      throw new IllegalStateException("counts can't be written as JSON", exception);
    }
  }

  /** Reads counts; those of the same column and rule are added up. */
  static List<ReplacedValues> read(String json) {
    try {
      return sum(JSON.readValue(json, new TypeReference<List<ReplacedValues>>() {}));
    } catch (JsonProcessingException exception) {
      throw new IllegalStateException("not what was written: " + json, exception);
    }
  }

  /** Returns one count for each column and rule. */
  static List<ReplacedValues> sum(List<ReplacedValues> counts) {
    Map<List<String>, ReplacedValues> sums = new LinkedHashMap<>();
    for (ReplacedValues one : counts) {
      sums.merge(
          List.of(one.column(), one.rule()),
          one,
          (left, right) ->
              new ReplacedValues(left.column(), left.rule(), left.values() + right.values()));
    }
    return List.copyOf(sums.values());
  }
}
