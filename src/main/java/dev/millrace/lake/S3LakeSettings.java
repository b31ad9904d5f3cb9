package dev.millrace.lake;

import java.net.URI;
import java.util.Objects;

/**
 * What it takes to reach a bucket.
 *
 * @param name the lake's name in the configuration
 * @param bucket the bucket
 * @param prefix what each key starts with, empty or ending in a slash (added when it is missing)
 * @param region the bucket's region
 * @param endpoint the address of a store that is not AWS, or null
 * @param pathStyle whether the bucket is in the path of a request instead of its host name
 * @param encryption how the store encrypts the objects
 * @param kmsKey the id or ARN of the KMS key, or null for the account's own key
 * @param checksums when requests carry a checksum
 * @param credentials fixed credentials, or null for the default chain of AWS
 */
public record S3LakeSettings(
    String name,
    String bucket,
    String prefix,
    String region,
    URI endpoint,
    boolean pathStyle,
    Encryption encryption,
    String kmsKey,
    Checksums checksums,
    Credentials credentials) {

  /** Completes the prefix. */
  public S3LakeSettings {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(bucket, "bucket");
    Objects.requireNonNull(region, "region");
    Objects.requireNonNull(encryption, "encryption");
    Objects.requireNonNull(checksums, "checksums");
    prefix = prefix.isEmpty() || prefix.endsWith("/") ? prefix : prefix + "/";
  }
}
