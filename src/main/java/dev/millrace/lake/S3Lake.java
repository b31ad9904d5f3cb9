package dev.millrace.lake;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.InputStream;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.Part;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.ServerSideEncryption;

/**
 * A lake in a bucket of S3, or of a store that speaks its language.
 *
 * <p>A staged object is a multipart upload that is not completed. Where the store has no {@code
 * If-None-Match} for completing, a look just before it takes its place; between the two an object
 * of somebody else could be replaced. Thread-safe.
 */
public final class S3Lake implements Lake {
  /** Names the attempt in the metadata of an object. */
  static final String ATTEMPT = "millrace-attempt";

  private static final Logger LOGGER = LoggerFactory.getLogger(S3Lake.class);
  private static final String CONTENT_TYPE = "application/vnd.apache.parquet";
  private static final String SMALL_CONTENT_TYPE = "application/json";
  private static final int ATTEMPTS = 3;
  private static final int LOOKS = 4;
  private static final int LEAST_PART = 5 << 20;
  private static final Duration ATTEMPT_TIMEOUT = Duration.ofMinutes(1);
  private static final Duration CALL_TIMEOUT = Duration.ofMinutes(3);
  // S3 may work for minutes on many parts, and sends blanks meanwhile.
  private static final Duration COMPLETE_TIMEOUT = Duration.ofMinutes(10);
  private static final Duration LONGEST_READ = Duration.ofDays(1);
  private static final long SLOWEST_BYTES_PER_SECOND = 128 << 10;

  private final S3LakeSettings settings;
  private final boolean fixedCredentials;
  private final S3Failures failures;
  private final S3Client client;
  private final ExecutorService senders;
  private volatile boolean conditional = true;

  /**
   * Makes a lake; nothing is asked of the store yet.
   *
   * @param settings where the bucket is, and how to write there
   */
  public S3Lake(S3LakeSettings settings) {
    this(settings, provider(settings.credentials()), settings.credentials() != null);
  }

  /** Makes a lake whose credentials come from a provider that may renew them. */
  S3Lake(S3LakeSettings settings, AwsCredentialsProvider credentials) {
    this(settings, credentials, false);
  }

