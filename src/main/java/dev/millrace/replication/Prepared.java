package dev.millrace.replication;

import java.util.List;

/**
 * What is to be copied.
 *
 * @param window the range of the key
 * @param baseline rows of the previous batch that counts; 0 for none
 * @param nullKeys rows without a key that are left out
 * @param includeNullKeys whether rows without a key are taken, too
 * @param warnings what a person should know: columns read as text, a key without an index
 */
public record Prepared(
    Window window, long baseline, long nullKeys, boolean includeNullKeys, List<String> warnings) {
  public Prepared {
    warnings = List.copyOf(warnings);
  }
}
