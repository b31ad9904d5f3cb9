package dev.millrace.lake;

import java.util.Objects;

/**
 * Fixed credentials for S3. Their text form shows no secret.
 *
 * @param accessKeyId the id of the access key
 * @param secretAccessKey its secret
 * @param sessionToken the token of temporary credentials, or null
 */
public record Credentials(String accessKeyId, String secretAccessKey, String sessionToken) {
  /** Refuses half a pair. */
  public Credentials {
    Objects.requireNonNull(accessKeyId, "accessKeyId");
    Objects.requireNonNull(secretAccessKey, "secretAccessKey");
  }

  @Override
  public String toString() {
    return "Credentials[accessKeyId=" + accessKeyId + ", secrets hidden]";
  }
}
