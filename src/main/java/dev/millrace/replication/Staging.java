package dev.millrace.replication;

import dev.millrace.control.RunQueue;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Points;
import dev.millrace.lake.Lake;
import dev.millrace.lake.StagedObject;
import dev.millrace.lake.StagedUpload;
import dev.millrace.run.State;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The object that one attempt of {@code extract} stages: its name is reserved before its upload is
 * created, and whatever is not finished is thrown away.
 *
 * <p>Not thread-safe, save {@link #bytes}; one attempt has it.
 */
final class Staging implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Staging.class);

  /** A day of seconds; who needs more has another problem. */
  private static final int MOST_NAMES = 86_400;

  private final TableTask task;
  private final TableKey key;
  private final State state;
  private final Lake lake;
  private final Points points;
  private final String attempt = UUID.randomUUID().toString();
  private final MessageDigest checksum = sha256();

  private String objectKey;
  private StagedUpload upload;
  private boolean handedOver;
  private volatile long written;

  Staging(TableTask task, State state, Lake lake, Points points) {
    this.task = task;
    this.key = TableKey.of(task);
    this.state = state;
    this.lake = lake;
    this.points = points;
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException exception) {
      throw new IllegalStateException("each JVM has SHA-256", exception);
    }
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
    checksum.update(bytes.duplicate());
    upload.write(bytes);
    written = upload.position();
  }

  /**
   * Keeps what the attempt has read, for the run that follows it.
   *
   * @param manifest of the object, for whoever publishes it; null where there is none
   */
  void keep(Reading reading, Manifest manifest) {
    state.transact(
        connection -> {
          ReplicationState.insertReading(connection, key, reading);
          if (manifest != null) {
            ReplicationState.insertManifest(connection, key, attempt, manifest.write());
          }
          return null;
        });
  }

  /** Returns the SHA-256 of all bytes, in hexadecimal digits; to be called once, at the end. */
  String checksum() {
    return HexFormat.of().formatHex(checksum.digest());
  }

  /** Returns the bytes so far; any thread may ask. */
  long bytes() {
    return written;
  }

  private void open() {
    objectKey = reserve();
    points.pass("extract.reserved");
    upload = lake.stage(objectKey, attempt);
    boolean ours =
        state.transact(
            connection -> ReplicationState.noteUpload(connection, attempt, upload.uploadId()));
    if (!ours) {
      throw overtaken();
    }
    points.pass("extract.staged");
  }

  private String reserve() {
    String folder = ObjectName.folder(lake.prefix(), task.table().name());
    Instant second = task.runInstant();
    for (int tried = 0; tried < MOST_NAMES; tried++, second = second.plusSeconds(1)) {
      String name = ObjectName.key(folder, second);
      if (reserve(name)) {
        if (!lake.exists(name)) {
          return name;
        }
        unreserve();
      }
    }
    throw new MillraceException(
        ErrorCode.INTERNAL,
        "%s: no free object name after %s in %s"
            .formatted(key.table(), task.instant(), lake.address(folder)));
  }

  private boolean reserve(String name) {
    return state.transact(
        connection -> {
          RunQueue.check(connection, task.pipeline(), task.runId());
          return ReplicationState.reserve(
              connection, key, task.runId(), lake.location(), name, attempt);
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
   *
   * @param confirmation throws when it is not; asked when all bytes are there, since nobody would
   *     throw away what a late attempt hands over
   */
  StagedObject finish(Runnable confirmation) {
    StagedObject staged = upload.finish();
    confirmation.run();
    if (!state.transact(connection -> ReplicationState.reserved(connection, attempt))) {
      throw overtaken();
    }
    handedOver = true;
    return staged;
  }

  private MillraceException overtaken() {
    return new MillraceException(
        ErrorCode.ATTEMPT_OVERTAKEN,
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
      // Only what is known to be gone may be forgotten: the next prepare or extract of the table
      // finds leftovers by their reservation.
      lake.discard(new StagedObject(objectKey, upload.uploadId(), attempt, written));
      unreserve();
    } catch (MillraceException exception) {
      LOG.warn("{}: a reserved name is kept for now: {}", key.table(), exception.getMessage());
    }
  }
}
