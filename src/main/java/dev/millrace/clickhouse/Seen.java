package dev.millrace.clickhouse;

import java.util.List;

/**
 * What was found of one kind, as far as the user may look.
 *
 * @param names what was found
 * @param unknown why there may be more; null when there is no more
 */
public record Seen(List<String> names, String unknown) {

  public Seen {
    names = List.copyOf(names);
  }

  static Seen all(List<String> names) {
    return new Seen(names, null);
  }

  /** Returns whether this is all there is. */
  public boolean complete() {
    return unknown == null;
  }
}
