package dev.millrace.dev;

import dev.millrace.failure.MillraceException;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** What runs a ClickHouse server: an installed program, or the engine as a library. Immutable. */
sealed interface ClickHouseEngine permits ClickHouseProgram, ClickHouseLibrary {
  /**
   * Finds or gets one: {@code clickhouse} on the PATH when it is new enough, else the library in
   * the cache, else the library with npm.
   *
   * @param environment {@code PATH}, {@code MILLRACE_CACHE}, and {@code MILLRACE_NPM=off}, with
   *     which nothing is downloaded
   * @param progress is told when a download begins
   * @throws MillraceException {@code STACK_FAILED} when there is none, with the reason in one line
   */
  static ClickHouseEngine find(Map<String, String> environment, Consumer<String> progress) {
    return ClickHouseProgram.find(environment)
        .<ClickHouseEngine>map(program -> program)
        .orElseGet(() -> ClickHouseLibrary.find(environment, progress));
  }

  /** Returns the command that runs a server with these files. */
  List<String> command(ClickHouseFiles files);

  /**
   * Returns whether it only starts with a user {@code default} that has no password: it runs its
   * own first statements as that one.
   */
  boolean needsDefaultUser();
}
