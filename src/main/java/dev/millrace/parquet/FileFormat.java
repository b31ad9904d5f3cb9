package dev.millrace.parquet;

/**
 * How a file is compressed and cut.
 *
 * @param compression of pages
 * @param zstdLevel 1 to 22, only for {@link Compression#ZSTD}
 * @param rowGroupBytes a row group ends with the segment in which its compressed pages reach so
 *     many bytes; a worker holds as many in memory for each table that it copies, so several
 *     connections get smaller row groups, of at least 4 MiB
 */
public record FileFormat(Compression compression, int zstdLevel, long rowGroupBytes) {

  /** Fast to write and to read. */
  public static final FileFormat DEFAULT = new FileFormat(Compression.ZSTD, 1, 16L << 20);

  /** How pages are compressed. */
  public enum Compression {
    ZSTD,
    SNAPPY,
    NONE
  }
}
