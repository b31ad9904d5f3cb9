package dev.millrace.testing;

import dev.millrace.app.Main;
import dev.millrace.failure.Points;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * {@code millrace worker} in a process of its own, for tests that kill or freeze it. It ends with
 * this JVM, frozen or not. Thread-safe.
 */
public final class WorkerProcess implements AutoCloseable {
  /** The exit code of a process that SIGKILL ended. */
  public static final int KILLED = 128 + 9;

  /** The exit code of a process that SIGTERM ended. */
  public static final int STOPPED = 128 + 15;

  private static final Duration START_BOUND = Duration.ofMinutes(2);
  private static final Duration END_BOUND = Duration.ofMinutes(2);
  private static final int TOLD_LINES = 40;

  private static final Pattern OWN_ERROR = Pattern.compile(" ERROR (d\\.m\\.|dev\\.millrace)");

  private final Process process;
  private final Path log;
  private final Thread hook = new Thread(this::kill, "worker-kill");

  private WorkerProcess(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  /**
   * Starts a worker and waits until it polls.
   *
   * @param configuration its file
   * @param points value of {@code MILLRACE_POINTS}; empty for none
   */
  public static WorkerProcess start(Path configuration, String points) {
    List<String> command = new ArrayList<>(WorkerJvm.command());
    command.add(Main.class.getName());
    command.addAll(List.of("worker", "--config", configuration.toString()));
    try {
      Path log = Files.createTempFile(configuration.getParent(), "worker-", ".log");
      ProcessBuilder builder =
          new ProcessBuilder(command)
              .directory(configuration.getParent().toFile())
              .redirectErrorStream(true)
              .redirectOutput(log.toFile());
      builder.environment().remove(Points.VARIABLE);
      if (!points.isEmpty()) {
        builder.environment().put(Points.VARIABLE, points);
      }
      WorkerProcess worker = new WorkerProcess(builder.start(), log);
      Runtime.getRuntime().addShutdownHook(worker.hook);
      worker.awaitLog("worker polls task queue", START_BOUND);
      return worker;
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Waits until the log has a line in which the pattern is found. */
  public void awaitLog(String pattern, Duration bound) {
    Pattern compiled = Pattern.compile(pattern);
    Await.until(
        "the worker's log says " + pattern,
        bound,
        () -> {
          String text = log();
          if (compiled.matcher(text).find()) {
            return true;
          }
          if (!process.isAlive()) {
            throw new AssertionError("the worker ended with %s%n%s".formatted(process, text));
          }
          return false;
        },
        this::lastLines);
  }

  /** Waits until the process has ended and returns its exit code. */
  public int awaitEnd() {
    try {
      if (!process.waitFor(END_BOUND.toSeconds(), TimeUnit.SECONDS)) {
        throw new AssertionError("the worker is still alive\n" + lastLines());
      }
      return process.exitValue();
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", exception);
    }
  }

  /** Waits until the process has been stopped by SIGSTOP. */
  public void awaitFrozen() {
    Await.until("the worker is frozen", END_BOUND, this::isFrozen, this::lastLines);
  }

  private boolean isFrozen() {
    try {
      String status = Files.readString(Path.of("/proc", "" + process.pid(), "status"));
      return status.contains("State:\tT");
    } catch (IOException exception) {
      throw new AssertionError("the worker ended\n" + lastLines(), exception);
    }
  }

  /** Stops the process by SIGSTOP and waits until it stands still. */
  public void freeze() {
    signal("-STOP");
    awaitFrozen();
  }

  /** Wakes up a frozen process. */
  public void wake() {
    signal("-CONT");
  }

  private void signal(String signal) {
    try {
      new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().waitFor();
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", exception);
    }
  }

  /** Waits until no thread of the process is inside a class. */
  public void awaitNothingRunsOf(Class<?> type) {
    Await.until(
        "nothing runs of " + type.getName(),
        END_BOUND,
        () -> !threads().contains("at " + type.getName() + "."),
        this::threads);
  }

  private String threads() {
    String dump = Path.of(System.getProperty("java.home"), "bin", "jstack").toString();
    try {
      Process asked =
          new ProcessBuilder(dump, Long.toString(process.pid())).redirectErrorStream(true).start();
      String threads = new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!threads.contains("Full thread dump")) {
        throw new AssertionError("no threads are shown: " + threads + lastLines());
      }
      return threads;
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Returns all that the process has said. */
  public String log() {
    try {
      return Files.readString(log, StandardCharsets.UTF_8);
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Returns the errors that Millrace itself has told; the SDK tells some on a loaded host. */
  public List<String> errors() {
    return log().lines().filter(line -> OWN_ERROR.matcher(line).find()).toList();
  }

  private String lastLines() {
    List<String> lines = log().lines().toList();
    return String.format(Locale.ROOT, "log of the worker, process %d:%n", process.pid())
        + String.join("\n", lines.subList(Math.max(0, lines.size() - TOLD_LINES), lines.size()));
  }

  /** Kills the process with SIGKILL and waits until it is gone. */
  public void kill() {
    process.destroyForcibly();
    process.onExit().join();
  }

  /** Asks the process to end, as an orchestrator does, and returns its exit code. */
  public int stop() {
    process.destroy();
    return awaitEnd();
  }

  @Override
  public void close() {
    kill();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException exception) {
      // The JVM is ending.
    }
  }
}
