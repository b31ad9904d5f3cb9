package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A program that ends with this JVM, even when this JVM is killed with SIGKILL.
 *
 * <p>A small shell script is the program's parent and reads a pipe from this JVM. When the pipe
 * closes, it ends the program. The script starts the program itself, so there is no moment in which
 * the program runs without it, and it has a session of its own, so that Ctrl-C in a terminal
 * reaches this JVM only.
 *
 * <p>Thread-safe.
 */
public final class ProcessGuard implements AutoCloseable {
  private static final Duration PATIENCE_PER_SIGNAL = Duration.ofSeconds(11);
  private static final int LOG_LINES = 5;

  private final String name;
  private final Process process;
  private final Path log;
  private final int signals;

  private ProcessGuard(String name, Process process, Path log, int signals) {
    this.name = name;
    this.process = process;
    this.log = log;
    this.signals = signals;
  }

  /**
   * Starts a program.
   *
   * @param name what messages call it
   * @param command the program's absolute path, or its name on the PATH, and its arguments
   * @param signals what ends it, gentlest first; each has 10 s to work before the next one
   * @param log the file that its output is appended to
   * @return the running program
   * @throws MillraceException {@code STACK_FAILED} when it can't be started
   */
  public static ProcessGuard start(
      String name, List<String> command, List<String> signals, Path log) {
    List<String> guarded = new ArrayList<>();
    if (Files.isExecutable(Path.of("/usr/bin/setsid"))) {
      guarded.add("/usr/bin/setsid");
    }
    guarded.addAll(List.of("/bin/sh", "-c", script(), "millrace-guard"));
    guarded.add(String.join(" ", signals));
    guarded.addAll(command);
    try {
      Process process =
          new ProcessBuilder(guarded)
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .start();
      return new ProcessGuard(name, process, log, signals.size());
    } catch (IOException e) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED, "Can't start " + name + ": " + e.getMessage(), e);
    }
  }

  /** Returns whether the program runs. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** Returns what completes with the program's exit code when it has ended, for whatever reason. */
  public CompletableFuture<Integer> ended() {
    return process.onExit().thenApply(Process::exitValue);
  }

  /**
   * Returns what to tell when the program ended on its own.
   *
   * @return one text with its exit code, its log file and the last lines of that
   */
  public String lastWords() {
    String state = process.isAlive() ? "is running" : "ended with code " + process.exitValue();
    return name + " " + state + "; the end of its log " + log + ":\n" + tail(log);
  }

  /**
   * Waits for the program's end.
   *
   * @param bound how long at most; it is ended when it takes longer
   * @throws MillraceException {@code STACK_FAILED} when it takes longer or its exit code is not 0
   */
  void requireSuccess(Duration bound) {
    try {
      if (!process.waitFor(bound.toMillis(), TimeUnit.MILLISECONDS)) {
        close();
        throw new MillraceException(
            ErrorCode.STACK_FAILED,
            name + " did not end within " + bound.toSeconds() + " s; its log is " + log);
      }
    } catch (InterruptedException e) {
      close();
      Thread.currentThread().interrupt();
      throw new MillraceException(ErrorCode.STACK_FAILED, name + " was interrupted", e);
    }
    if (process.exitValue() != 0) {
      throw new MillraceException(ErrorCode.STACK_FAILED, lastWords());
    }
  }

  /** Ends the program and waits until it is gone. Does nothing when it has ended. */
  @Override
  public void close() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      // The guard is gone, and the program with it.
    }
    long bound = PATIENCE_PER_SIGNAL.multipliedBy(signals).toMillis();
    boolean interrupted = Thread.interrupted();
    try {
      if (!process.waitFor(bound, TimeUnit.MILLISECONDS)) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static String tail(Path log) {
    try {
      // Logs of a stack that runs for weeks stay small: only warnings are written.
      List<String> lines = Files.readAllLines(log, StandardCharsets.UTF_8);
      return String.join("\n", lines.subList(Math.max(0, lines.size() - LOG_LINES), lines.size()));
    } catch (IOException e) {
      return "(unreadable: " + e.getMessage() + ")";
    }
  }

  private static String script() {
    try (InputStream in = ProcessGuard.class.getResourceAsStream("guard.sh")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new MillraceException(ErrorCode.INTERNAL, "guard.sh is not in the jar", e);
    }
  }
}
