package dev.millrace.dev;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

class DemoCommandTest {
  private final StringWriter text = new StringWriter();

  @Test
  void theHelpNamesItsOptions() {
    int code =
        new CommandLine(new DemoCommand((configuration, environment) -> () -> {}))
            .setOut(new PrintWriter(text))
            .execute("--help");
    assertThat(code).isZero();
    assertThat(text.toString()).contains("--keep", "--data-dir", "--rows");
  }

  @Test
  void tooFewRowsAreAUsageError() {
    int code =
        new CommandLine(new DemoCommand((configuration, environment) -> () -> {}))
            .setErr(new PrintWriter(text))
            .execute("--rows", "999");
    assertThat(code).isEqualTo(CommandLine.ExitCode.USAGE);
    assertThat(text.toString()).contains("--rows is 999; it must be at least 1000");
  }
}
