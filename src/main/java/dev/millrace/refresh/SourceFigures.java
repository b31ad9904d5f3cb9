package dev.millrace.refresh;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.Objects;
import java.util.Optional;

/**
 * The source's figures, and the version of the source that they are of.
 *
 * <p>The version is no part of {@link AuditFigures}: two tables with the same figures are equal,
 * whatever was committed in between.
 *
 * @param figures what the audit found; its fields stand beside the version in payloads
 * @param version a {@link SourceVersion}; null where there is none
 */
public record SourceFigures(@JsonUnwrapped AuditFigures figures, String version) {
  public SourceFigures {
    Objects.requireNonNull(figures, "figures");
  }

  static SourceFigures of(AuditFigures figures, Optional<String> version) {
    return new SourceFigures(figures, version.orElse(null));
  }

  /** Returns whether they are also the figures of the source at another version. */
  boolean holdAt(Optional<String> other) {
    return version != null && other.isPresent() && version.equals(other.get());
  }
}
