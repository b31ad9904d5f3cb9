package dev.millrace.dev;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Programs of this host: where they are, and running one to its end. Stateless. */
final class Programs {
  private Programs() {}

  /**
   * Returns the programs of a name on the PATH, first to last.
   *
   * @param environment {@code PATH}; nothing is found without it
   */
  static List<Path> onPath(String program, Map<String, String> environment) {
    return Stream.of(environment.getOrDefault("PATH", "").split(File.pathSeparator))
        .filter(folder -> !folder.isEmpty())
        .map(folder -> Path.of(folder, program).toAbsolutePath())
        .filter(path -> Files.isRegularFile(path) && Files.isExecutable(path))
        .toList();
  }

  /**
   * Runs a program without input and waits for its end.
   *
   * @param command the program and its arguments
   * @param log the file that its output is written to
   * @param bound how long at most; it is killed when it takes longer or this thread is interrupted
   * @return whether it ended with 0 in time
   * @throws IOException when it can't be started
   */
  static boolean run(List<String> command, Path log, Duration bound) throws IOException {
    Process process =
        new ProcessBuilder(command)
            .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      if (process.waitFor(bound.toMillis(), TimeUnit.MILLISECONDS)) {
        return process.exitValue() == 0;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    return false;
  }

  /**
   * Runs a program without input and returns what it wrote.
   *
   * @param bound how long at most
   * @return its output; empty when it can't be started, takes longer or does not end with 0
   */
  static String output(List<String> command, Duration bound) {
    try {
      Path log = Files.createTempFile("millrace-", ".log");
      try {
        return run(command, log, bound) ? Files.readString(log, StandardCharsets.UTF_8) : "";
      } finally {
        Files.deleteIfExists(log);
      }
    } catch (IOException e) {
      return "";
    }
  }

  /** Returns the last line of a log that {@link #run} has written. */
  static String lastLine(Path log) throws IOException {
    String text = Files.readString(log, StandardCharsets.UTF_8).strip();
    return text.substring(text.lastIndexOf('\n') + 1);
  }
}
