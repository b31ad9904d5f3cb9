package dev.millrace.lake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;

/** The lake on a real S3 server that lets some requests fail on purpose. */
class S3LakeFaultsIT {
  private static final String KEY = LakeContract.KEY;
  private static final int PART = S3Upload.MEMORY_SIZE;

  @TempDir private static Path folder;
  private static S3TestStore store;

  private FaultProxy proxy;
  private String bucket;
  private Lake lake;

  @BeforeAll
  static void startServer() {
    store = new S3TestStore(folder);
  }

  @AfterAll
  static void stopServer() {
    store.close();
  }

  @BeforeEach
  void makeBucket() {
    proxy = new FaultProxy(store.endpoint(), Set.of());
    bucket = store.newBucket();
    lake = new S3Lake(S3TestStore.settings(bucket, proxy.endpoint()));
  }

  @AfterEach
  void closeAll() {
    lake.close();
    proxy.close();
  }

  /** Some of what AWS knows the server refuses: what is hidden there is judged by the rule. */
  private void hide(String... headers) {
    proxy.close();
    Set<String> hidden = new HashSet<>(List.of(headers));
    hidden.add("authorization");
    proxy = new FaultProxy(store.openEndpoint(), hidden);
  }

  private void hideEncryption() {
    hide("x-amz-server-side-encryption", "x-amz-server-side-encryption-aws-kms-key-id");
  }

  private void use(Encryption encryption, Checksums checksums, Credentials credentials) {
    lake.close();
    lake =
        new S3Lake(
            S3TestStore.settings(bucket, proxy.endpoint(), encryption, checksums, credentials));
  }

  private StagedObject staged(String attempt, int bytes) {
    try (StagedUpload upload = lake.stage(KEY, attempt)) {
      upload.write(ByteBuffer.wrap(LakeContract.bytes(bytes)));
      return upload.finish();
    }
  }

  private long count(Predicate<FaultProxy.Request> kind) {
    return proxy.requests().stream().filter(kind).count();
  }

  private static MillraceException failure(Throwable thrown) {
    assertThat(thrown).isInstanceOf(MillraceException.class);
    return (MillraceException) thrown;
  }

  // Parts

  @Test
  void aPartThatFailsThreeTimesEndsTheUploadAndLeavesNothing() {
    proxy.rule(
        request ->
            request.sendsPart(2) ? new FaultProxy.Fail(500, "InternalError") : FaultProxy.PASS);

    Throwable thrown =
        catchThrowable(
            () -> {
              try (StagedUpload upload = lake.stage(KEY, "a1")) {
                ByteBuffer part = ByteBuffer.wrap(LakeContract.bytes(PART));
                for (int i = 0; i < 20; i++) {
                  upload.write(part.rewind());
                }
                upload.finish();
              }
            });

    assertThat(failure(thrown).code()).isEqualTo(ErrorCode.LAKE_UNAVAILABLE);
    assertThat(thrown).hasMessageContaining("UploadPart").hasMessageContaining(KEY);
    assertThat(count(request -> request.sendsPart(2))).isEqualTo(3);
    // The first failure ends it: it does not send all 20 parts first.
    assertThat(count(request -> request.sendsPart(20))).isZero();
    assertThat(count(FaultProxy.Request::aborts)).isEqualTo(1);
    assertThat(count(FaultProxy.Request::completes)).isZero();
    assertThat(store.open(bucket)).isEmpty();
    assertThat(lake.exists(KEY)).isFalse();
  }

  @Test
  void aPartThatFailsTwiceArrives() {
    AtomicInteger failures = new AtomicInteger();
    proxy.rule(
        request ->
            request.sendsPart(2) && failures.incrementAndGet() <= 2
                ? new FaultProxy.Fail(503, "SlowDown")
                : FaultProxy.PASS);

    assertThat(lake.publish(staged("a1", 3 * PART))).isEqualTo(Publication.PUBLISHED);
    assertThat(store.read(bucket, KEY)).isEqualTo(LakeContract.bytes(3 * PART));
  }

