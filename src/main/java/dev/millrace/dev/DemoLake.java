package dev.millrace.dev;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.S3Object;

/** The stack's bucket, seen as any S3 client sees it. Thread-safe. */
final class DemoLake implements AutoCloseable {
  private static final String PREFIX = "raw/postgres/";

  private final S3Client client;

  private DemoLake(S3Client client) {
    this.client = client;
  }

  /** Opens a client; the first call connects. */
  static DemoLake of(EmbeddedStack stack) {
    return new DemoLake(
        S3Client.builder()
            .endpointOverride(stack.s3().endpoint())
            .region(Region.of(EmbeddedStack.REGION))
            .forcePathStyle(true)
            .credentialsProvider(
                StaticCredentialsProvider.create(
                    AwsBasicCredentials.create(stack.accessKeyId(), stack.secretAccessKey())))
            .httpClientBuilder(Apache5HttpClient.builder())
            .build());
  }

  /** Returns the addresses of all published objects of a table, {@code s3://bucket/key}. */
  List<String> objects(String table) {
    String folder = PREFIX + table.replace('.', '/') + "/";
    return client
        .listObjectsV2Paginator(request -> request.bucket(EmbeddedStack.BUCKET).prefix(folder))
        .contents()
        .stream()
        .map(S3Object::key)
        .filter(key -> key.endsWith(".parquet"))
        .map(key -> address() + key)
        .toList();
  }

  /**
   * Downloads objects.
   *
   * @param folder where to, under names of their own
   * @return the files
   */
  List<Path> download(List<String> addresses, Path folder) {
    List<Path> files = new ArrayList<>();
    for (String address : addresses) {
      String key = address.substring(address().length());
      Path file = folder.resolve(key.replace('/', '_'));
      client.getObject(request -> request.bucket(EmbeddedStack.BUCKET).key(key), file);
      files.add(file);
    }
    return files;
  }

  @Override
  public void close() {
    client.close();
  }

  private static String address() {
    return "s3://" + EmbeddedStack.BUCKET + "/";
  }
}
