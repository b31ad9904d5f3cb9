package dev.millrace.dev;

import java.nio.file.Path;
import java.util.Map;

/** Starts a worker in this JVM; the application's part of {@code millrace dev}. */
@FunctionalInterface
public interface WorkerStarter {
  /**
   * Starts a worker and returns when it polls for tasks.
   *
   * @param configuration the configuration file that the worker runs with
   * @param environment of the worker
   * @return what ends the worker
   */
  AutoCloseable start(Path configuration, Map<String, String> environment);
}
