package dev.millrace.replication;

import dev.millrace.control.Lease;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Points;
import dev.millrace.lake.Lake;
import dev.millrace.lake.StagedObject;
import dev.millrace.lake.StagedUpload;
import dev.millrace.postgres.Postgres;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The object that one attempt of {@code extract} stages: its name is reserved before its upload is
 * created, and whatever is not finished is thrown away.
 *
 * <p>Not thread-safe; one attempt has it.
 */
final class Staging implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Staging.class);

  /** A day of seconds; who needs more has another problem. */
  private static final int MOST_NAMES = 86_400;

  private final TableTask task;
  private final TableKey key;
  private final Postgres state;
  private final Lake lake;
  private final Points points;
  private final String attempt = UUID.randomUUID().toString();

  private StagedUpload upload;
  private boolean handedOver;

  Staging(TableTask task, Postgres state, Lake lake, Points points) {
    this.task = task;
    this.key = TableKey.of(task);
    this.state = state;
    this.lake = lake;
    this.points = points;
  }

  /** Returns the attempt's id. */
  String attempt() {
    return attempt;
  }

  /** Appends bytes; the first ones reserve the name and create the upload. */
  void write(ByteBuffer bytes) {
    if (upload == null) {
      open();
    }
    upload.write(bytes);
  }

  private void open() {
    String objectKey = reserve();
    points.pass("extract.reserved");
    StagedUpload created = lake.stage(objectKey, attempt);
    boolean ours =
        state.transact(
            connection -> ReplicationState.noteUpload(connection, attempt, created.uploadId()));
    upload = created;
    if (!ours) {
      throw overtaken();
    }
    points.pass("extract.staged");
  }

  private String reserve() {
    String folder = ObjectName.folder(lake.prefix(), task.table().name());
    Instant second = task.runInstant();
    for (int tried = 0; tried < MOST_NAMES; tried++, second = second.plusSeconds(1)) {
      String objectKey = ObjectName.key(folder, second);
      if (reserve(objectKey)) {
        if (!lake.exists(objectKey)) {
          return objectKey;
        }
        unreserve();
      }
    }
    throw new MillraceException(
        ErrorCode.INTERNAL,
        "%s: no free object name after %s in %s"
            .formatted(key.table(), task.instant(), lake.address(folder)));
  }

  private boolean reserve(String objectKey) {
    return state.transact(
        connection -> {
          Lease.check(connection, task.pipelineName(), task.runId());
          return ReplicationState.reserve(
              connection, key, task.runId(), lake.location(), objectKey, attempt);
        });
  }

  private void unreserve() {
    state.transact(
        connection -> {
          ReplicationState.unreserve(connection, attempt);
          return null;
        });
  }

  /**
   * Returns the object when all its bytes are in the lake and the attempt is still the current one.
   */
  StagedObject finish() {
    StagedObject staged = upload.finish();
    if (!state.transact(connection -> ReplicationState.reserved(connection, attempt))) {
      lake.discard(staged);
      throw overtaken();
    }
    handedOver = true;
    return staged;
  }

  private MillraceException overtaken() {
    return new MillraceException(
        ErrorCode.INTENT_CONFLICT,
        "%s: attempt %s was overtaken by a later one; what it staged is thrown away"
            .formatted(key.table(), attempt));
  }

  @Override
  public void close() {
    if (upload == null) {
      return;
    }
    upload.close();
    if (handedOver) {
      return;
    }
    try {
      unreserve();
    } catch (MillraceException exception) {
      // The next prepare or extract of the table finds the reservation and forgets it.
      LOG.warn("{}: a reserved name is kept for now: {}", key.table(), exception.getMessage());
    }
  }
}
