package dev.millrace.lake;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.ServerAnswer;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;

/**
 * Tells what an error of S3 means, and what to do about it.
 *
 * <p>Immutable. Codes are those of the Amazon S3 API Reference, "Error responses".
 */
final class S3Failures {
  private static final Set<String> EXPIRED =
      Set.of("ExpiredToken", "ExpiredTokenException", "InvalidToken", "TokenRefreshRequired");
  private static final Set<String> PASSING =
      Set.of(
          "BadDigest",
          "ConditionalRequestConflict",
          "IncompleteBody",
          "InternalError",
          "OperationAborted",
          "RequestTimeout",
          "ServiceUnavailable",
          "SlowDown",
          "Throttling",
          "ThrottlingException",
          "XAmzContentSHA256Mismatch",
          "XAmzContentChecksumMismatch");
  private static final Set<String> WRONG_REGION =
      Set.of(
          "AuthorizationHeaderMalformed",
          "IllegalLocationConstraintException",
          "PermanentRedirect",
          "TemporaryRedirect");
  private static final Set<String> WRONG_KEYS =
      Set.of("InvalidAccessKeyId", "SignatureDoesNotMatch", "NotSignedUp", "InvalidSecurity");
  private static final Pattern KEY_RIGHT = Pattern.compile("\\bkms:[A-Za-z]+");

  private final S3LakeSettings settings;
  private final boolean fixedCredentials;

  S3Failures(S3LakeSettings settings, boolean fixedCredentials) {
    this.settings = settings;
    this.fixedCredentials = fixedCredentials;
  }

  /** Returns whether the store says that the credentials of this one request have expired. */
  static boolean expired(RuntimeException failure) {
    return failure instanceof AwsServiceException service && EXPIRED.contains(code(service));
  }

  /** Returns the store's own code of an error, or the empty text. */
  static String code(AwsServiceException failure) {
    String code = failure.awsErrorDetails() == null ? null : failure.awsErrorDetails().errorCode();
    return code == null ? "" : code;
  }

  /**
   * Translates an error of the SDK.
   *
   * @param failure what the SDK threw
   * @param operation what was asked
   * @param key the key or the prefix that was asked for
   */
  MillraceException translate(RuntimeException failure, S3Operation operation, String key) {
    if (failure instanceof MillraceException known) {
      return known;
    }
    if (failure instanceof AwsServiceException service) {
      return answered(service, operation, key);
    }
    return unanswered(failure, operation, key);
  }

