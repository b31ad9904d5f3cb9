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
 * @param staged the object; null where there were no rows
 * @param rows rows in the object
 * @param low the watermark before; null in a first load
 * @param high the watermark after
 * @param previous the last reading before; null for none
 * @param reading the one after
 * @param initialLoad whether the run is a first load, or goes on with one
 * @param goesOnTo where the run's window ends; null where it ends here
 * @param runRows rows of the table in the run, with these
 * @param nullKeys rows without a key that were left out
 * @param baseline rows of the previous batch that counts; 0 for none
 * @param spike whether the batch is unusually large or small
 * @param warning what a person should know of the way it was read; null for nothing
 * @param longTransaction one that has been open for long; null for none
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
    String previous,
    String reading,
    boolean initialLoad,
    String goesOnTo,
    long runRows,
    long nullKeys,
    long baseline,
    boolean spike,
    String warning,
    LongTransaction longTransaction,
    List<ReplacedValues> replaced) {

  TableResult result(String table, String object) {
    return new TableResult(
        table,
        low,
        high,
        rows,
        staged == null ? 0 : staged.bytes(),
        object,
        staged == null ? 0 : 1,
        initialLoad,
        baseline,
        spike,
        nullKeys,
        warning,
        longTransaction,
        replaced);
  }
}
