package dev.millrace.app;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Collects what is wrong with a configuration file, to tell all of it at once. Not thread-safe. */
final class ConfigurationProblems {
  private record Problem(int line, String text) {}

  private final Path file;
  private final List<Problem> problems = new ArrayList<>();

  ConfigurationProblems(Path file) {
    this.file = file;
  }

  void add(int line, String text) {
    problems.add(new Problem(line, text));
  }

  /** Throws {@code BAD_CONFIGURATION} with one line for each problem, when there are any. */
  void throwIfAny() {
    if (problems.isEmpty()) {
      return;
    }
    throw new MillraceException(
        ErrorCode.BAD_CONFIGURATION,
        problems.stream()
            .sorted(Comparator.comparingInt(Problem::line))
            .map(problem -> file + ":" + problem.line() + ": " + problem.text())
            .distinct()
            .collect(Collectors.joining("\n")));
  }
}
