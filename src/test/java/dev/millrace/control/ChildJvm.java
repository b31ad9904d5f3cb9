package dev.millrace.control;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A JVM of its own that runs a class of the tests; told and asked by lines, stopped and killed like
 * any process. One thread may use it.
 */
final class ChildJvm implements AutoCloseable {
  /** The exit code of a process that SIGKILL ended. */
  static final int KILLED = 128 + 9;

  private final Process process;
  private final BufferedReader output;

  private ChildJvm(Process process) {
    this.process = process;
    this.output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  static ChildJvm start(Class<?> main, Object... arguments) {
    return start(List.of(), main, arguments);
  }

  /**
   * Starts it.
   *
   * @param prefix a command that becomes it, with its arguments; may be empty
   */
  static ChildJvm start(List<String> prefix, Class<?> main, Object... arguments) {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"));
    command.addAll(List.of("-cp", classPath(), main.getName()));
    for (Object argument : arguments) {
      command.add(argument.toString());
    }
    try {
      return new ChildJvm(
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Loading all drivers takes seconds where DuckDB's is one of them; it isn't used here. */
  private static String classPath() {
    return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .filter(entry -> !entry.contains("duckdb"))
        .collect(Collectors.joining(File.pathSeparator));
  }

  /** Returns the next line it says that begins with a word, or null at its end. */
  String line(String word) {
    try {
      String line = output.readLine();
      while (line != null && !line.startsWith(word)) {
        line = output.readLine();
      }
      return line;
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Says a line to it. */
  void say(String line) {
    try {
      process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Sends a signal such as STOP or CONT to it, and to what it became. */
  void signal(String name) {
    try {
      Process kill =
          new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).inheritIO().start();
      if (kill.onExit().join().exitValue() != 0) {
        throw new IllegalStateException("no process " + process.pid());
      }
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Waits for its end. */
  int exitCode() {
    return process.onExit().join().exitValue();
  }

  /** Kills it, as by kill -9. */
  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }
}
