package dev.millrace.refresh;

import com.fasterxml.jackson.annotation.JsonProperty;

/** How rows get from Postgres into ClickHouse. */
public enum Load {
  /** ClickHouse reads Postgres by its table function {@code postgresql()}. */
  @JsonProperty("pull")
  PULL,
  /** The worker reads Postgres by binary COPY and sends RowBinary. */
  @JsonProperty("push")
  PUSH
}
