package dev.millrace.control;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The name of one thing that is kept going; the control plane calls it the extractor.
 *
 * @param name a letter, then up to 62 of {@code a-z 0-9 _ -}
 */
public record Pipeline(String name) {
  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_-]{0,62}");

  /** Names on which the triggers of a shared control schema act. */
  private static final Set<String> RESERVED = Set.of("dbt", "zakya");

  /**
   * Checks the name.
   *
   * @throws MillraceException with {@code BAD_INPUT} when it can't be a pipeline's name
   */
  public Pipeline {
    if (!NAME.matcher(name).matches()) {
      throw new MillraceException(
          ErrorCode.BAD_INPUT,
          "pipeline '%s' is not a name: use a letter a-z, then up to 62 of a-z, 0-9, _ and -"
              .formatted(name));
    }
    if (RESERVED.contains(name)) {
      throw new MillraceException(
          ErrorCode.BAD_INPUT,
          "pipeline '%s' is refused: triggers of the control schema act on that name; take another"
              .formatted(name));
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
