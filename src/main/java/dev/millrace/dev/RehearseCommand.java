package dev.millrace.dev;

import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/**
 * {@code millrace rehearse}: starts a worker that has no Postgres and no S3, and ends it.
 *
 * <p>The launcher has the JVM write down the classes that this needs, so that later starts need not
 * read and check them again. People have no use for it. Not thread-safe.
 */
@Command(
    name = "rehearse",
    hidden = true,
    description = "Start a worker without servers and end it; for the launcher.")
public final class RehearseCommand implements Callable<Integer> {
  private final WorkerStarter workerStarter;

  /**
   * Makes the command.
   *
   * @param workerStarter starts the worker
   */
  public RehearseCommand(WorkerStarter workerStarter) {
    this.workerStarter = workerStarter;
  }

  /**
   * Starts and ends the worker.
   *
   * @throws MillraceException {@code STACK_FAILED} when the servers that there are can't be started
   */
  @Override
  public Integer call() throws Exception {
    Path folder = temporary();
    int port = Ports.choose(0, "Temporal", "none");
    InJvmTemporal temporal = InJvmTemporal.start(port);
    try {
      Path file = folder.resolve("millrace.yaml");
      Folders.writePrivate(file, configuration(folder, port));
      workerStarter.start(file, Map.of()).close();
      return 0;
    } finally {
      temporal.close();
      Folders.delete(folder);
    }
  }

  private static Path temporary() {
    try {
      return Files.createTempDirectory("millrace-rehearse-");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String configuration(Path folder, int port) {
    Path secret = folder.resolve("secret");
    Folders.secret(secret);
    // Nobody listens on port 1.
    return """
        temporal: {address: "127.0.0.1:%d"}
        postgres:
          none: {host: 127.0.0.1, port: 1, database: none, user: none, password: "${file:%s}",
                 sslmode: disable, connect_timeout: PT1S}
        state: none
        lakes:
          bucket:
            bucket: none
            region: none
            endpoint: "http://127.0.0.1:1"
            access_key_id: "${file:%s}"
            secret_access_key: "${file:%s}"
          folder: {folder: "%s"}
        control: {wal_dir: "%s"}
        """
        .formatted(port, secret, secret, secret, folder.resolve("lake"), folder.resolve("wal"));
  }
}