  private MillraceException unanswered(
      RuntimeException failure, S3Operation operation, String key) {
    if (failure instanceof AbortedException) {
      return failure(
          ErrorCode.LAKE_UNAVAILABLE,
          operation,
          key,
          "it was interrupted",
          "It is tried again.",
          failure);
    }
    if (failure instanceof ApiCallTimeoutException
        || failure instanceof ApiCallAttemptTimeoutException) {
      return failure(
          ErrorCode.LAKE_UNAVAILABLE,
          operation,
          key,
          "no answer in time",
          "It is tried again; check the network and the store.",
          failure);
    }
    String message = String.valueOf(failure.getMessage());
    if (message.contains("Unable to load credentials")) {
      return failure(
          ErrorCode.LAKE_REFUSED,
          operation,
          key,
          "no credentials were found in the default chain of AWS",
          "Give the worker a role, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or set access_key_id and secret_access_key of the lake.",
          failure);
    }
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof UnknownHostException) {
        return failure(
            ErrorCode.LAKE_UNAVAILABLE,
            operation,
            key,
            "unknown host " + cause.getMessage(),
            "Check endpoint, region and path_style of the lake, and the name service.",
            failure);
      }
    }
    return failure(
        ErrorCode.LAKE_UNAVAILABLE,
        operation,
        key,
        message,
        "It is tried again; check the endpoint of the lake and the network.",
        failure);
  }

  private MillraceException answered(
      AwsServiceException failure, S3Operation operation, String key) {
    String code = code(failure);
    int status = failure.statusCode();
    if (EXPIRED.contains(code)) {
      return fixedCredentials
          ? failure(
              ErrorCode.CREDENTIALS_EXPIRED,
              operation,
              key,
              "credentials expired (" + code + ")",
              "Put a new session_token into the configuration, or leave the credentials to the default chain of AWS, which renews them.",
              failure)
          : failure(
              ErrorCode.LAKE_UNAVAILABLE,
              operation,
              key,
              "credentials expired (" + code + "), and their provider had no newer ones",
              "They are asked for again; check the provider.",
              failure);
    }
    if (PASSING.contains(code)
        || (status >= 500 && status != 501)
        || status == 429
        || status == 408) {
      return failure(
          ErrorCode.LAKE_UNAVAILABLE, operation, key, said(failure), "It is tried again.", failure);
    }
    if (code.equals("NoSuchUpload")) {
      return failure(
          ErrorCode.STAGED_OBJECT_LOST,
          operation,
          key,
          "the upload is gone, thrown away by somebody else or by a lifecycle rule",
          "The table is extracted again.",
          failure);
    }
    if (code.equals("NoSuchKey")) {
      return refused(
          failure, operation, key, "The object was removed; look who has the right to do that.");
    }
    if (code.equals("NoSuchBucket")) {
      return refused(
          failure,
          operation,
          key,
          "Make the bucket, or correct bucket, region and endpoint of the lake.");
    }
    if (status == 301 || status == 307 || WRONG_REGION.contains(code)) {
      return refused(
          failure,
          operation,
          key,
          "The bucket is not in region %s: correct the region of the lake."
              .formatted(settings.region()));
    }
    if (WRONG_KEYS.contains(code)) {
      return refused(
          failure, operation, key, "Correct access_key_id and secret_access_key of the lake.");
    }
    if (code.equals("RequestTimeTooSkewed")) {
      return refused(failure, operation, key, "Set this machine's clock.");
    }
    if (code.startsWith("KMS.")) {
      return refused(
          failure, operation, key, "Check kms_key of the lake: the key must exist and be enabled.");
    }
    if (status == 403 || status == 401) {
      return refused(failure, operation, key, missingRight(failure, operation));
    }
    return refused(
        failure,
        operation,
        key,
        "Check the lake's settings; a store that is not AWS may want checksums: when-required.");
  }

  private String missingRight(AwsServiceException failure, S3Operation operation) {
    Matcher named = KEY_RIGHT.matcher(String.valueOf(failure.getMessage()));
    if (named.find()) {
      return "Missing right: %s on the KMS key of the lake.".formatted(named.group());
    }
    if (settings.encryption() != Encryption.KMS) {
      return operation == S3Operation.CREATE_UPLOAD || operation == S3Operation.PUT_OBJECT
          ? "Missing right: %s; or the bucket's policy demands encryption: set encryption and kms_key of the lake."
              .formatted(operation.right())
          : "Missing right: %s.".formatted(operation.right());
    }
    return switch (operation) {
      case CREATE_UPLOAD, PUT_OBJECT ->
          "Missing right: %s, or %s on the KMS key of the lake; or the bucket's policy demands another key."
              .formatted(operation.right(), operation.keyRight());
      // The upload was created, so the right of S3 is there.
      case UPLOAD_PART, COMPLETE_UPLOAD ->
          "Missing right: %s on the KMS key of the lake.".formatted(operation.keyRight());
      case GET_OBJECT ->
          "Missing right: %s, or %s on the KMS key of the lake."
              .formatted(operation.right(), operation.keyRight());
      case ABORT_UPLOAD, LIST_PARTS, LIST_UPLOADS, HEAD_OBJECT, LIST_OBJECTS, DELETE_OBJECT ->
          "Missing right: %s.".formatted(operation.right());
    };
  }

  private MillraceException refused(
      AwsServiceException failure, S3Operation operation, String key, String wayOut) {
    return failure(ErrorCode.LAKE_REFUSED, operation, key, said(failure), wayOut, failure);
  }

  private static String said(AwsServiceException failure) {
    String code = code(failure);
    String text = failure.awsErrorDetails() == null ? "" : failure.awsErrorDetails().errorMessage();
    return "HTTP %d%s%s"
        .formatted(
            failure.statusCode(),
            code.isEmpty() ? "" : " " + code,
            text == null || text.isBlank() ? "" : ", " + withoutStop(text.strip()));
  }

  private static String withoutStop(String text) {
    return text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
  }

  private MillraceException failure(
      ErrorCode code,
      S3Operation operation,
      String key,
      String cause,
      String wayOut,
      RuntimeException failure) {
    return new MillraceException(
        code,
        String.format(
            Locale.ROOT,
            "Lake %s: %s of s3://%s/%s failed: %s. %s",
            settings.name(),
            operation.requestName(),
            settings.bucket(),
            key,
            cause,
            wayOut),
        failure,
        failure instanceof AwsServiceException service
            ? new ServerAnswer(ServerAnswer.Kind.S3, code(service), service.statusCode())
            : null);
  }
}
