package dev.millrace.refresh;

/** How rows get from Postgres into ClickHouse. */
enum Load {
  /** ClickHouse reads Postgres by its table function {@code postgresql()}. */
  PULL,
  /** The worker reads Postgres by binary COPY and sends RowBinary. */
  PUSH
}
