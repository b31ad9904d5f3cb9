package dev.millrace.lake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.net.UnknownHostException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.exception.AbortedException;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.s3.model.S3Exception;

class S3FailuresTest {
  private static final String KEY = "raw/public/orders/20260920_181500.parquet";

  private static S3Failures failures(Encryption encryption, boolean fixedCredentials) {
    return new S3Failures(
        new S3LakeSettings(
            "lake",
            "my-bucket",
            "raw/",
            "eu-west-1",
            null,
            false,
            encryption,
            null,
            Checksums.DEFAULT,
            null),
        fixedCredentials);
  }

  private static RuntimeException answer(int status, String code, String message) {
    return S3Exception.builder()
        .statusCode(status)
        .message(message)
        .awsErrorDetails(AwsErrorDetails.builder().errorCode(code).errorMessage(message).build())
        .build();
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "500, InternalError,                LAKE_UNAVAILABLE,    tried again",
        "503, SlowDown,                     LAKE_UNAVAILABLE,    tried again",
        "503, ServiceUnavailable,           LAKE_UNAVAILABLE,    tried again",
        "502, -,                            LAKE_UNAVAILABLE,    tried again",
        "429, TooManyRequests,              LAKE_UNAVAILABLE,    tried again",
        "400, RequestTimeout,               LAKE_UNAVAILABLE,    tried again",
        "400, BadDigest,                    LAKE_UNAVAILABLE,    tried again",
        "409, OperationAborted,             LAKE_UNAVAILABLE,    tried again",
        "200, InternalError,                LAKE_UNAVAILABLE,    tried again",
        "403, AccessDenied,                 LAKE_REFUSED,        s3:PutObject",
        "401, -,                            LAKE_REFUSED,        s3:PutObject",
        "403, InvalidAccessKeyId,           LAKE_REFUSED,        access_key_id",
        "403, SignatureDoesNotMatch,        LAKE_REFUSED,        secret_access_key",
        "403, RequestTimeTooSkewed,         LAKE_REFUSED,        clock",
        "404, NoSuchBucket,                 LAKE_REFUSED,        Make the bucket",
        "301, PermanentRedirect,            LAKE_REFUSED,        not in region eu-west-1",
        "301, -,                            LAKE_REFUSED,        not in region eu-west-1",
        "400, AuthorizationHeaderMalformed, LAKE_REFUSED,        not in region eu-west-1",
        "400, KMS.DisabledException,        LAKE_REFUSED,        kms_key",
        "400, KMS.NotFoundException,        LAKE_REFUSED,        kms_key",
        "400, InvalidArgument,              LAKE_REFUSED,        when-required",
        "501, NotImplemented,               LAKE_REFUSED,        when-required",
        "404, NoSuchUpload,                 STAGED_OBJECT_LOST,  extracted again",
        "400, ExpiredToken,                 CREDENTIALS_EXPIRED, session_token",
        "403, ExpiredTokenException,        CREDENTIALS_EXPIRED, session_token",
        "400, InvalidToken,                 CREDENTIALS_EXPIRED, session_token"
      })
  void anAnswerOfTheStoreHasACodeAndAWayOut(
      int status, String code, ErrorCode expected, String wayOut) {
    MillraceException failure =
        failures(Encryption.NONE, true)
            .translate(answer(status, code, "because"), S3Operation.UPLOAD_PART, KEY);

    assertThat(failure.code()).isEqualTo(expected);
    assertThat(failure)
        .hasMessageContaining("Lake lake: UploadPart of s3://my-bucket/" + KEY)
        .hasMessageContaining(wayOut);
    if (code != null) {
      assertThat(failure)
          .hasMessageContaining(expected == ErrorCode.STAGED_OBJECT_LOST ? "is gone" : code);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "CREATE_UPLOAD,   KMS,    -,                                    kms:GenerateDataKey",
    "CREATE_UPLOAD,   KMS,    not authorized to perform: kms:Foo,   kms:Foo",
    "CREATE_UPLOAD,   NONE,   -,                                    set encryption",
    "UPLOAD_PART,     KMS,    -,                                    kms:Decrypt",
    "COMPLETE_UPLOAD, KMS,    -,                                    kms:Decrypt",
    "COMPLETE_UPLOAD, AES256, -,                                    s3:PutObject",
    "ABORT_UPLOAD,    KMS,    -,                                    s3:AbortMultipartUpload",
    "LIST_PARTS,      NONE,   -,                                    s3:ListMultipartUploadParts",
    "LIST_UPLOADS,    NONE,   -,                                    s3:ListBucketMultipartUploads",
    "HEAD_OBJECT,     NONE,   -,                                    s3:ListBucket",
    "PUT_OBJECT,      NONE,   -,                                    s3:PutObject",
    "PUT_OBJECT,      KMS,    -,                                    kms:GenerateDataKey",
    "GET_OBJECT,      KMS,    -,                                    kms:Decrypt",
    "GET_OBJECT,      NONE,   -,                                    s3:GetObject",
    "LIST_OBJECTS,    NONE,   -,                                    s3:ListBucket",
    "DELETE_OBJECT,   KMS,    -,                                    s3:DeleteObject"
  })
  void aRefusalNamesTheRightThatIsMissing(
      S3Operation operation, Encryption encryption, String message, String right) {
    MillraceException failure =
        failures(encryption, true).translate(answer(403, "AccessDenied", message), operation, KEY);

    assertThat(failure.code()).isEqualTo(ErrorCode.LAKE_REFUSED);
    assertThat(failure).hasMessageContaining(operation.requestName()).hasMessageContaining(right);
  }

  static Stream<Arguments> silence() {
    return Stream.of(
        Arguments.of(
            ApiCallTimeoutException.create(1), ErrorCode.LAKE_UNAVAILABLE, "no answer in time"),
        Arguments.of(
            ApiCallAttemptTimeoutException.create(1),
            ErrorCode.LAKE_UNAVAILABLE,
            "no answer in time"),
        Arguments.of(
            AbortedException.create("interrupted"), ErrorCode.LAKE_UNAVAILABLE, "interrupted"),
        Arguments.of(
            SdkClientException.create("reset", new IOException("Connection reset")),
            ErrorCode.LAKE_UNAVAILABLE,
            "check the endpoint"),
        Arguments.of(
            SdkClientException.create("x", new UnknownHostException("s3.invalid")),
            ErrorCode.LAKE_UNAVAILABLE,
            "unknown host s3.invalid"),
        Arguments.of(
            SdkClientException.create(
                "Unable to load credentials from any of the providers in the chain"),
            ErrorCode.LAKE_REFUSED,
            "access_key_id"));
  }

  @ParameterizedTest
  @MethodSource("silence")
  void aFailureWithoutAnAnswerHasACodeAndAWayOut(
      RuntimeException thrown, ErrorCode expected, String told) {
    MillraceException failure =
        failures(Encryption.NONE, true).translate(thrown, S3Operation.CREATE_UPLOAD, KEY);

    assertThat(failure.code()).isEqualTo(expected);
    assertThat(failure).hasMessageContaining(told).hasMessageContaining("s3://my-bucket/" + KEY);
    assertThat(failure.getCause()).isSameAs(thrown);
  }

  @Test
  void anExpiredTokenOfAProviderMayBeRenewed() {
    MillraceException failure =
        failures(Encryption.NONE, false)
            .translate(answer(400, "ExpiredToken", "old"), S3Operation.UPLOAD_PART, KEY);

    assertThat(failure.code()).isEqualTo(ErrorCode.LAKE_UNAVAILABLE);
  }

  @Test
  void aFailureOfOursStaysAsItIs() {
    MillraceException known = new MillraceException(ErrorCode.INTERNAL, "known");

    assertThat(failures(Encryption.NONE, true).translate(known, S3Operation.LIST_PARTS, KEY))
        .isSameAs(known);
  }

  @Test
  void credentialsShowNoSecretAsText() {
    assertThat(new Credentials("id", "the-secret", "the-token").toString())
        .contains("id")
        .doesNotContain("the-secret", "the-token");
  }
}
