package dev.millrace.parquet;

import java.util.List;

/**
 * What was written.
 *
 * @param rowsEncoded rows found in the COPY and encoded
 * @param rowsInFooter sum of the row groups' rows in the file's footer
 * @param bytes size of the file
 * @param replaced values that rules have replaced, by column; without columns where there are none
 */
public record ParquetSummary(
    long rowsEncoded, long rowsInFooter, long bytes, List<ReplacedValues> replaced) {
  public ParquetSummary {
    replaced = List.copyOf(replaced);
  }
}
