package dev.millrace.run;

import io.temporal.common.SearchAttributeKey;

/** The search attributes by which people find runs in the UI. */
public final class SearchAttribute {
  /** The pipeline's name. */
  public static final SearchAttributeKey<String> PIPELINE =
      SearchAttributeKey.forKeyword("MillracePipeline");

  /** The table, as {@code schema.table}. */
  public static final SearchAttributeKey<String> TABLE =
      SearchAttributeKey.forKeyword("MillraceTable");

  /** queued, running, waiting_approval, ok, partial or failed. */
  public static final SearchAttributeKey<String> STATE =
      SearchAttributeKey.forKeyword("MillraceState");

  private SearchAttribute() {}
}