  @Test
  void finishTellsTheFailureOfTheLastPart() {
    proxy.rule(
        request ->
            request.sendsPart(1) ? new FaultProxy.Fail(403, "AccessDenied") : FaultProxy.PASS);
    StagedUpload upload = lake.stage(KEY, "a1");
    upload.write(ByteBuffer.wrap(LakeContract.bytes(10)));

    assertThat(failure(catchThrowable(upload::finish)).code()).isEqualTo(ErrorCode.LAKE_REFUSED);
    assertThat(failure(catchThrowable(upload::finish)).code()).isEqualTo(ErrorCode.LAKE_REFUSED);
    upload.close();
    assertThat(store.open(bucket)).isEmpty();
  }

  @Test
  void closeWaitsForPartsOnTheirWaySoThatNoneArrivesAfterTheAbort() throws InterruptedException {
    CountDownLatch arrived = new CountDownLatch(1);
    CountDownLatch released = new CountDownLatch(1);
    proxy.rule(
        request -> {
          if (request.sendsPart(1)) {
            arrived.countDown();
            await(released);
          }
          return FaultProxy.PASS;
        });
    StagedUpload upload = lake.stage(KEY, "a1");
    upload.write(ByteBuffer.wrap(LakeContract.bytes(PART + 1)));
    await(arrived);
    Thread closing = new Thread(upload::close);
    closing.start();
    while (closing.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    assertThat(count(FaultProxy.Request::aborts)).isZero();
    released.countDown();
    closing.join();

    assertThat(count(FaultProxy.Request::aborts)).isEqualTo(1);
    assertThat(store.open(bucket)).isEmpty();
  }

  @Test
  void aPartThatArrivesAfterTheAbortOfAnotherWorkerLeavesNoOpenUpload() {
    StagedUpload frozen = lake.stage(KEY, "a1");
    frozen.write(ByteBuffer.wrap(LakeContract.bytes(PART)));
    try (Lake other = new S3Lake(S3TestStore.settings(bucket, store.endpoint()))) {
      other.discardLeftovers(KEY, Set.of());
    }
    assertThat(store.open(bucket)).isEmpty();

    // S3 refuses its next part; this server takes it, and refuses to complete.
    frozen.write(ByteBuffer.wrap(LakeContract.bytes(PART)));
    assertThat(lake.publish(frozen.finish())).isEqualTo(Publication.GONE);
    frozen.close();

    assertThat(lake.exists(KEY)).isFalse();
    assertThat(store.open(bucket)).isEmpty();
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aPartThatS3RefusesBecauseItsUploadIsGoneMeansThatTheObjectIsLost() {
    proxy.rule(
        request ->
            request.sendsPart() ? new FaultProxy.Fail(404, "NoSuchUpload") : FaultProxy.PASS);

    assertThat(failure(catchThrowable(() -> staged("a1", 10))).code())
        .isEqualTo(ErrorCode.STAGED_OBJECT_LOST);
    assertThat(store.open(bucket)).isEmpty();
  }

  @Test
  void atMostTwoPartsAreOnTheirWay() {
    AtomicInteger now = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CountDownLatch two = new CountDownLatch(2);
    proxy.rule(
        request -> {
          if (request.sendsPart()) {
            most.accumulateAndGet(now.incrementAndGet(), Math::max);
            two.countDown();
            await(two);
            now.decrementAndGet();
          }
          return FaultProxy.PASS;
        });

    staged("a1", 4 * PART);

    assertThat(most).hasValue(2);
  }

  @Test
  void aWriterThatIsInterruptedStopsAndLeavesNothing() {
    StagedUpload upload = lake.stage(KEY, "a1");
    Thread.currentThread().interrupt();

    assertThatThrownBy(() -> upload.write(ByteBuffer.wrap(LakeContract.bytes(5 * PART))))
        .isInstanceOf(MillraceException.class);
    upload.close();

    assertThat(Thread.interrupted()).isTrue();
    assertThat(store.open(bucket)).isEmpty();
  }

  // Publishing

  @Test
  void anAnswerThatIsLostAfterCompletingIsFoundByALook() {
    StagedObject object = staged("a1", 10);
    AtomicInteger completes = new AtomicInteger();
    proxy.rule(
        request ->
            request.completes() && completes.incrementAndGet() == 1
                ? new FaultProxy.Lose()
                : FaultProxy.PASS);

    assertThat(lake.publish(object)).isEqualTo(Publication.PUBLISHED);
    assertThat(store.read(bucket, KEY)).isEqualTo(LakeContract.bytes(10));
  }

  @ParameterizedTest
  @ValueSource(strings = {"InternalError", "SlowDown"})
  void anErrorInsideA200IsNoSuccess(String code) {
    StagedObject object = staged("a1", 10);
    proxy.rule(request -> request.completes() ? new FaultProxy.Fail(200, code) : FaultProxy.PASS);

    assertThat(failure(catchThrowable(() -> lake.publish(object))).code())
        .isEqualTo(ErrorCode.LAKE_UNAVAILABLE);
    assertThat(lake.exists(KEY)).isFalse();
    assertThat(store.open(bucket)).containsExactly(object.uploadId());

    proxy.rule(request -> FaultProxy.PASS);
    assertThat(lake.publish(object)).isEqualTo(Publication.PUBLISHED);
  }

  @Test
  void aConflictIsTriedAgainAndIsNoSuccess() {
    StagedObject object = staged("a1", 10);
    proxy.rule(
        request ->
            request.completes()
                ? new FaultProxy.Fail(409, "ConditionalRequestConflict")
                : FaultProxy.PASS);

    assertThat(failure(catchThrowable(() -> lake.publish(object))).code())
        .isEqualTo(ErrorCode.LAKE_UNAVAILABLE);
    assertThat(store.open(bucket)).containsExactly(object.uploadId());

    AtomicInteger conflicts = new AtomicInteger();
    proxy.rule(
        request ->
            request.completes() && conflicts.incrementAndGet() == 1
                ? new FaultProxy.Fail(409, "ConditionalRequestConflict")
                : FaultProxy.PASS);
    assertThat(lake.publish(object)).isEqualTo(Publication.PUBLISHED);
  }

  @Test
  void anObjectThatAppearsAfterTheLookIsNotReplaced() {
    StagedObject first = staged("a1", 10);
    StagedObject second = staged("a2", 20);
    AtomicInteger completes = new AtomicInteger();
    try (Lake other = new S3Lake(S3TestStore.settings(bucket, store.endpoint()))) {
      proxy.rule(
          request -> {
            if (request.completes() && completes.incrementAndGet() == 1) {
              assertThat(request.headers()).containsEntry("if-none-match", "*");
              other.publish(first);
            }
            return FaultProxy.PASS;
          });

      assertThat(lake.publish(second)).isEqualTo(Publication.TAKEN);
    }
    assertThat(store.read(bucket, KEY)).isEqualTo(LakeContract.bytes(10));
    assertThat(lake.discard(second)).isFalse();
    assertThat(store.open(bucket)).isEmpty();
  }

  @Test
  void anAttemptThatWakesAfterAnotherPublishedItsObjectFindsItPublished() {
    StagedObject object = staged("a1", 10);
    AtomicInteger completes = new AtomicInteger();
    try (Lake other = new S3Lake(S3TestStore.settings(bucket, store.endpoint()))) {
      proxy.rule(
          request -> {
            if (request.completes() && completes.incrementAndGet() == 1) {
              other.publish(object);
            }
            return FaultProxy.PASS;
          });

      assertThat(lake.publish(object)).isEqualTo(Publication.PUBLISHED);
    }
  }

  @Test
  void anUploadThatIsThrownAwayAfterTheLookIsGone() {
    StagedObject object = staged("a1", 10);
    AtomicInteger completes = new AtomicInteger();
    try (Lake other = new S3Lake(S3TestStore.settings(bucket, store.endpoint()))) {
      proxy.rule(
          request -> {
            if (request.completes() && completes.incrementAndGet() == 1) {
              other.discard(object);
            }
            return FaultProxy.PASS;
          });

      assertThat(lake.publish(object)).isEqualTo(Publication.GONE);
    }
    assertThat(store.listing(bucket)).isEmpty();
  }

  @Test
  void aStoreWithoutConditionsIsPublishedToAfterALook() {
    proxy.rule(
        request ->
            request.completes() && request.headers().containsKey("if-none-match")
                ? new FaultProxy.Fail(501, "NotImplemented")
                : FaultProxy.PASS);

    StagedObject first = staged("a1", 10);
    StagedObject second = staged("a2", 20);
    assertThat(lake.publish(first)).isEqualTo(Publication.PUBLISHED);
    assertThat(lake.publish(second)).isEqualTo(Publication.TAKEN);
    assertThat(store.read(bucket, KEY)).isEqualTo(LakeContract.bytes(10));
  }

  @Test
  void aPartThatTheStoreLostIsNoObject() {
    StagedObject object = staged("a1", 10);
    StagedObject larger =
        new StagedObject(object.key(), object.uploadId(), object.attempt(), object.bytes() + 1);

    assertThat(lake.publish(larger)).isEqualTo(Publication.GONE);
    assertThat(store.listing(bucket)).isEmpty();
    assertThat(store.open(bucket)).isEmpty();
  }

  @Test
  void aRetriedActivityWritesOneVersion() {
    StagedObject object = staged("a1", 10);
    List<Object> versions = new CopyOnWriteArrayList<>();
    proxy.rule(
        request -> {
          if (!request.completes()) {
            return FaultProxy.PASS;
          }
          versions.addAll(version());
          return new FaultProxy.Lose();
        });
    // The activity's first try ends without an answer; the SDK's own retries are in it.
    Throwable first = catchThrowable(() -> lake.publish(object));
    proxy.rule(request -> FaultProxy.PASS);

    assertThat(lake.publish(object)).isEqualTo(Publication.PUBLISHED);
    assertThat(lake.publish(object)).isEqualTo(Publication.PUBLISHED);

    assertThat(first).isInstanceOf(MillraceException.class);
    assertThat(count(FaultProxy.Request::completes)).isGreaterThan(1);
    versions.addAll(version());
    assertThat(new HashSet<>(versions)).hasSize(1);
    assertThat(store.listing(bucket)).containsExactly(KEY);
  }

  /**
   * A versioned bucket, which this server lacks, has one version for each time a key is written.
   */
  private List<Object> version() {
    Path file = folder.resolve(bucket).resolve(KEY);
    try {
      return Files.exists(file) ? List.of(Files.getAttribute(file, "unix:ino")) : List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  // Checksums

  @ParameterizedTest
  @ValueSource(ints = {6_000_000, 60_000_000})
  void aStoreThatRefusesChecksumTrailersTakesSmallAndLargeObjects(int bytes) {
    proxy.rule(
        request ->
            request.headers().containsKey("x-amz-trailer")
                    || request
                        .headers()
                        .getOrDefault("x-amz-content-sha256", "")
                        .contains("TRAILER")
                    || request.headers().containsKey("x-amz-sdk-checksum-algorithm")
                ? new FaultProxy.Fail(400, "InvalidArgument")
                : FaultProxy.PASS);
    Throwable refused = catchThrowable(() -> staged("a0", bytes));
    assertThat(failure(refused).code()).isEqualTo(ErrorCode.LAKE_REFUSED);
    assertThat(refused).hasMessageContaining("when-required");

    use(Encryption.NONE, Checksums.WHEN_REQUIRED, S3TestStore.KEYS);

    assertThat(lake.publish(staged("a1", bytes))).isEqualTo(Publication.PUBLISHED);
    assertThat(store.read(bucket, KEY)).isEqualTo(LakeContract.bytes(bytes));
    assertThat(store.open(bucket)).isEmpty();
  }

  @Test
  void checksumsAreSentByDefaultAndNotWhenRequiredOnly() {
    lake.publish(staged("a1", 10));
    assertThat(proxy.requests())
        .filteredOn(FaultProxy.Request::creates)
        .singleElement()
        .satisfies(
            request ->
                assertThat(request.headers()).containsEntry("x-amz-checksum-algorithm", "CRC32"));
    assertThat(proxy.requests())
        .filteredOn(FaultProxy.Request::sendsPart)
        .singleElement()
        .satisfies(
            request ->
                assertThat(request.headers())
                    .containsEntry("x-amz-trailer", "x-amz-checksum-crc32"));
    int before = proxy.requests().size();

    use(Encryption.NONE, Checksums.WHEN_REQUIRED, S3TestStore.KEYS);
    store.client().deleteObject(request -> request.bucket(bucket).key(KEY));
    lake.publish(staged("a2", 10));

    assertThat(proxy.requests().subList(before, proxy.requests().size()))
        .anyMatch(FaultProxy.Request::sendsPart)
        .anyMatch(FaultProxy.Request::completes)
        .allSatisfy(
            request ->
                assertThat(request.headers().keySet())
                    .noneMatch(
                        name ->
                            name.contains("checksum")
                                || name.contains("trailer")
                                || name.equals("content-md5")));
  }

  // Credentials

  @Test
  void aTokenThatEndsDuringALongUploadIsAskedForAgain() {
    hide("x-amz-security-token");
    AtomicInteger asked = new AtomicInteger();
    AtomicInteger valid = new AtomicInteger(1);
    lake.close();
    lake =
        new S3Lake(
            S3TestStore.settings(bucket, proxy.endpoint()),
            () -> {
              asked.incrementAndGet();
              return AwsSessionCredentials.create(
                  S3TestStore.KEYS.accessKeyId(),
                  S3TestStore.KEYS.secretAccessKey(),
                  "token-" + valid.get());
            });
    // The tokens of two parts end while these are on their way.
    proxy.rule(
        request -> {
          String token = request.headers().get("x-amz-security-token");
          if (request.sendsPart(2) && token.equals("token-1")) {
            valid.set(2);
          }
          if (request.sendsPart(4) && token.equals("token-2")) {
            valid.set(3);
          }
          return token.equals("token-" + valid.get())
              ? FaultProxy.PASS
              : new FaultProxy.Fail(400, "ExpiredToken");
        });

    assertThat(lake.publish(staged("a1", 5 * PART))).isEqualTo(Publication.PUBLISHED);
    assertThat(valid).hasValue(3);
    assertThat(asked.get()).isGreaterThanOrEqualTo(10);
    assertThat(store.read(bucket, KEY)).isEqualTo(LakeContract.bytes(5 * PART));
  }

  @Test
  void aProviderWithoutNewerTokensIsAPassingFailure() {
    lake.close();
    lake =
        new S3Lake(
            S3TestStore.settings(bucket, proxy.endpoint()),
            () -> AwsSessionCredentials.create("test-access", "test-secret-key", "old"));
    proxy.rule(request -> new FaultProxy.Fail(400, "ExpiredToken"));

    assertThat(failure(catchThrowable(() -> lake.stage(KEY, "a1"))).code())
        .isEqualTo(ErrorCode.LAKE_UNAVAILABLE);
    assertThat(proxy.requests()).hasSize(3);
  }

  @Test
  void aFixedTokenThatEndsFailsForGood() {
    hide("x-amz-security-token");
    use(
        Encryption.NONE,
        Checksums.DEFAULT,
        new Credentials("test-access", "test-secret-key", "fixed-token"));
    StagedUpload upload = lake.stage(KEY, "a1");
    proxy.rule(
        request ->
            request.sendsPart() ? new FaultProxy.Fail(400, "ExpiredToken") : FaultProxy.PASS);
    upload.write(ByteBuffer.wrap(LakeContract.bytes(10)));

    MillraceException thrown = failure(catchThrowable(upload::finish));
    upload.close();

    assertThat(thrown.code()).isEqualTo(ErrorCode.CREDENTIALS_EXPIRED);
    assertThat(thrown.code().retryable()).isFalse();
    assertThat(thrown).hasMessageContaining("credentials expired");
    assertThat(count(FaultProxy.Request::sendsPart)).isEqualTo(1);
  }

  @Test
  void aFixedTokenThatEndsBeforePublishingFailsForGood() {
    StagedObject object = staged("a1", 10);
    proxy.rule(request -> new FaultProxy.Fail(400, "ExpiredToken"));
    use(
        Encryption.NONE,
        Checksums.DEFAULT,
        new Credentials("test-access", "test-secret-key", "fixed-token"));

    assertThat(failure(catchThrowable(() -> lake.publish(object))).code())
        .isEqualTo(ErrorCode.CREDENTIALS_EXPIRED);
  }

  // Rights

  /** What a bucket says whose policy demands KMS, to a user who may not decrypt. */
  private static FaultProxy.Verdict kmsPolicy(FaultProxy.Request request, boolean mayDecrypt) {
    boolean encrypted =
        "aws:kms".equals(request.headers().get("x-amz-server-side-encryption"))
            && "key-1".equals(request.headers().get("x-amz-server-side-encryption-aws-kms-key-id"));
    if (request.creates() && !encrypted) {
      return new FaultProxy.Fail(403, "AccessDenied");
    }
    return request.sendsPart() && !mayDecrypt
        ? new FaultProxy.Fail(403, "AccessDenied")
        : FaultProxy.PASS;
  }

  @Test
  void aProbeWithoutTheEncryptionThatThePolicyDemandsSaysSo() {
    proxy.rule(request -> kmsPolicy(request, true));

    MillraceException thrown = failure(catchThrowable(lake::probe));

    assertThat(thrown.code()).isEqualTo(ErrorCode.LAKE_REFUSED);
    assertThat(thrown)
        .hasMessageContaining("CreateMultipartUpload")
        .hasMessageContaining("s3:PutObject")
        .hasMessageContaining("set encryption and kms_key");
  }

  @Test
  void aProbeWithoutTheRightToDecryptNamesIt() {
    hideEncryption();
    use(Encryption.KMS, Checksums.DEFAULT, S3TestStore.KEYS);
    proxy.rule(request -> kmsPolicy(request, false));

    MillraceException thrown = failure(catchThrowable(lake::probe));

    assertThat(thrown.code()).isEqualTo(ErrorCode.LAKE_REFUSED);
    assertThat(thrown).hasMessageContaining("UploadPart").hasMessageContaining("kms:Decrypt");
    assertThat(store.open(bucket)).isEmpty();
    assertThat(store.listing(bucket)).isEmpty();
  }

  @Test
  void aProbeWithAllRightsUploadsTwoPartsAndLeavesNothing() {
    hideEncryption();
    use(Encryption.KMS, Checksums.DEFAULT, S3TestStore.KEYS);
    proxy.rule(request -> kmsPolicy(request, true));

    lake.probe();

    assertThat(count(request -> request.sendsPart(1))).isEqualTo(1);
    assertThat(count(request -> request.sendsPart(2))).isEqualTo(1);
    assertThat(store.open(bucket)).isEmpty();
    assertThat(store.listing(bucket)).isEmpty();
  }

  @Test
  void aProbeWithoutTheRightToListUploadsNamesIt() {
    proxy.rule(
        request ->
            request.listsUploads() ? new FaultProxy.Fail(403, "AccessDenied") : FaultProxy.PASS);

    assertThatThrownBy(lake::probe).hasMessageContaining("s3:ListBucketMultipartUploads");
  }

  @ParameterizedTest
  @EnumSource(Encryption.class)
  void theCreationAsksForTheEncryption(Encryption encryption) {
    hideEncryption();
    use(encryption, Checksums.DEFAULT, S3TestStore.KEYS);
    lake.stage(KEY, "a1").close();

    Map<String, String> headers =
        proxy.requests().stream()
            .filter(FaultProxy.Request::creates)
            .findFirst()
            .orElseThrow()
            .headers();
    switch (encryption) {
      case NONE -> assertThat(headers).doesNotContainKey("x-amz-server-side-encryption");
      case AES256 -> assertThat(headers).containsEntry("x-amz-server-side-encryption", "AES256");
      case KMS ->
          assertThat(headers)
              .containsEntry("x-amz-server-side-encryption", "aws:kms")
              .containsEntry("x-amz-server-side-encryption-aws-kms-key-id", "key-1");
    }
  }

  // Real refusals of the server

  @Test
  void aWrongSecretIsRefused() {
    use(Encryption.NONE, Checksums.DEFAULT, new Credentials("test-access", "wrong-secret", null));

    MillraceException thrown = failure(catchThrowable(() -> lake.stage(KEY, "a1")));
    assertThat(thrown.code()).isEqualTo(ErrorCode.LAKE_REFUSED);
    assertThat(thrown).hasMessageContaining("secret_access_key");
    assertThat(thrown.getMessage()).doesNotContain("wrong-secret");
  }

  @Test
  void aMissingBucketIsNamed() {
    try (Lake missing = new S3Lake(S3TestStore.settings("no-such-bucket", store.endpoint()))) {
      for (Throwable thrown :
          new Throwable[] {
            catchThrowable(() -> missing.stage(KEY, "a1")), catchThrowable(missing::probe)
          }) {
        assertThat(failure(thrown).code()).isEqualTo(ErrorCode.LAKE_REFUSED);
        assertThat(thrown).hasMessageContaining("no-such-bucket");
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"http://127.0.0.1:1, 127.0.0.1", "http://no-such-host.invalid:9000, unknown host"})
  void aStoreThatIsNotThereIsAPassingFailure(URI endpoint, String told) {
    try (Lake missing = new S3Lake(S3TestStore.settings(bucket, endpoint))) {
      Throwable thrown = catchThrowable(() -> missing.stage(KEY, "a1"));
      assertThat(failure(thrown).code()).isEqualTo(ErrorCode.LAKE_UNAVAILABLE);
      assertThat(thrown).hasMessageContaining(told);
    }
  }
}
