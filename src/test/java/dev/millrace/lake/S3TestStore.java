package dev.millrace.lake;

import dev.millrace.dev.S3Server;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.S3Object;

/** A real S3 server with one bucket per test, seen by a client of its own. */
final class S3TestStore implements AutoCloseable {
  static final Credentials KEYS = new Credentials("test-access", "test-secret-key", null);
  static final String REGION = "eu-west-1";

  private final S3Server server;
  private final S3Client client;
  private final S3Proxy open;
  private int buckets;

  S3TestStore(Path folder) {
    server = S3Server.start(folder, 0, KEYS.accessKeyId(), KEYS.secretAccessKey());
    open =
        S3Proxy.builder()
            .blobStore(new FilesystemNio2BlobStore(folder.toString()))
            .endpoint(URI.create("http://127.0.0.1:0"))
            .build();
    try {
      open.start();
    } catch (Exception e) { // S3Proxy.start declares nothing narrower
      throw new IllegalStateException(e);
    }
    client =
        S3Client.builder()
            .region(Region.of(REGION))
            .endpointOverride(server.endpoint())
            .forcePathStyle(true)
            .credentialsProvider(
                StaticCredentialsProvider.create(
                    AwsBasicCredentials.create(KEYS.accessKeyId(), KEYS.secretAccessKey())))
            .build();
  }

  URI endpoint() {
    return server.endpoint();
  }

  /** The address of a second server over the same buckets, which looks at no signature. */
  URI openEndpoint() {
    return URI.create("http://127.0.0.1:" + open.getPort());
  }

  S3Client client() {
    return client;
  }

  String newBucket() {
    String bucket = "bucket-" + ++buckets;
    server.createBucket(bucket);
    return bucket;
  }

  static S3LakeSettings settings(String bucket, URI endpoint) {
    return settings(bucket, endpoint, Encryption.NONE, Checksums.DEFAULT, KEYS);
  }

  static S3LakeSettings settings(
      String bucket,
      URI endpoint,
      Encryption encryption,
      Checksums checksums,
      Credentials credentials) {
    return new S3LakeSettings(
        "lake",
        bucket,
        "raw",
        REGION,
        endpoint,
        true,
        encryption,
        encryption == Encryption.KMS ? "key-1" : null,
        checksums,
        credentials);
  }

  List<String> listing(String bucket) {
    return client.listObjectsV2Paginator(request -> request.bucket(bucket)).contents().stream()
        .map(S3Object::key)
        .toList();
  }

  List<String> open(String bucket) {
    return client.listMultipartUploadsPaginator(request -> request.bucket(bucket)).stream()
        .flatMap(page -> page.uploads().stream())
        .map(MultipartUpload::uploadId)
        .toList();
  }

  byte[] read(String bucket, String key) {
    return client.getObjectAsBytes(request -> request.bucket(bucket).key(key)).asByteArray();
  }

  @Override
  public void close() {
    client.close();
    try {
      open.stop();
    } catch (Exception e) { // S3Proxy.stop declares nothing narrower
      throw new IllegalStateException(e);
    }
    server.close();
  }
}
