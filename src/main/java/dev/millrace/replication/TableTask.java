package dev.millrace.replication;

import dev.millrace.run.Admission;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;

/**
 * One table of one run: what {@link ReplicateTable} and its activities are given.
 *
 * @param pipeline the pipeline's name
 * @param runId the run that holds the lease
 * @param position of the table in the run, from 0
 * @param instant the run's instant, an ISO-8601 instant
 * @param demo whether rows are generated
 * @param source the configured Postgres connection; null in demo mode
 * @param lake the configured lake; null in demo mode
 * @param table the table as the input asks for it
 * @param lag an ISO-8601 duration
 * @param lookBack an ISO-8601 duration, for keys that are times
 * @param lookBackKeys the same for keys that are numbers
 * @param windowRows a window with more rows is cut where an index serves; at least 1
 * @param connections to read a window with, at most
 * @param longTransaction an ISO-8601 duration
 * @param keyTimeZone the zone of keys that are wall clocks
 * @param nullKeys what becomes of rows without a key
 * @param spikeFactor at least 2
 * @param notifySlack whether a spike goes to Slack, too
 * @param admission what the worker's configuration says
 */
public record TableTask(
    String pipeline,
    String runId,
    int position,
    String instant,
    boolean demo,
    String source,
    String lake,
    TableRequest table,
    String lag,
    String lookBack,
    long lookBackKeys,
    long windowRows,
    int connections,
    String longTransaction,
    String keyTimeZone,
    NullKeys nullKeys,
    int spikeFactor,
    boolean notifySlack,
    Admission admission) {

  Instant runInstant() {
    return Instant.parse(instant);
  }

  Duration lagDuration() {
    return Duration.parse(lag);
  }

  /** Returns the look-back of a kind of keys. */
  LookBack lookBack(KeyKind kind) {
    return new LookBack(kind, Duration.parse(lookBack), lookBackKeys);
  }

  Duration longTransactionDuration() {
    return Duration.parse(longTransaction);
  }

  ZoneId zone() {
    return ZoneId.of(keyTimeZone);
  }
}
