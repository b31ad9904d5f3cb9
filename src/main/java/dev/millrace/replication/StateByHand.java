package dev.millrace.replication;

import dev.millrace.control.Lease;
import dev.millrace.control.Pipeline;
import dev.millrace.control.RunId;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.Lake;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.TableName;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Collection;
import java.util.Optional;

/**
 * The ways out of {@code SOURCE_CHANGED} and {@code LAKE_CHANGED}: a person decides, while no run
 * of the pipeline is open.
 *
 * <p>Thread-safe.
 */
public final class StateByHand {
  private final Postgres state;
  private final Collection<Lake> lakes;

  /**
   * Makes the tool.
   *
   * @param state where Millrace keeps its memory
   * @param lakes those in which an object may have been left half published
   */
  public StateByHand(Postgres state, Collection<Lake> lakes) {
    this.state = state;
    this.lakes = lakes;
  }

  /**
   * Keeps the watermark for the table and lake that the next run finds.
   *
   * @throws MillraceException with {@code RUN_OPEN}, or with {@code BAD_INPUT} when the table has
   *     no state
   */
  public void accept(Pipeline pipeline, TableName table) {
    underLease(
        pipeline,
        () ->
            change(
                new TableKey(pipeline.name(), table),
                """
                UPDATE millrace.table_state SET system_identifier = ''
                WHERE pipeline = ? AND schema_name = ? AND table_name = ?
                """));
  }

  /**
   * Forgets the watermark and the baseline, so that the next run is a first load.
   *
   * @throws MillraceException as {@link #accept}
   */
  public void reset(Pipeline pipeline, TableName table) {
    TableKey key = new TableKey(pipeline.name(), table);
    underLease(
        pipeline,
        () -> {
          discardIntent(key);
          change(
              key,
              """
              DELETE FROM millrace.table_state
              WHERE pipeline = ? AND schema_name = ? AND table_name = ?
              """);
        });
  }

  private void discardIntent(TableKey key) {
    Optional<Intent> left = state.transact(connection -> ReplicationState.intent(connection, key));
    left.ifPresent(
        intent -> {
          lakes.stream()
              .filter(lake -> lake.location().equals(intent.lake()))
              .forEach(lake -> lake.discard(intent.staged()));
          state.transact(
              connection -> {
                ReplicationState.forget(connection, key, intent.staged().attempt());
                return null;
              });
        });
  }

  private void change(TableKey key, String sql) {
    int rows =
        state.transact(
            connection -> {
              // A snapshot means nothing to another cluster, nor to a first load.
              ReplicationState.forgetReadings(connection, key, null);
              return ReplicationState.update(connection, key, sql);
            });
    if (rows == 0) {
      throw new MillraceException(
          ErrorCode.BAD_INPUT,
          "pipeline %s has no state of table %s; SELECT * FROM millrace.watermark shows what there is"
              .formatted(key.pipeline(), key.table()));
    }
  }

  private void underLease(Pipeline pipeline, Runnable work) {
    String runId = RunId.of(Instant.now(), pipeline.name(), new SecureRandom().nextInt());
    boolean ours =
        state.transact(
            connection -> Lease.acquire(connection, pipeline.name(), runId, Lease.TIME_TO_LIVE));
    if (!ours) {
      throw new MillraceException(
          ErrorCode.RUN_OPEN,
          "a run of pipeline %s is open; wait for its end, or cancel it, and try again"
              .formatted(pipeline));
    }
    try {
      work.run();
    } finally {
      state.transact(
          connection -> {
            Lease.release(connection, pipeline.name(), runId);
            return null;
          });
    }
  }
}
