package dev.millrace.lake;

import dev.millrace.failure.MillraceException;
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