  private S3Lake(
      S3LakeSettings settings, AwsCredentialsProvider credentials, boolean fixedCredentials) {
    this.settings = settings;
    this.fixedCredentials = fixedCredentials;
    this.failures = new S3Failures(settings, fixedCredentials);
    this.client = client(settings, credentials);
    AtomicInteger threads = new AtomicInteger();
    // Each upload bounds its own share of these threads.
    this.senders =
        Executors.newCachedThreadPool(
            work -> {
              Thread thread =
                  new Thread(work, "lake-" + settings.name() + "-" + threads.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
  }

  private static AwsCredentialsProvider provider(Credentials credentials) {
    if (credentials == null) {
      return DefaultCredentialsProvider.builder().build();
    }
    return StaticCredentialsProvider.create(
        credentials.sessionToken() == null
            ? AwsBasicCredentials.create(credentials.accessKeyId(), credentials.secretAccessKey())
            : AwsSessionCredentials.create(
                credentials.accessKeyId(),
                credentials.secretAccessKey(),
                credentials.sessionToken()));
  }

  private static S3Client client(S3LakeSettings settings, AwsCredentialsProvider credentials) {
    boolean always = settings.checksums() == Checksums.DEFAULT;
    S3ClientBuilder builder =
        S3Client.builder()
            .region(Region.of(settings.region()))
            .credentialsProvider(credentials)
            .forcePathStyle(settings.pathStyle())
            // Stores that refuse checksum trailers often refuse the chunked form of bodies, too.
            .serviceConfiguration(S3Configuration.builder().chunkedEncodingEnabled(always).build())
            .requestChecksumCalculation(
                always
                    ? RequestChecksumCalculation.WHEN_SUPPORTED
                    : RequestChecksumCalculation.WHEN_REQUIRED)
            .responseChecksumValidation(
                always
                    ? ResponseChecksumValidation.WHEN_SUPPORTED
                    : ResponseChecksumValidation.WHEN_REQUIRED)
            .httpClientBuilder(
                Apache5HttpClient.builder()
                    .maxConnections(100)
                    .connectionTimeout(Duration.ofSeconds(10))
                    .socketTimeout(ATTEMPT_TIMEOUT)
                    .connectionAcquisitionTimeout(ATTEMPT_TIMEOUT)
                    .tcpKeepAlive(true))
            .overrideConfiguration(
                configuration ->
                    configuration
                        .retryStrategy(
                            AwsRetryStrategy.standardRetryStrategy().toBuilder()
                                .maxAttempts(ATTEMPTS)
                                .build())
                        .apiCallAttemptTimeout(ATTEMPT_TIMEOUT)
                        .apiCallTimeout(CALL_TIMEOUT));
    if (settings.endpoint() != null) {
      builder.endpointOverride(settings.endpoint());
    }
    return builder.build();
  }

  /** Returns the lake's name in the configuration. */
  String name() {
    return settings.name();
  }

  @Override
  public String location() {
    URI endpoint = settings.endpoint();
    if (endpoint == null) {
      return "s3://" + settings.bucket();
    }
    String port = endpoint.getPort() < 0 ? "" : ":" + endpoint.getPort();
    // Not bucket@host, which looks like user info, so that messages would hide it.
    return "s3://" + endpoint.getHost() + port + "/" + settings.bucket();
  }

  @Override
  public String prefix() {
    return settings.prefix();
  }

  @Override
  public String address(String key) {
    return "s3://" + settings.bucket() + "/" + key;
  }

  @Override
  public StagedUpload stage(String key, String attempt) {
    return new S3Upload(this, key, attempt, create(key, attempt));
  }

  private String create(String key, String attempt) {
    CreateMultipartUploadRequest.Builder request =
        CreateMultipartUploadRequest.builder()
            .bucket(settings.bucket())
            .key(key)
            .contentType(CONTENT_TYPE)
            .metadata(Map.of(ATTEMPT, attempt));
    checksumAlgorithm().ifPresent(request::checksumAlgorithm);
    encryption().ifPresent(request::serverSideEncryption);
    keyOfEncryption().ifPresent(request::ssekmsKeyId);
    return call(
        S3Operation.CREATE_UPLOAD,
        key,
        () -> client.createMultipartUpload(request.build()).uploadId());
  }

  private Optional<ServerSideEncryption> encryption() {
    return switch (settings.encryption()) {
      case NONE -> Optional.empty();
      case AES256 -> Optional.of(ServerSideEncryption.AES256);
      case KMS -> Optional.of(ServerSideEncryption.AWS_KMS);
    };
  }

  private Optional<String> keyOfEncryption() {
    return settings.encryption() == Encryption.KMS
        ? Optional.ofNullable(settings.kmsKey())
        : Optional.empty();
  }

  /**
   * Named at creation, too: S3 takes parts only with the algorithm that the upload was made with.
   */
  private Optional<ChecksumAlgorithm> checksumAlgorithm() {
    return switch (settings.checksums()) {
      case DEFAULT -> Optional.of(ChecksumAlgorithm.CRC32);
      case WHEN_REQUIRED -> Optional.empty();
    };
  }

  /** Runs the work of an upload on one of the lake's threads. */
  void execute(Runnable work) {
    senders.execute(work);
  }

  /** Sends one part, and returns when the store has it. */
  void sendPart(String key, String uploadId, int number, PartBuffer part) {
    Duration attemptTimeout = ATTEMPT_TIMEOUT.plusSeconds(part.size() / SLOWEST_BYTES_PER_SECOND);
    call(
        S3Operation.UPLOAD_PART,
        key,
        () ->
            client.uploadPart(
                request ->
                    request
                        .bucket(settings.bucket())
                        .key(key)
                        .uploadId(uploadId)
                        .partNumber(number)
                        .checksumAlgorithm(checksumAlgorithm().orElse(null))
                        .overrideConfiguration(timeouts(attemptTimeout)),
                RequestBody.fromContentProvider(part::open, part.size(), CONTENT_TYPE)));
  }

  private static AwsRequestOverrideConfiguration timeouts(Duration attempt) {
    return AwsRequestOverrideConfiguration.builder()
        .apiCallAttemptTimeout(attempt)
        .apiCallTimeout(attempt.multipliedBy(ATTEMPTS))
        .build();
  }

  @Override
  public Publication publish(StagedObject object) {
    for (int look = 1; look <= LOOKS; look++) {
      Optional<Publication> seen = seen(object);
      if (seen.isPresent()) {
        return seen.get();
      }
      Optional<List<Part>> parts = parts(object.key(), object.uploadId());
      if (parts.isEmpty()) {
        // It may have been completed between the two looks.
        return seen(object).orElse(Publication.GONE);
      }
      if (!whole(parts.get(), object.bytes())) {
        // Gone where a store lists no parts for that. Else nobody has seen it, and it can be
        // written again: the safe way out.
        LOGGER.warn(
            "{} lacks parts of its {} bytes; it is thrown away.",
            address(object.key()),
            object.bytes());
        abort(object.key(), object.uploadId());
        return seen(object).orElse(Publication.GONE);
      }
      switch (complete(object, parts.get())) {
        case NO_UPLOAD -> {
          return seen(object).orElse(Publication.GONE);
        }
        case LOOK -> {}
        case WAIT -> pause(look);
      }
    }
    return seen(object)
        .orElseThrow(
            () ->
                new MillraceException(
                    ErrorCode.LAKE_UNAVAILABLE,
                    "Lake %s: %s is not there after %d tries to complete its upload. It is tried again."
                        .formatted(name(), address(object.key()), LOOKS)));
  }

  /** Looks whether an object has the key, and whether it is ours. */
  private Optional<Publication> seen(StagedObject object) {
    Optional<HeadObjectResponse> head = head(object.key());
    if (head.isEmpty()) {
      return Optional.empty();
    }
    if (!object.attempt().equals(head.get().metadata().get(ATTEMPT))) {
      return Optional.of(Publication.TAKEN);
    }
    if (head.get().contentLength() != object.bytes()) {
      throw new MillraceException(
          ErrorCode.INTERNAL,
          "Lake %s: %s has %d bytes instead of %d. Remove it, then run again."
              .formatted(
                  name(), address(object.key()), head.get().contentLength(), object.bytes()));
    }
    return Optional.of(Publication.PUBLISHED);
  }

  private Optional<HeadObjectResponse> head(String key) {
    return call(
        S3Operation.HEAD_OBJECT,
        key,
        () -> {
          try {
            return Optional.of(
                client.headObject(request -> request.bucket(settings.bucket()).key(key)));
          } catch (AwsServiceException e) {
            if (e.statusCode() == 404) {
              return Optional.empty();
            }
            if (e.statusCode() == 400) {
              // An answer to HEAD has no body, so no code: ask in a way that tells the reason.
              client.listObjectsV2(
                  request -> request.bucket(settings.bucket()).prefix(key).maxKeys(1));
            }
            throw e;
          }
        });
  }

  /** Returns the parts that the store has, in order, or nothing where there is no such upload. */
  private Optional<List<Part>> parts(String key, String uploadId) {
    return call(
        S3Operation.LIST_PARTS,
        key,
        () -> {
          try {
            List<Part> parts = new ArrayList<>();
            client
                .listPartsPaginator(
                    request -> request.bucket(settings.bucket()).key(key).uploadId(uploadId))
                .stream()
                .forEach(page -> parts.addAll(page.parts()));
            return Optional.of(parts);
          } catch (AwsServiceException e) {
            if (gone(e)) {
              return Optional.empty();
            }
            throw e;
          }
        });
  }

  private static boolean gone(AwsServiceException e) {
    return S3Failures.code(e).equals("NoSuchUpload");
  }

  private static boolean whole(List<Part> parts, long bytes) {
    long sum = 0;
    for (int i = 0; i < parts.size(); i++) {
      if (parts.get(i).partNumber() != i + 1) {
        return false;
      }
      sum += parts.get(i).size();
    }
    return sum == bytes;
  }

  /** What the store says to the wish to complete an upload; only a look tells what came of it. */
  private enum Completion {
    /** It has done it, or an object was there. */
    LOOK,
    /** Not now. */
    WAIT,
    /** Some stores list parts that came after an abort, and only here tell the truth. */
    NO_UPLOAD
  }

  private Completion complete(StagedObject object, List<Part> parts) {
    List<CompletedPart> completed = parts.stream().map(S3Lake::completed).toList();
    return call(
        S3Operation.COMPLETE_UPLOAD,
        object.key(),
        () -> {
          try {
            client.completeMultipartUpload(
                request ->
                    request
                        .bucket(settings.bucket())
                        .key(object.key())
                        .uploadId(object.uploadId())
                        .ifNoneMatch(conditional ? "*" : null)
                        .multipartUpload(upload -> upload.parts(completed))
                        .overrideConfiguration(timeouts(COMPLETE_TIMEOUT)));
            return Completion.LOOK;
          } catch (AwsServiceException e) {
            if (gone(e)) {
              return Completion.NO_UPLOAD;
            }
            if (e.statusCode() == 412) {
              return Completion.LOOK;
            }
            if (e.statusCode() == 409) {
              return Completion.WAIT;
            }
            if (conditional && unknownCondition(e)) {
              LOGGER.warn(
                  "Lake {} has no If-None-Match for completing an upload; a look just before takes its place.",
                  name());
              conditional = false;
              return Completion.LOOK;
            }
            throw e;
          }
        });
  }

  private static boolean unknownCondition(AwsServiceException e) {
    return e.statusCode() == 501 || S3Failures.code(e).equals("NotImplemented");
  }

  private static CompletedPart completed(Part part) {
    return CompletedPart.builder()
        .partNumber(part.partNumber())
        .eTag(part.eTag())
        .checksumCRC32(part.checksumCRC32())
        .checksumCRC32C(part.checksumCRC32C())
        .checksumCRC64NVME(part.checksumCRC64NVME())
        .checksumSHA1(part.checksumSHA1())
        .checksumSHA256(part.checksumSHA256())
        .build();
  }

  private static void pause(int look) {
    try {
      Thread.sleep(100L << look);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MillraceException(
          ErrorCode.LAKE_UNAVAILABLE, "The publishing was interrupted. It is tried again.", e);
    }
  }

  @Override
  public boolean discard(StagedObject object) {
    abort(object.key(), object.uploadId());
    return head(object.key())
        .map(head -> object.attempt().equals(head.metadata().get(ATTEMPT)))
        .orElse(false);
  }

  @Override
  public void discardLeftovers(String key, Set<String> kept) {
    List<String> leftovers =
        call(
            S3Operation.LIST_UPLOADS,
            key,
            () ->
                client
                    .listMultipartUploadsPaginator(
                        request -> request.bucket(settings.bucket()).prefix(key))
                    .stream()
                    .flatMap(page -> page.uploads().stream())
                    .filter(upload -> upload.key().equals(key))
                    .map(MultipartUpload::uploadId)
                    .filter(upload -> !kept.contains(upload))
                    .toList());
    for (String leftover : leftovers) {
      abort(key, leftover);
    }
  }

  /** Aborts until the store no longer knows the upload: a part on its way can outlive an abort. */
  private void abort(String key, String uploadId) {
    for (int look = 1; look <= LOOKS; look++) {
      boolean aborted =
          call(
              S3Operation.ABORT_UPLOAD,
              key,
              () -> {
                try {
                  client.abortMultipartUpload(
                      request -> request.bucket(settings.bucket()).key(key).uploadId(uploadId));
                  return true;
                } catch (AwsServiceException e) {
                  if (gone(e)) {
                    return false;
                  }
                  throw e;
                }
              });
      if (!aborted) {
        return;
      }
      // Some stores list no parts where S3 says that there is no such upload.
      if (parts(key, uploadId).map(List::isEmpty).orElse(true)) {
        return;
      }
      pause(look);
    }
    throw new MillraceException(
        ErrorCode.LAKE_UNAVAILABLE,
        "Lake %s: the upload %s of %s is still open after %d aborts. It is tried again."
            .formatted(name(), uploadId, address(key), LOOKS));
  }

  /**
   * Aborts the upload of an attempt that has failed. A failure here is only logged: the attempt's
   * own is the one to tell, and the next attempt throws leftovers away.
   */
  void abandon(String key, String uploadId) {
    // The SDK sends nothing from an interrupted thread, and a cancelled attempt is one.
    boolean interrupted = Thread.interrupted();
    try {
      abort(key, uploadId);
    } catch (MillraceException e) {
      LOGGER.warn("The upload {} of {} is left open: {}", uploadId, address(key), e.getMessage());
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public boolean exists(String key) {
    return head(key).isPresent();
  }

  @Override
  public void put(String key, byte[] content) {
    PutObjectRequest.Builder request =
        PutObjectRequest.builder()
            .bucket(settings.bucket())
            .key(key)
            .contentType(SMALL_CONTENT_TYPE);
    checksumAlgorithm().ifPresent(request::checksumAlgorithm);
    encryption().ifPresent(request::serverSideEncryption);
    keyOfEncryption().ifPresent(request::ssekmsKeyId);
    call(
        S3Operation.PUT_OBJECT,
        key,
        () -> client.putObject(request.build(), RequestBody.fromBytes(content)));
  }

  @Override
  public List<ListedObject> list(String folder) {
    return call(
        S3Operation.LIST_OBJECTS,
        folder,
        () ->
            client
                .listObjectsV2Paginator(
                    request -> request.bucket(settings.bucket()).prefix(folder).delimiter("/"))
                .contents()
                .stream()
                // A console makes a folder by an object of its own name.
                .filter(object -> !object.key().equals(folder))
                .map(object -> new ListedObject(object.key(), object.size()))
                .sorted(Comparator.comparing(ListedObject::key))
                .toList());
  }

  @Override
  public byte[] read(String key, long offset, int length) {
    byte[] bytes =
        call(
            S3Operation.GET_OBJECT,
            key,
            () ->
                client
                    .getObjectAsBytes(
                        request ->
                            request
                                .bucket(settings.bucket())
                                .key(key)
                                .range("bytes=%d-%d".formatted(offset, offset + length - 1)))
                    .asByteArrayUnsafe());
    if (bytes.length != length) {
      throw new MillraceException(
          ErrorCode.LAKE_REFUSED,
          "Lake %s: %s is shorter than %d bytes; it is not what was written."
              .formatted(name(), address(key), offset + length));
    }
    return bytes;
  }

  @Override
  public InputStream open(String key) {
    return call(
        S3Operation.GET_OBJECT,
        key,
        () ->
            client.getObject(
                request ->
                    request
                        .bucket(settings.bucket())
                        .key(key)
                        .overrideConfiguration(
                            // The caller works on the bytes meanwhile; the socket's timeout holds.
                            AwsRequestOverrideConfiguration.builder()
                                .apiCallAttemptTimeout(LONGEST_READ)
                                .apiCallTimeout(LONGEST_READ)
                                .build())));
  }

  @Override
  public void probe() {
    String id = UUID.randomUUID().toString();
    String key = prefix() + "_millrace_probe/" + id;
    call(
        S3Operation.LIST_UPLOADS,
        key,
        () ->
            client.listMultipartUploads(
                request -> request.bucket(settings.bucket()).prefix(key).maxUploads(1)));
    switch (settings.encryption()) {
      case NONE, AES256 -> abort(key, create(key, id));
      case KMS -> probeKey(key, id);
    }
  }

  /** Only a second part shows whether the key may be used for decrypting. */
  private void probeKey(String key, String id) {
    String uploadId = create(key, id);
    StagedObject probe = new StagedObject(key, uploadId, id, LEAST_PART + 1L);
    boolean staged = false;
    try {
      PartBuffer part = new PartBuffer(LEAST_PART);
      part.fill(ByteBuffer.allocate(LEAST_PART));
      sendPart(key, uploadId, 1, part);
      part.reset(1);
      part.fill(ByteBuffer.allocate(1));
      sendPart(key, uploadId, 2, part);
      if (publish(probe) != Publication.PUBLISHED) {
        throw new MillraceException(
            ErrorCode.LAKE_UNAVAILABLE,
            "Lake %s: the probe %s was removed by somebody else. Try again."
                .formatted(name(), address(key)));
      }
      staged = true;
    } finally {
      if (!staged) {
        abandon(key, uploadId);
      }
    }
    try {
      call(
          S3Operation.DELETE_OBJECT,
          key,
          () -> client.deleteObject(request -> request.bucket(settings.bucket()).key(key)));
    } catch (MillraceException e) {
      // Publishing needs no such right, so this is no reason to refuse the lake.
      LOGGER.warn("The probe {} was not removed: {}", address(key), e.getMessage());
    }
  }

  /** Sends a request; credentials that have just expired are asked for again where they can be. */
  private <T> T call(S3Operation operation, String key, Supplier<T> request) {
    for (int attempt = 1; ; attempt++) {
      try {
        return request.get();
      } catch (RuntimeException e) {
        if (fixedCredentials || attempt == ATTEMPTS || !S3Failures.expired(e)) {
          throw failures.translate(e, operation, key);
        }
      }
    }
  }

  @Override
  public void close() {
    senders.shutdown();
    client.close();
  }
}
