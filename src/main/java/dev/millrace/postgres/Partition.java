package dev.millrace.postgres;

/**
 * A partition or a child table.
 *
 * @param oid its id in {@code pg_class}
 * @param name its own name
 * @param readable whether the user may read it by its own name
 */
public record Partition(long oid, TableName name, boolean readable) {
  @Override
  public String toString() {
    return name.toString();
  }
}
