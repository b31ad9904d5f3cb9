package dev.millrace.replication;

import java.util.List;

/**
 * What is to be copied.
 *
 * @param window the range of the key, up to the end of the run's window
 * @param reading the attempt of the last reading; null for none
 * @param initialLoad whether this run is a first load, or goes on with one
 * @param baseline rows of the previous batch that counts; 0 for none
 * @param nullKeys rows without a key that are left out
 * @param includeNullKeys whether rows without a key are taken, too
 * @param warnings what a person should know: columns read as text, a key without an index
 */
public record Prepared(
    Window window,
    String reading,
    boolean initialLoad,
    long baseline,
    long nullKeys,
    boolean includeNullKeys,
    List<String> warnings) {
  public Prepared {
    warnings = List.copyOf(warnings);
  }

  /** Returns what is left after a part of the window was published. */
  Prepared after(Extracted part) {
    return new Prepared(
        new Window(window.kind(), part.window().high(), window.high()),
        part.reading(),
        initialLoad,
        baseline,
        nullKeys,
        false,
        List.of());
  }
}
