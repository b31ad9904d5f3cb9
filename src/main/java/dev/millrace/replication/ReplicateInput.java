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
