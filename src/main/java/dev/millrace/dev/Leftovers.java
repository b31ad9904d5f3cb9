package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.stream.Stream;

/**
 * Processes that an earlier stack over the same folder left behind.
 *
 * <p>A guard may still be at work when the next stack starts, or may itself have been killed. They
 * are known by what they are and where they work ({@code /proc}), never by a number in a file
 * alone: that number may belong to somebody else by now.
 *
 * <p>Stateless.
 */
final class Leftovers {
  private static final Duration PATIENCE_PER_SIGNAL = Duration.ofSeconds(10);

  private Leftovers() {}

  /** What a process is: its arguments, the program first, and its working directory. */
  record Seen(List<String> arguments, Path directory) {
    /** Returns the program's name without its path. */
    String program() {
      return Path.of(arguments.get(0)).getFileName().toString();
    }
  }

  /**
   * Ends all processes that match and waits until they are gone.
   *
   * @param name what messages call them
   * @param signals what ends them, gentlest first
   * @param matches whether a process is one of them
   * @throws MillraceException {@code STACK_FAILED} when one of them stays
   */
  static void end(String name, List<String> signals, BiPredicate<Long, Seen> matches) {
    for (String signal : signals) {
      List<Long> found = find(matches);
      if (found.isEmpty()) {
        return;
      }
      for (long pid : found) {
        send(signal, pid);
      }
      if (Waiting.until(
          PATIENCE_PER_SIGNAL,
          () -> find(matches).isEmpty() && found.stream().allMatch(Leftovers::hasEnded))) {
        return;
      }
    }
    throw new MillraceException(
        ErrorCode.STACK_FAILED,
        name + " of an earlier stack can't be ended; its processes are " + find(matches));
  }

  /** Returns the ids of the processes that match. */
  static List<Long> find(BiPredicate<Long, Seen> matches) {
    return ProcessHandle.allProcesses()
        .map(ProcessHandle::pid)
        .filter(pid -> matches(pid, matches))
        .toList();
  }

  private static boolean matches(long pid, BiPredicate<Long, Seen> matches) {
    Path process = Path.of("/proc", Long.toString(pid));
    try {
      String arguments = Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1);
      if (arguments.isEmpty()) {
        return false;
      }
      return matches.test(
          pid,
          new Seen(List.of(arguments.split("\0")), Files.readSymbolicLink(process.resolve("cwd"))));
    } catch (IOException e) {
      // It has ended, or it is another user's and so not ours.
      return false;
    }
  }

  /**
   * Returns whether a process holds no files and ports any more. One that is exiting has lost its
   * arguments, by which it is found, before it closes them; a zombie has closed them with the end
   * of its last thread.
   */
  private static boolean hasEnded(long pid) {
    Path process = Path.of("/proc", Long.toString(pid));
    try (Stream<Path> threads = Files.list(process.resolve("task"))) {
      String status = Files.readString(process.resolve("stat"), StandardCharsets.ISO_8859_1);
      // The state stands behind the name, which is in parentheses and may hold anything.
      return status.charAt(status.lastIndexOf(')') + 2) == 'Z' && threads.count() == 1;
    } catch (IOException | UncheckedIOException e) {
      return true;
    }
  }

  private static void send(String signal, long pid) {
    try {
      new ProcessBuilder("/bin/sh", "-c", "kill -s \"$1\" \"$2\"", "sh", signal, "" + pid)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException e) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED, "Can't run sh to end process " + pid + ": " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
