package dev.millrace.lake;

import dev.millrace.failure.MillraceException;
import java.io.InputStream;
import java.util.List;
import java.util.Set;

/**
 * A place where objects are first staged, unseen by any listing, and then published at once.
 *
 * <p>Thread-safe. All methods throw {@link MillraceException} with {@code LAKE_UNAVAILABLE}, {@code
 * LAKE_REFUSED} or {@code CREDENTIALS_EXPIRED}.
 */
public interface Lake extends AutoCloseable {

  /**
   * Returns what tells this lake from others, without any secret: {@code s3://bucket} (with the
   * endpoint's host and port where one is set) or {@code file:///folder}.
   */
  String location();

  /** Returns what each key starts with: empty, or ending in a slash. */
  String prefix();

  /** Returns the address of an object as people write it, {@code s3://bucket/key}. */
  String address(String key);

  /**
   * Creates a staged object that nobody sees.
   *
   * @param key the whole key, prefix included
   * @param attempt the id of the attempt; it is in the published object's metadata
   */
  StagedUpload stage(String key, String attempt);

  /**
   * Makes a staged object visible, or finds out what became of it; may be called again and again.
   *
   * <p>Looks first: an object with our attempt's id is published already. Completes the upload only
   * where no object has the name, with {@code If-None-Match: *} where the store has it. A 409, or
   * an error inside a 200, is no success.
   */
  Publication publish(StagedObject object);

  /**
   * Throws a staged object away: aborts its upload, then looks once more.
   *
   * @return true when the object turned out to be published after all, so it must not be forgotten
   */
  boolean discard(StagedObject object);

  /**
   * Throws away all staged objects of a key, such as those of killed attempts.
   *
   * @param key the whole key, prefix included
   * @param kept ids of uploads that stay
   */
  void discardLeftovers(String key, Set<String> kept);

  /** Returns whether an object with this key is visible. */
  boolean exists(String key);

  /**
   * Writes a small object at once, in the place of one of that name; a reader sees the old one or
   * the new one, whole.
   *
   * @param key the whole key, prefix included
   * @param content all of it; at most a few megabytes
   */
  void put(String key, byte[] content);

  /**
   * Returns what is visible directly in a folder, in the order of keys; not what is in folders
   * inside it.
   *
   * @param folder a whole key that ends in a slash; it need not exist
   */
  List<ListedObject> list(String folder);

  /**
   * Reads a part of an object.
   *
   * @param key the whole key, prefix included
   * @param offset of the first byte, from 0
   * @param length number of bytes, at least 1
   * @return so many bytes
   * @throws MillraceException also when the object is gone, or shorter than that
   */
  byte[] read(String key, long offset, int length);

  /**
   * Opens an object for reading from its first byte to its last; failures on the way are {@link
   * java.io.IOException}s of the stream.
   *
   * @param key the whole key, prefix included
   * @return a stream that the caller closes
   */
  InputStream open(String key);

  /**
   * Proves that the worker may stage, publish and remove objects here; writes and removes an object
   * of its own where the store's rights depend on the way of writing (encryption with a key of
   * KMS).
   *
   * @throws MillraceException with {@code LAKE_REFUSED} that names the right that is missing
   */
  void probe();

  @Override
  void close();
}
