package dev.millrace.refresh;

/** What became of a column of both tables. */
sealed interface MappedColumn {

  /**
   * The column can't be copied without changing values.
   *
   * @param text names the column, both types, the reason and the way out
   */
  record Refusal(String text) implements MappedColumn {}

  /**
   * The column can be copied.
   *
   * @param mapping how
   */
  record Accepted(ColumnMapping mapping) implements MappedColumn {}
}
