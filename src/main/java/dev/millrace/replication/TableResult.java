package dev.millrace.replication;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.millrace.parquet.ReplacedValues;
import java.util.ArrayList;
import java.util.List;

/**
 * What a run did to a table.
 *
 * @param table as people write it
 * @param low the watermark before; null in a first load
 * @param high the watermark after
 * @param rows rows published
 * @param bytes size of the objects
 * @param object the address of the first object; null when there were no rows
 * @param objects how many objects there are
 * @param initialLoad whether the run was a first load, or went on with one
 * @param baseline rows of the previous batch that counts; 0 for none
 * @param spike whether the batch is unusually large or small
 * @param nullKeys rows without a key that were left out
 * @param warning what a person should know of the way it was read; null for nothing
 * @param longTransaction one that has been open for long; null for none
 * @param replaced values that rules have replaced; few, and not shown where there are none
 */
public record TableResult(
    @JsonProperty("table") String table,
    @JsonProperty("low") String low,
    @JsonProperty("high") String high,
    @JsonProperty("rows") long rows,
    @JsonProperty("bytes") long bytes,
    @JsonProperty("object") String object,
    @JsonProperty("objects") int objects,
    @JsonProperty("initial_load") boolean initialLoad,
    @JsonProperty("baseline") long baseline,
    @JsonProperty("spike") boolean spike,
    @JsonProperty("null_keys") long nullKeys,
    @JsonInclude(JsonInclude.Include.NON_NULL) @JsonProperty("warning") String warning,
    @JsonInclude(JsonInclude.Include.NON_NULL) @JsonProperty("long_transaction")
        LongTransaction longTransaction,
    @JsonInclude(JsonInclude.Include.NON_EMPTY) @JsonProperty("replaced")
        List<ReplacedValues> replaced) {
  public TableResult {
    replaced = replaced == null ? List.of() : List.copyOf(replaced);
  }

  /** Returns the result of this window and the one that followed it in the run. */
  TableResult then(TableResult next) {
    List<ReplacedValues> both = new ArrayList<>(replaced);
    both.addAll(next.replaced);
    return new TableResult(
        table,
        low,
        next.high,
        rows + next.rows,
        bytes + next.bytes,
        object == null ? next.object : object,
        objects + next.objects,
        initialLoad,
        baseline,
        next.spike,
        nullKeys,
        next.warning == null ? warning : next.warning,
        next.longTransaction == null ? longTransaction : next.longTransaction,
        ReplacedCounts.few(ReplacedCounts.sum(both)));
  }
}
