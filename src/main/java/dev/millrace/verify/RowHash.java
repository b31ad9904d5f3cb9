package dev.millrace.verify;

import dev.millrace.parquet.Values;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;

/** The first 128 bits of SHA-256 of some of a row's values. Not thread-safe. */
final class RowHash {
  private final MessageDigest digest = sha256();

  static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException exception) {
      throw new IllegalStateException("each JVM has SHA-256", exception);
    }
  }

  /** Writes the hash of columns of a row into two numbers of a record. */
  void put(Values row, List<Integer> columns, long[] record, int at) {
    for (int column : columns) {
      row.digest(column, digest);
    }
    ByteBuffer bytes = ByteBuffer.wrap(digest.digest());
    record[at] = bytes.getLong();
    record[at + 1] = bytes.getLong();
  }
}
