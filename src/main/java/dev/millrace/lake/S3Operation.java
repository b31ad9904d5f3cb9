package dev.millrace.lake;

/**
 * The requests that a lake sends, and the rights that each needs.
 *
 * <p>See the Amazon S3 User Guide, "Multipart upload API and permissions".
 */
enum S3Operation {
  CREATE_UPLOAD("CreateMultipartUpload", "s3:PutObject", "kms:GenerateDataKey"),
  UPLOAD_PART("UploadPart", "s3:PutObject", "kms:Decrypt"),
  COMPLETE_UPLOAD("CompleteMultipartUpload", "s3:PutObject", "kms:Decrypt"),
  ABORT_UPLOAD("AbortMultipartUpload", "s3:AbortMultipartUpload", null),
  LIST_PARTS("ListParts", "s3:ListMultipartUploadParts", null),
  LIST_UPLOADS("ListMultipartUploads", "s3:ListBucketMultipartUploads", null),
  HEAD_OBJECT("HeadObject", "s3:GetObject, and s3:ListBucket of the bucket", null),
  PUT_OBJECT("PutObject", "s3:PutObject", "kms:GenerateDataKey"),
  GET_OBJECT("GetObject", "s3:GetObject", "kms:Decrypt"),
  LIST_OBJECTS("ListObjectsV2", "s3:ListBucket of the bucket", null),
  DELETE_OBJECT("DeleteObject", "s3:DeleteObject", null);

  private final String requestName;
  private final String right;
  private final String keyRight;

  S3Operation(String requestName, String right, String keyRight) {
    this.requestName = requestName;
    this.right = right;
    this.keyRight = keyRight;
  }

  /** Returns the name of the request in the API of S3. */
  String requestName() {
    return requestName;
  }

  /** Returns the right of S3 that the request needs. */
  String right() {
    return right;
  }

  /** Returns the right of KMS that it needs with a KMS key, or null. */
  String keyRight() {
    return keyRight;
  }
}
