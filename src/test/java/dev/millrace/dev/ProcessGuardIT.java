package dev.millrace.dev;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.millrace.failure.MillraceException;
import dev.millrace.testing.TestClickHouse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessGuardIT {
  private static final Duration BOUND = Duration.ofMinutes(1);

  @TempDir Path folder;

  @Test
  void postgresEndsWithAKilledJvm() {
    endsWithAKilledJvm("postgres", "postgres");
  }

  @Test
  void temporalEndsWithAKilledJvm() {
    endsWithAKilledJvm("temporal", "temporal");
  }

  @Test
  void clickHouseEndsWithAKilledJvm() {
    TestClickHouse.requireEngine();
    endsWithAKilledJvm("clickhouse", "java");
  }

  private void endsWithAKilledJvm(String part, String program) {
    try (ChildJvm child = ChildJvm.start(Holder.class, part, folder.toString())) {
      String state = child.await("started ");
      if (state.equals("in this JVM")) {
        assertThat(Boolean.getBoolean("millrace.ci")).as("no Temporal CLI").isFalse();
        assumeThat(state).as("no Temporal CLI").isEqualTo("for real");
      }
      assertThat(processes()).anyMatch(found -> found.startsWith(program));
      child.kill();
      boolean gone = Waiting.until(BOUND, () -> processes().isEmpty());
      assertThat(processes()).isEmpty();
      assertThat(gone).isTrue();
    }
  }

  /** The guards themselves are among them: they name the folder too. */
  private List<String> processes() {
    return Leftovers.find(
            (pid, seen) ->
                !seen.arguments().contains(Holder.class.getName())
                    && (seen.directory().startsWith(folder)
                        || seen.arguments().stream()
                            .anyMatch(argument -> argument.contains(folder.toString()))))
        .stream()
        .flatMap(pid -> ProcessHandle.of(pid).stream())
        .flatMap(process -> process.info().command().stream())
        .map(command -> Path.of(command).getFileName().toString())
        .toList();
  }

  @Test
  void aProgramThatIgnoresTheFirstSignalGetsTheNext() {
    Path log = folder.resolve("log");
    ProcessGuard guard =
        ProcessGuard.start(
            "stubborn",
            List.of("sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 0.1; done"),
            List.of("TERM", "KILL"),
            log);
    assertThat(Waiting.until(BOUND, () -> Folders.read(log).equals("deaf"))).isTrue();
    guard.close();
    assertThat(guard.isAlive()).isFalse();
    assertThat(guard.ended()).succeedsWithin(BOUND).isEqualTo(128 + 9);
  }

  @Test
  void aFailureTellsTheCodeAndTheEndOfTheLog() {
    ProcessGuard guard =
        ProcessGuard.start(
            "short",
            List.of("sh", "-c", "echo 'no space left'; exit 3"),
            List.of("TERM"),
            folder.resolve("log"));
    assertThatThrownBy(() -> guard.requireSuccess(BOUND))
        .isInstanceOf(MillraceException.class)
        .hasMessageContaining("code 3")
        .hasMessageContaining("no space left");
    assertThat(Files.exists(folder.resolve("log"))).isTrue();
  }

  /** Starts a part and waits to be killed. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] arguments) throws Exception {
      Path folder = Path.of(arguments[1]);
      boolean real = true;
      switch (arguments[0]) {
        case "postgres" -> PostgresServer.start(folder, 0, true);
        case "clickhouse" -> ClickHouseServer.start(folder, 0, System.getenv(), told -> {});
        default -> real = TemporalServer.start(folder, 0, 0, System.getenv(), told -> {}).isReal();
      }
      System.out.println("started " + (real ? "for real" : "in this JVM"));
      Thread.sleep(Long.MAX_VALUE);
    }
  }
}
