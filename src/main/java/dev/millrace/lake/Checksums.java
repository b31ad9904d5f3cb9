package dev.millrace.lake;

/**
 * When requests to S3 carry a checksum of the SDK's own.
 *
 * <p>See the AWS SDKs and Tools Reference Guide, "Data Integrity Protections for Amazon S3".
 */
public enum Checksums {
  /** Whenever the operation has one: what AWS recommends. */
  DEFAULT,
  /** Only where the operation demands one: for stores that refuse the SDK's checksum headers. */
  WHEN_REQUIRED
}
