package dev.millrace.replication;

import dev.millrace.lake.StagedObject;
import dev.millrace.parquet.ReplacedValues;
import java.util.List;

/**
 * What is about to be published: from its insertion on, only its upload is ever completed.
 *
 * @param runId the run that inserted it
 * @param position of the table in that run
 * @param lake the location of its lake
 * @param staged the object
 * @param rows rows in the object
 * @param low the watermark before; null in a first load
 * @param high the watermark after
 * @param snapshot the Postgres snapshot of the rows; null in demo mode
 * @param nullKeys rows without a key that were left out
 * @param baseline rows of the previous batch that counts; 0 for none
 * @param spike whether the batch is unusually large or small
 * @param replaced values that rules have replaced; few
 */
record Intent(
    String runId,
    int position,
    String lake,
    StagedObject staged,
    long rows,
    String low,
    String high,
    String snapshot,
    long nullKeys,
    long baseline,
    boolean spike,
    List<ReplacedValues> replaced) {

  TableResult result(String table, String object) {
    return new TableResult(
        table,
        low,
        high,
        rows,
        staged == null ? 0 : staged.bytes(),
        object,
        low == null,
        baseline,
        spike,
        nullKeys,
        replaced);
  }
}
