package dev.millrace.clickhouse;

import java.util.List;

/**
 * What is left of a swap.
 *
 * @param other where the table is that was live before; null when it is gone
 * @param pending what could not be cleaned up
 */
public record Swapped(TargetTable other, List<Pending> pending) {

  public Swapped {
    pending = List.copyOf(pending);
  }
}
