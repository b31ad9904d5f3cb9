package dev.millrace.replication;

import java.math.BigInteger;

/** The rule that tells an unusual batch size. */
public final class Spike {
  /** A smaller previous batch says too little to compare with. */
  static final long LEAST_BASELINE = 10;

  private Spike() {}

  /**
   * Returns whether a batch is more than {@code factor} times larger or smaller than the one
   * before.
   *
   * @param rows rows of this batch
   * @param baseline rows of the previous batch that was neither empty nor a first load; 0 for none
   * @param factor at least 2
   * @param initialLoad a first load is never compared
   */
  public static boolean is(long rows, long baseline, int factor, boolean initialLoad) {
    if (initialLoad || rows == 0 || baseline < LEAST_BASELINE) {
      return false;
    }
    BigInteger now = BigInteger.valueOf(rows);
    BigInteger before = BigInteger.valueOf(baseline);
    BigInteger times = BigInteger.valueOf(factor);
    return now.compareTo(before.multiply(times)) > 0 || now.multiply(times).compareTo(before) < 0;
  }
}
