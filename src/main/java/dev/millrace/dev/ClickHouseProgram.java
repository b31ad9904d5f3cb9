package dev.millrace.dev;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An installed {@code clickhouse}. Immutable.
 *
 * @param file the program
 */
record ClickHouseProgram(Path file) implements ClickHouseEngine {
  private static final int LEAST_MAJOR = 24;
  private static final Duration VERSION_BOUND = Duration.ofSeconds(20);

  /** Such as {@code ClickHouse local version 24.8.14.39 (official build).} */
  private static final Pattern VERSION =
      Pattern.compile("ClickHouse [a-z]+ version ([0-9]{1,4})\\.[0-9]+");

  /** Returns the first one on the PATH that is new enough. */
  static Optional<ClickHouseProgram> find(Map<String, String> environment) {
    return Programs.onPath("clickhouse", environment).stream()
        .filter(
            program ->
                isNewEnough(
                    Programs.output(List.of(program.toString(), "--version"), VERSION_BOUND)))
        .findFirst()
        .map(ClickHouseProgram::new);
  }

  /**
   * Returns whether a version has all that is needed, such as {@code EXCHANGE TABLES}.
   *
   * @param told what {@code clickhouse --version} writes; anything else is not new enough
   */
  static boolean isNewEnough(String told) {
    Matcher version = VERSION.matcher(told);
    return version.find() && Integer.parseInt(version.group(1)) >= LEAST_MAJOR;
  }

  @Override
  public List<String> command(ClickHouseFiles files) {
    // Without this it would be the child of a watchdog, and outlive a watchdog that is killed.
    return List.of(
        "env",
        "CLICKHOUSE_WATCHDOG_ENABLE=0",
        file.toString(),
        "server",
        "--config-file=" + files.configuration());
  }

  @Override
  public boolean needsDefaultUser() {
    return false;
  }
}
