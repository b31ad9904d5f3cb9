package dev.millrace.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Redactor;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParentCommand;

class MainTest {
  private final StringWriter output = new StringWriter();
  private final StringWriter errors = new StringWriter();
  private final Map<String, String> environment = new HashMap<>();

  @TempDir Path folder;

  @Test
  void helpIsPrintedToStandardOutput() {
    assertThat(run(() -> 0, "--help")).isZero();
    assertThat(output.toString()).contains("Usage: millrace", "--config=FILE", "MILLRACE_CONFIG");
    assertThat(errors.toString()).isEmpty();
  }

  @Test
  void theVersionIsPrinted() {
    assertThat(run(() -> 0, "--version")).isZero();
    assertThat(output.toString()).startsWith("millrace ");
  }

  @Test
  void aCallWithoutACommandIsAUsageProblem() {
    assertThat(run(() -> 0)).isEqualTo(2);
    assertThat(errors.toString()).contains("millrace: a command is missing", "Usage: millrace");
    assertThat(output.toString()).isEmpty();
  }

  @Test
  void anUnknownOptionOrCommandIsAUsageProblem() {
    assertThat(run(() -> 0, "--confg=x")).isEqualTo(2);
    assertThat(run(() -> 0, "probe", "--unknown")).isEqualTo(2);
    assertThat(run(() -> 0, "wroker")).isEqualTo(2);
    assertThat(errors.toString()).contains("Unknown option: '--unknown'", "'wroker'");
  }

  @Test
  void theResultOfACommandIsTheExitCode() {
    assertThat(run(() -> 0, "probe")).isZero();
    assertThat(run(() -> 1, "probe")).isEqualTo(1);
    assertThat(errors.toString()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void aFailureIsOneLineWithItsCode(ErrorCode code) {
    int exitCode =
        run(
            () -> {
              throw new MillraceException(code, "a thing is wrong", new IOException("cause"));
            },
            "probe");

    boolean toBeChanged = code == ErrorCode.BAD_CONFIGURATION || code == ErrorCode.BAD_INPUT;
    assertThat(exitCode).isEqualTo(toBeChanged ? 2 : 1);
    assertThat(errors.toString().lines())
        .containsExactly("millrace: " + code + ": a thing is wrong");
  }

  @Test
  void anUnexpectedExceptionIsAFailureWithoutSecrets() {
    Redactor.register("main-test-secret");
    int exitCode =
        run(
            () -> {
              throw new IllegalStateException("no main-test-secret here");
            },
            "probe");

    assertThat(exitCode).isEqualTo(1);
    assertThat(errors.toString().lines())
        .containsExactly(
            "millrace: INTERNAL: java.lang.IllegalStateException: no *** here; MILLRACE_DEBUG=1"
                + " shows where");
  }

  @Test
  void theStackTraceIsShownOnDemandWithoutSecrets() {
    Redactor.register("main-test-secret");
    environment.put("MILLRACE_DEBUG", "1");
    run(
        () -> {
          throw new MillraceException(
              ErrorCode.POSTGRES_ERROR, "failed", new IOException("main-test-secret"));
        },
        "probe");

    assertThat(errors.toString())
        .startsWith("millrace: POSTGRES_ERROR: failed")
        .contains("\tat dev.millrace.app.MainTest", "Caused by: java.io.IOException: ***")
        .doesNotContain("main-test-secret");
  }

  @Test
  void theConfigurationIsTheOptionsThenTheEnvironmentsThenTheDefaultOne() {
    assertThat(file("probe")).isEqualTo(Path.of("millrace.yaml"));
    environment.put("MILLRACE_CONFIG", "");
    assertThat(file("probe")).isEqualTo(Path.of("millrace.yaml"));
    environment.put("MILLRACE_CONFIG", "/etc/millrace.yaml");
    assertThat(file("probe")).isEqualTo(Path.of("/etc/millrace.yaml"));
    assertThat(file("--config", "a.yaml", "probe")).isEqualTo(Path.of("a.yaml"));
    assertThat(file("probe", "--config", "b.yaml")).isEqualTo(Path.of("b.yaml"));
  }

  @Test
  void aBadConfigurationEndsWithTwo() throws IOException {
    Path file = folder.resolve("bad.yaml");
    Files.writeString(file, "stat: appdb\n");
    Probe probe = new Probe(() -> 0);
    probe.action = () -> probe.main.configuration().limits().maxAttempts();

    assertThat(run(probe, "probe", "--config", file.toString())).isEqualTo(2);
    assertThat(errors.toString())
        .startsWith("millrace: BAD_CONFIGURATION: " + file + ":1: ")
        .contains(file + ":1: stat is not a setting; did you mean state?");
  }

  @Test
  void theProcessEndsWithTheExitCode() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "--unknown")
            .redirectErrorStream(true)
            .start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(2);
    assertThat(printed).startsWith("millrace: Unknown option: '--unknown'");
  }

  private Path file(String... arguments) {
    Probe probe = new Probe(() -> 0);
    assertThat(run(probe, arguments)).isZero();
    return probe.main.configurationFile();
  }

  private int run(Callable<Integer> action, String... arguments) {
    return run(new Probe(action), arguments);
  }

  private int run(Probe probe, String... arguments) {
    return Main.commandLine(environment, List.of(probe))
        .setOut(new PrintWriter(output, true))
        .setErr(new PrintWriter(errors, true))
        .execute(arguments);
  }

  @Command(name = "probe")
  private static final class Probe implements Callable<Integer> {
    @ParentCommand private Main main;
    private Callable<Integer> action;

    Probe(Callable<Integer> action) {
      this.action = action;
    }

    @Override
    public Integer call() throws Exception {
      return action.call();
    }
  }
}
