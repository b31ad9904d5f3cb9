package dev.millrace.run;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.util.Map;

/** What inputs name and the worker's configuration has. Stateless. */
public final class Configured {
  private Configured() {}

  /**
   * Returns what the configuration has under a name.
   *
   * @param configured by name
   * @param field of the input
   * @param setting of the configuration
   * @throws MillraceException with {@code UNKNOWN_CONNECTION} when it has nothing of that name
   */
  public static <T> T named(Map<String, T> configured, String name, String field, String setting) {
    T found = configured.get(name);
    if (found == null) {
      throw new MillraceException(
          ErrorCode.UNKNOWN_CONNECTION,
          "%s '%s' is not in the worker's configuration; %s has %s"
              .formatted(
                  field,
                  name,
                  setting,
                  configured.isEmpty()
                      ? "nothing"
                      : String.join(", ", configured.keySet().stream().sorted().toList())));
    }
    return found;
  }
}
