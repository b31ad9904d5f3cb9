package dev.millrace.lake;

import java.nio.ByteBuffer;

/**
 * An object in the making, written from its first byte to its last.
 *
 * <p>Not thread-safe; one attempt writes it. Sends parts in the background with bounded memory.
 */
public interface StagedUpload extends AutoCloseable {

  /** Returns the store's id of the upload. */
  String uploadId();

  /**
   * Appends bytes; may wait for parts on their way.
   *
   * @param bytes read from its position to its limit, and free for reuse on return
   */
  void write(ByteBuffer bytes);

  /** Returns the number of bytes written so far. */
  long position();

  /** Waits until all bytes are durable in the store. The object is still not visible. */
  StagedObject finish();

  /** Throws the upload away unless {@link #finish} has returned; safe to call twice. */
  @Override
  void close();
}
