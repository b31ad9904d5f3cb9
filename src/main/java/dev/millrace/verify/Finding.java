package dev.millrace.verify;

import java.util.ArrayList;
import java.util.List;

/**
 * Something that is not as it has to be.
 *
 * @param kind what it is, for machines
 * @param text a sentence without its stop
 * @param examples some of the objects or rows, and how many more there are
 * @param wayOut what to do; a sentence without its stop
 */
public record Finding(Kind kind, String text, List<String> examples, String wayOut) {
  private static final int SHOWN = 5;

  /** What a finding is. */
  public enum Kind {
    OBJECT_WITHOUT_MANIFEST,
    MANIFEST_WITHOUT_OBJECT,
    MANIFEST_UNREADABLE,
    OBJECT_UNREADABLE,
    BYTES_DIFFER,
    ROWS_DIFFER,
    COLUMNS_DIFFER,
    CHECKSUM_DIFFERS,
    WINDOWS_NOT_CONSECUTIVE,
    OBJECT_OF_NO_WINDOW,
    ROWS_OUTSIDE_WINDOW,
    FEWER_ROWS_THAN_SOURCE,
    ROWS_MISSING,
    ROWS_STALE,
    ROWS_TWICE
  }

  public Finding {
    examples = List.copyOf(examples);
  }

  /**
   * Makes a finding that shows some of what it is about.
   *
   * @param text with a place for the count
   * @param count how many there are
   * @param examples some or all of them
   */
  static Finding of(Kind kind, String text, long count, List<String> examples, String wayOut) {
    List<String> few = new ArrayList<>(examples.subList(0, Math.min(SHOWN, examples.size())));
    if (!few.isEmpty() && count > few.size()) {
      few.add("and %,d more".formatted(count - few.size()));
    }
    return new Finding(kind, text.formatted(count), few, wayOut);
  }
}
