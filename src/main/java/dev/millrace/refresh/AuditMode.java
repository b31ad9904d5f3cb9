package dev.millrace.refresh;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What is compared on both sides. */
public enum AuditMode {
  /** Rows, distinct keys, the checksum column's sum, and NULLs of each column. */
  @JsonProperty("standard")
  STANDARD,
  /** The same, and a hash of every copied column. */
  @JsonProperty("full")
  FULL
}
