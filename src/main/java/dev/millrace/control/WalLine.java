package dev.millrace.control;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * A whole line of a write-ahead log as it was found.
 *
 * @param offset where it begins in the file, in bytes
 * @param bytes its length with the line feed
 * @param fields its JSON object; numbers with a fraction or an exponent are decimals
 */
record WalLine(long offset, int bytes, ObjectNode fields) {

  /**
   * A line that can't be projected.
   *
   * @param offset where it begins in the file, in bytes
   * @param bytes its length with the line feed
   * @param reason why not
   */
  record Refused(long offset, int bytes, String reason) {}
}
