package dev.millrace.lake;

/** How the store encrypts what it keeps, as the request to S3 asks for it. */
public enum Encryption {
  /** Nothing is asked for: the bucket's own setting holds. */
  NONE,
  /** {@code AES256}: with keys of S3 (SSE-S3). */
  AES256,
  /** {@code aws:kms}: with a key of AWS KMS (SSE-KMS). */
  KMS
}
