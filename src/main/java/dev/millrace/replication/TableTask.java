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

  ZoneId zone() {
    return ZoneId.of(keyTimeZone);
  }
}
