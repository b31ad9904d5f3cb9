package dev.millrace.replication;

import dev.millrace.control.RunQueue;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Points;
import dev.millrace.lake.Lake;
import dev.millrace.lake.Publication;
import dev.millrace.run.State;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;

/**
 * The commit protocol: an intent, then the object, its manifest, then the watermark; each step can
 * be done again after any crash.
 *
 * <p>Thread-safe.
 */
final class Publishing {
  private final State state;
  private final Lake lake;
  private final Points points;

  Publishing(State state, Lake lake, Points points) {
    this.state = state;
    this.lake = lake;
    this.points = points;
  }

  /**
   * Publishes a staged object and moves the watermark.
   *
   * @param holder the run that holds the lease
   * @throws MillraceException with {@code LEASE_LOST}, {@code STAGED_OBJECT_LOST}, {@code
   *     INTENT_CONFLICT} or {@code WATERMARK_CONFLICT}
   */
  TableResult publish(TableKey key, String holder, Intent intent) {
    state.transact(
        connection -> {
          RunQueue.check(connection, key.pipeline(), holder);
          ReplicationState.insertIntent(connection, key, intent);
          return null;
        });
    points.pass("write.intent");
    return complete(key, holder, intent)
        .orElseThrow(
            () ->
                new MillraceException(
                    ErrorCode.STAGED_OBJECT_LOST,
                    "%s: %s was staged, but its upload is gone or its name is taken; the table is extracted again"
                        .formatted(key.table(), lake.address(intent.staged().key()))));
  }

  /**
   * Decides what another attempt or run left: it is committed when its object is there or can still
   * be completed, and forgotten otherwise.
   */
  void decide(TableKey key, String holder) {
    Optional<Intent> left = state.transact(connection -> ReplicationState.intent(connection, key));
    left.ifPresent(
        intent -> {
          requireSameLake(key, intent);
          complete(key, holder, intent);
        });
  }

  private void requireSameLake(TableKey key, Intent intent) {
    if (!intent.lake().equals(lake.location())) {
      throw new MillraceException(
          ErrorCode.LAKE_CHANGED,
          "%s: run %s left an object half published in %s, and the lake is now %s; run once with the old lake, then change it"
              .formatted(key.table(), intent.runId(), intent.lake(), lake.location()));
    }
  }

  private Optional<TableResult> complete(TableKey key, String holder, Intent intent) {
    points.pass("write.before-complete");
    Publication publication = lake.publish(intent.staged());
    points.pass("write.after-complete");
    boolean published =
        switch (publication) {
          case PUBLISHED -> true;
          // Looks once more: an answer that got lost may have been a success.
          case GONE, TAKEN -> lake.discard(intent.staged());
        };
    if (!published) {
      forget(key, intent);
      return Optional.empty();
    }
    points.pass("write.before-manifest");
    putManifest(key, intent);
    points.pass("write.before-watermark");
    TableResult result = commit(key, holder, intent);
    points.pass("write.after-watermark");
    return Optional.of(result);
  }

  /** Each object whose watermark has moved has its manifest; writing it again changes nothing. */
  private void putManifest(TableKey key, Intent intent) {
    String attempt = intent.staged().attempt();
    Optional<String> manifest =
        state.transact(connection -> ReplicationState.manifest(connection, attempt));
    if (manifest.isEmpty()) {
      requireDecided(key, intent);
      return;
    }
    byte[] text = manifest.get().getBytes(StandardCharsets.UTF_8);
    lake.put(ObjectName.manifest(intent.staged().key()), text);
  }

  /** Whoever decides an intent forgets the manifest with it; moving the watermark tells who did. */
  private void requireDecided(TableKey key, Intent intent) {
    boolean open =
        state
            .transact(connection -> ReplicationState.intent(connection, key))
            .filter(left -> left.staged().attempt().equals(intent.staged().attempt()))
            .isPresent();
    if (open) {
      throw new MillraceException(
          ErrorCode.INTERNAL,
          "%s: the state has lost the manifest of %s (attempt %s)"
              .formatted(
                  key.table(), lake.address(intent.staged().key()), intent.staged().attempt()));
    }
  }

  /** Returns what a run tells of an intent that is committed. */
  TableResult result(TableKey key, Intent intent) {
    String object = intent.staged() == null ? null : lake.address(intent.staged().key());
    return intent.result(key.table().toString(), object);
  }

  /** Moves the watermark in one transaction with all that belongs to it. */
  TableResult commit(TableKey key, String holder, Intent intent) {
    TableResult result = result(key, intent);
    state.transact(
        connection -> {
          RunQueue.check(connection, key.pipeline(), holder);
          ReplicationState.moveWatermark(connection, key, intent);
          ReplicationState.record(
              connection,
              key,
              intent.runId(),
              intent.position(),
              result,
              intent.goesOnTo() == null);
          if (intent.staged() != null) {
            ReplicationState.forget(connection, key, intent.staged().attempt());
          }
          return null;
        });
    return result;
  }

  private void forget(TableKey key, Intent intent) {
    state.transact(
        connection -> {
          ReplicationState.forget(connection, key, intent.staged().attempt());
          return null;
        });
  }

  /**
   * Throws away what attempts on a table have staged and nobody will publish.
   *
   * @param holder the run that holds the lease, so that no other run is at work on the table
   */
  void discardLeftovers(TableKey key, String holder) {
    Optional<Intent> intent =
        state.transact(
            connection -> {
              RunQueue.check(connection, key.pipeline(), holder);
              return ReplicationState.intent(connection, key);
            });
    Set<String> kept = intent.map(known -> Set.of(known.staged().uploadId())).orElseGet(Set::of);
    String publishing = intent.map(known -> known.staged().attempt()).orElse("");
    state
        .transact(connection -> ReplicationState.reservations(connection, key, lake.location()))
        .stream()
        .filter(reservation -> !reservation.attempt().equals(publishing))
        .forEach(reservation -> discard(reservation, kept));
  }

  private void discard(ReplicationState.Reservation reservation, Set<String> kept) {
    // The reservation goes first: an attempt that wakes up now can no longer note an upload.
    state.transact(
        connection -> {
          ReplicationState.unreserve(connection, reservation.attempt());
          return null;
        });
    lake.discardLeftovers(reservation.objectKey(), kept);
  }
}
