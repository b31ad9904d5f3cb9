package dev.millrace.parquet;

/**
 * What was written.
 *
 * @param rowsEncoded rows found in the COPY and encoded
 * @param rowsInFooter sum of the row groups' rows in the file's footer
 * @param bytes size of the file
 */
public record ParquetSummary(long rowsEncoded, long rowsInFooter, long bytes) {}
