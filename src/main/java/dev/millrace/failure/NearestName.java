package dev.millrace.failure;

import java.util.Collection;
import java.util.Comparator;

/** Finds what somebody who misspelt a name probably meant. */
public final class NearestName {
  private NearestName() {}

  /**
   * Returns the known name with the fewest edits to the given one.
   *
   * @param name what was written
   * @param known at least one name
   */
  public static String of(String name, Collection<String> known) {
    return known.stream()
        .min(Comparator.comparingInt(candidate -> edits(name, candidate)))
        .orElseThrow();
  }

  /** Levenshtein's distance. */
  private static int edits(String left, String right) {
    int[] above = new int[right.length() + 1];
    for (int column = 0; column <= right.length(); column++) {
      above[column] = column;
    }
    for (int row = 1; row <= left.length(); row++) {
      int[] current = new int[right.length() + 1];
      current[0] = row;
      for (int column = 1; column <= right.length(); column++) {
        int change = left.charAt(row - 1) == right.charAt(column - 1) ? 0 : 1;
        current[column] =
            Math.min(above[column - 1] + change, Math.min(above[column], current[column - 1]) + 1);
      }
      above = current;
    }
    return above[right.length()];
  }
}
