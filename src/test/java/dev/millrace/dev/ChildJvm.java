package dev.millrace.dev;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A JVM of its own for a test that kills it. Not thread-safe. */
final class ChildJvm implements AutoCloseable {
  private final Process process;
  private final BufferedReader output;

  private ChildJvm(Process process) {
    this.process = process;
    this.output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Starts a class with a main method over this JVM's class path. */
  static ChildJvm start(Class<?> main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    try {
      return new ChildJvm(
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Reads the output up to the first line with the prefix and returns the rest of that line. */
  String await(String prefix) {
    try {
      String line = output.readLine();
      while (line != null && !line.startsWith(prefix)) {
        line = output.readLine();
      }
      if (line == null) {
        throw new AssertionError("The JVM ended without a line that starts with " + prefix);
      }
      return line.substring(prefix.length());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills the JVM with SIGKILL and waits until it is gone. */
  void kill() {
    process.destroyForcibly();
    process.onExit().join();
  }

  /** Sends SIGTERM and returns the exit code. */
  int terminate() {
    process.destroy();
    return process.onExit().join().exitValue();
  }

  /** Waits for the JVM's own end and returns its exit code. */
  int exitCode() {
    return process.onExit().join().exitValue();
  }

  @Override
  public void close() {
    kill();
  }
}
