package dev.millrace.replication;

import dev.millrace.control.Pipeline;
import dev.millrace.postgres.TableName;
import java.time.Duration;
import java.time.ZoneId;
import java.util.List;

/**
 * What a run is asked to do, checked; {@link ReplicateInputParser} reads it.
 *
 * @param demo whether generated rows are copied to a local folder
 * @param pipeline the name of what is kept going
 * @param source the configured Postgres connection; null in demo mode
 * @param lake the configured lake; null in demo mode
 * @param tables at least one, none twice
 * @param spikeFactor at least 2
 * @param notifySlack whether alerts go to Slack as well as to the log
 * @param lag how far windows stay behind the clock; not negative
 * @param lookBack how far below the watermark late rows are looked for; not negative
 * @param lookBackKeys the same for keys that are numbers; not negative
 * @param windowRows a window with more rows is cut where an index serves; at least 1
 * @param connections to read a window of a table with, at most; 1 or more
 * @param longTransaction how long a transaction may be open before a person is told
 * @param parallel tables at a time
 * @param keyTimeZone the zone of keys that are wall clocks
 * @param nullKeys what becomes of rows without a key
 */
public record ReplicateInput(
    boolean demo,
    Pipeline pipeline,
    String source,
    String lake,
    List<TableRequest> tables,
    int spikeFactor,
    boolean notifySlack,
    Duration lag,
    Duration lookBack,
    long lookBackKeys,
    long windowRows,
    int connections,
    Duration longTransaction,
    int parallel,
    ZoneId keyTimeZone,
    NullKeys nullKeys) {

  /** The tables of demo mode, whatever the input names. */
  static final List<TableName> DEMO_TABLES =
      List.of(new TableName("main", "orders"), new TableName("main", "payments"));

  public ReplicateInput {
    tables = List.copyOf(tables);
  }
}
