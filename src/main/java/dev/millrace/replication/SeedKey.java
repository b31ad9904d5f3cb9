package dev.millrace.replication;

import dev.millrace.postgres.TableName;

/** The key names under which the flow that Millrace replaces kept its state. */
public final class SeedKey {
  private SeedKey() {}

  /** Returns {@code sling_watermark_<schema>__<table>}, with {@code sling_demo_} in demo mode. */
  public static String watermark(boolean demo, TableName table) {
    return (demo ? "sling_demo_" : "sling_") + "watermark_" + table.schema() + "__" + table.table();
  }
}
