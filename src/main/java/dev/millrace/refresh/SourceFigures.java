package dev.millrace.refresh;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The source's figures, and the version of the source that they are of.
 *
 * <p>The version is no part of {@link AuditFigures}: two tables with the same figures are equal,
 * whatever was committed in between.
 *
 * @param rows as in {@link AuditFigures}
 * @param distinct as in {@link AuditFigures}
 * @param sum as in {@link AuditFigures}
 * @param newest as in {@link AuditFigures}
 * @param nulls as in {@link AuditFigures}
 * @param hash as in {@link AuditFigures}
 * @param version a {@link SourceVersion}; null where there is none
 */
public record SourceFigures(
    String rows,
    String distinct,
    String sum,
    String newest,
    List<String> nulls,
    String hash,
    String version) {

  public SourceFigures {
    Objects.requireNonNull(rows, "rows");
    Objects.requireNonNull(distinct, "distinct");
    Objects.requireNonNull(sum, "sum");
    Objects.requireNonNull(newest, "newest");
    nulls = List.copyOf(nulls);
  }

  static SourceFigures of(AuditFigures figures, Optional<String> version) {
    return new SourceFigures(
        figures.rows(),
        figures.distinct(),
        figures.sum(),
        figures.newest(),
        figures.nulls(),
        figures.hash(),
        version.orElse(null));
  }

  AuditFigures figures() {
    return new AuditFigures(rows, distinct, sum, newest, nulls, hash);
  }

  /** Returns whether they are also the figures of the source at another version. */
  boolean holdAt(Optional<String> other) {
    return version != null && other.isPresent() && version.equals(other.get());
  }
}
