package dev.millrace.replication;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.millrace.parquet.ReplacedValues;
import java.util.List;

/**
 * What a run did to a table.
 *
 * @param table as people write it
 * @param low the watermark before; null in a first load
 * @param high the watermark after
 * @param rows rows published
 * @param bytes size of the object
 * @param object its address; null when there were no rows
 * @param initialLoad whether nothing was copied before
 * @param baseline rows of the previous batch that counts; 0 for none
 * @param spike whether the batch is unusually large or small
 * @param nullKeys rows without a key that were left out
 * @param replaced values that rules have replaced; few, and not shown where there are none
 */
public record TableResult(
    @JsonProperty("table") String table,
    @JsonProperty("low") String low,
    @JsonProperty("high") String high,
    @JsonProperty("rows") long rows,
    @JsonProperty("bytes") long bytes,
    @JsonProperty("object") String object,
    @JsonProperty("initial_load") boolean initialLoad,
    @JsonProperty("baseline") long baseline,
    @JsonProperty("spike") boolean spike,
    @JsonProperty("null_keys") long nullKeys,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) @JsonProperty("replaced")
        List<ReplacedValues> replaced) {
  public TableResult {
    replaced = replaced == null ? List.of() : List.copyOf(replaced);
  }
}
