package dev.millrace.replication;

import com.fasterxml.jackson.annotation.JsonProperty;

/** What becomes of rows whose update key is NULL: no window ever takes them. */
public enum NullKeys {
  /** The table fails, and the message names their count. */
  @JsonProperty("refuse")
  REFUSE,
  /** They are left out and counted. */
  @JsonProperty("exclude")
  EXCLUDE,
  /** The first load takes them; later runs leave them out and count them. */
  @JsonProperty("include_once")
  INCLUDE_ONCE
}
