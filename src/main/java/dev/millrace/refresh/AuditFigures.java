package dev.millrace.refresh;

import java.util.List;
import java.util.Objects;

/**
 * What an audit found in a table; all figures are text, so that no number is too big for them.
 *
 * @param rows number of rows
 * @param distinct number of different keys
 * @param sum of the checksum column, with all fraction digits that the target declares; {@code 0},
 *     or {@code 0.00}, without rows
 * @param newest the greatest value of the source's updated column; empty where there is none, or
 *     where it was not asked for
 * @param nulls number of NULLs in each copied column, in their order
 * @param hash of all copied values whatever the order of the rows; null unless asked for
 */
public record AuditFigures(
    String rows, String distinct, String sum, String newest, List<String> nulls, String hash) {

  public AuditFigures {
    Objects.requireNonNull(rows, "rows");
    Objects.requireNonNull(distinct, "distinct");
    Objects.requireNonNull(sum, "sum");
    Objects.requireNonNull(newest, "newest");
    nulls = List.copyOf(nulls);
  }
}
