package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.blobstore.BlobStore;
import org.gaul.s3proxy.nio2blob.FilesystemNio2BlobStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An S3 server in this JVM that keeps its buckets in a folder: s3proxy, on 127.0.0.1 only.
 *
 * <p>A server that is started again on the same folder has all its buckets, objects and open
 * uploads. Thread-safe.
 */
public final class S3Server implements AutoCloseable {
  private static final String HOST = "127.0.0.1";

  private final S3Proxy proxy;
  private final BlobStore store;

  private S3Server(S3Proxy proxy, BlobStore store) {
    this.proxy = proxy;
    this.store = store;
  }

  /**
   * Starts a server; it answers when this method returns.
   *
   * @param folder where the buckets are; made when it is missing
   * @param port the TCP port, or 0 for a free one
   * @param accessKey the only access key id that it knows
   * @param secretKey the secret of that key
   * @throws MillraceException with {@code STACK_FAILED} when the folder or the port can't be used
   */
  public static S3Server start(Path folder, int port, String accessKey, String secretKey) {
    silence();
    try {
      Files.createDirectories(folder);
      BlobStore store = new FilesystemNio2BlobStore(folder.toAbsolutePath().toString());
      S3Proxy proxy =
          S3Proxy.builder()
              .blobStore(store)
              .endpoint(new URI("http", null, HOST, port, null, null, null))
              .awsAuthentication(AuthenticationType.AWS_V4, accessKey, secretKey)
              // Signed requests that are not chunked are held in memory up to this size, in bytes.
              .v4MaxNonChunkedRequestSize(128L << 20)
              .build();
      proxy.start();
      return new S3Server(proxy, store);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MillraceException(
          ErrorCode.STACK_FAILED, "The start of the S3 server was interrupted.", e);
    } catch (Exception e) { // S3Proxy.start declares nothing narrower
      throw failed(folder, port, e);
    }
  }

  /** Returns the address for clients, {@code http://127.0.0.1:port}. */
  public URI endpoint() {
    return URI.create("http://" + HOST + ":" + proxy.getPort());
  }

  /**
   * Makes a bucket; one that is there stays as it is.
   *
   * @param bucket its name
   */
  public void createBucket(String bucket) {
    if (!store.containerExists(bucket)) {
      store.createContainer(bucket);
    }
  }

  /** Stops the server; what it stores stays in the folder. Safe to call twice. */
  @Override
  public void close() {
    try {
      proxy.stop();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (Exception e) { // S3Proxy.stop declares nothing narrower
      throw new MillraceException(
          ErrorCode.STACK_FAILED, "The S3 server did not stop: " + e.getMessage(), e);
    }
  }

  private static MillraceException failed(Path folder, int port, Exception cause) {
    return new MillraceException(
        ErrorCode.STACK_FAILED,
        "The S3 server did not start on port %d of %s over the folder %s: %s. Choose another port or folder."
            .formatted(port, HOST, folder, cause.getMessage()),
        cause);
  }

  /** Its web server tells each start and stop, and s3proxy each refused request. */
  private static void silence() {
    for (String name : new String[] {"org.gaul.s3proxy", "org.eclipse.jetty"}) {
      Logger logger = LoggerFactory.getLogger(name);
      if (logger instanceof ch.qos.logback.classic.Logger logback && logback.getLevel() == null) {
        logback.setLevel(ch.qos.logback.classic.Level.WARN);
      }
    }
  }
}
