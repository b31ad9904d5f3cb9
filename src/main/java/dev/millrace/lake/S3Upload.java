package dev.millrace.lake;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A multipart upload in the making: at most two parts on their way and one being filled.
 *
 * <p>It never completes the upload; the first failure of a part ends it. Not thread-safe: one
 * attempt writes it, its own threads send.
 */
final class S3Upload implements StagedUpload {
  /** In bytes: the first parts' size, and what is held in memory of later ones. */
  static final int MEMORY_SIZE = 6 << 20;

  private static final int MOST_PARTS = 10_000;
  private static final int PARTS_OF_ONE_SIZE = 1_000;
  private static final int LANES = 2;

  private final S3Lake lake;
  private final String key;
  private final String attempt;
  private final String uploadId;
  private final Semaphore lanes = new Semaphore(LANES);
  private final Queue<PartBuffer> spare = new ConcurrentLinkedQueue<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private PartBuffer filling;
  private int partNumber = 1;
  private long position;
  private boolean finished;
  private boolean closed;

  S3Upload(S3Lake lake, String key, String attempt, String uploadId) {
    this.lake = lake;
    this.key = key;
    this.attempt = attempt;
    this.uploadId = uploadId;
    for (int i = 0; i < LANES + 1; i++) {
      spare.add(new PartBuffer(MEMORY_SIZE));
    }
    filling = spare.remove();
    filling.reset(partSize(partNumber));
  }

  /**
   * Returns the size of a part, in bytes: twice as much after each thousand, so that 10,000 parts
   * hold 6 TB, which is more than S3 takes, and the parts of a small object are small.
   */
  static long partSize(int partNumber) {
    return (long) MEMORY_SIZE << ((partNumber - 1) / PARTS_OF_ONE_SIZE);
  }

  @Override
  public String uploadId() {
    return uploadId;
  }

  @Override
  public void write(ByteBuffer bytes) {
    checkUsable();
    while (bytes.hasRemaining()) {
      if (filling.full()) {
        send();
      }
      int before = bytes.remaining();
      filling.fill(bytes);
      position += before - bytes.remaining();
    }
  }

  @Override
  public long position() {
    return position;
  }

  @Override
  public StagedObject finish() {
    checkUsable();
    send();
    waitForLanes(LANES);
    lanes.release(LANES);
    checkUsable();
    finished = true;
    dropBuffers();
    return new StagedObject(key, uploadId, attempt, position);
  }

  /** Sends what is filled, as soon as a lane is free. */
  private void send() {
    if (partNumber > MOST_PARTS) {
      throw new MillraceException(
          ErrorCode.INTERNAL,
          "Lake %s: %s does not fit into the %d parts that S3 allows."
              .formatted(lake.name(), lake.address(key), MOST_PARTS));
    }
    waitForLanes(1);
    boolean sending = false;
    try {
      checkUsable();
      PartBuffer part = filling;
      int number = partNumber;
      lake.execute(
          () -> {
            try {
              lake.sendPart(key, uploadId, number, part);
            } catch (RuntimeException | Error e) {
              failure.compareAndSet(null, e);
            } finally {
              spare.add(part);
              lanes.release();
            }
          });
      sending = true;
      partNumber++;
      // Three buffers and two lanes: one is always spare.
      filling = spare.remove();
      filling.reset(partSize(partNumber));
    } finally {
      if (!sending) {
        lanes.release();
      }
    }
  }

  private void waitForLanes(int count) {
    try {
      lanes.acquire(count);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MillraceException(
          ErrorCode.LAKE_UNAVAILABLE,
          "Lake %s: the upload of %s was interrupted. It is tried again."
              .formatted(lake.name(), lake.address(key)),
          e);
    }
  }

  private void checkUsable() {
    Throwable first = failure.get();
    if (first instanceof MillraceException known) {
      throw known;
    }
    if (first != null) {
      throw new MillraceException(
          ErrorCode.INTERNAL,
          "Lake %s: a part of %s was not sent: %s. It is tried again."
              .formatted(lake.name(), lake.address(key), first),
          first);
    }
    if (finished || closed) {
      throw new IllegalStateException("The upload of " + key + " has ended.");
    }
  }

  @Override
  public void close() {
    if (finished || closed) {
      return;
    }
    closed = true;
    // A part that arrives after the abort would bring the upload back in some stores.
    lanes.acquireUninterruptibly(LANES);
    dropBuffers();
    lake.abandon(key, uploadId);
  }

  private void dropBuffers() {
    filling.close();
    filling = null;
    for (PartBuffer buffer = spare.poll(); buffer != null; buffer = spare.poll()) {
      buffer.close();
    }
  }
}
