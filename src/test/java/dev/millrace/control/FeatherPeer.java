package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.opentest4j.TestAbortedException;

/**
 * A Python process with feather-control-plane, the other writer of the schema. The package is
 * looked for in {@code MILLRACE_FEATHER}; what it needs is installed once and kept. One thread may
 * use it.
 */
final class FeatherPeer implements AutoCloseable {
  private static final JsonMapper JSON = new JsonMapper();
  private static final String DRIVER = "psycopg[binary]==3.3.9";
  private static final String ZONES = "tzdata==2026.6";

  private final Process process;
  private final BufferedReader answers;

  private FeatherPeer(Process process) {
    this.process = process;
    this.answers =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Returns the folder of the package; skips the test where there is none. */
  static Path folder() {
    String given = System.getenv("MILLRACE_FEATHER");
    if (given != null) {
      Path folder = Path.of(given);
      if (!Files.isDirectory(folder.resolve("control_plane"))) {
        throw skipped("the Python package is not in MILLRACE_FEATHER=" + given);
      }
      return folder;
    }
    // A work tree may be a folder deeper than the project.
    List<Path> places =
        List.of(Path.of("../shared/peers/feather"), Path.of("../../shared/peers/feather"));
    return places.stream()
        .filter(place -> Files.isDirectory(place.resolve("control_plane")))
        .findFirst()
        .orElseThrow(
            () ->
                skipped(
                    "the Python package is not in ../shared/peers/feather; MILLRACE_FEATHER names its folder"))
        .toAbsolutePath()
        .normalize();
  }

  /** Starts it; skips the test where the package or a Python for it can't be had. */
  static FeatherPeer start() throws IOException {
    Path feather = folder();
    Path python = python();
    String script;
    try (InputStream stream = FeatherPeer.class.getResourceAsStream("feather_peer.py")) {
      script = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    }
    ProcessBuilder builder =
        new ProcessBuilder(python.toString(), "-c", script)
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    builder.environment().put("PYTHONPATH", feather.toString());
    builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
    return new FeatherPeer(builder.start());
  }

  private static Path python() {
    String cache = System.getenv("MILLRACE_CACHE");
    Path base =
        cache == null
            ? Path.of(System.getProperty("user.home"), ".cache", "millrace")
            : Path.of(cache);
    Path environment = base.resolve("feather-psycopg-3.3.9-tzdata-2026.6");
    Path python = environment.resolve("bin").resolve("python");
    Path ready = environment.resolve("ready");
    if (Files.exists(ready)) {
      return python;
    }
    try {
      Files.createDirectories(base);
      run(List.of("python3", "-m", "venv", environment.toString()));
      run(List.of(python.toString(), "-m", "pip", "install", "--quiet", DRIVER, ZONES));
      Files.createFile(ready);
    } catch (IOException exception) {
      throw skipped(
          "no Python with %s and %s: %s".formatted(DRIVER, ZONES, exception.getMessage()));
    }
    return python;
  }

  /** Says so, too: a class that is skipped as a whole leaves no word in the runner's report. */
  private static TestAbortedException skipped(String reason) {
    System.out.println("tests against the Python control plane are skipped: " + reason);
    return new TestAbortedException(reason);
  }

  private static void run(List<String> command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (process.onExit().join().exitValue() != 0) {
      throw new IOException(String.join(" ", command) + " failed: " + output);
    }
  }

  /**
   * Has a command of {@code feather_peer.py} done.
   *
   * @param arguments names and values in turn
   * @return its answer
   */
  JsonNode ask(String command, Object... arguments) {
    tell(command, arguments);
    return answer();
  }

  /** Begins a command; {@link #answer} waits for it. */
  void tell(String command, Object... arguments) {
    Map<String, Object> fields = new HashMap<>();
    fields.put("command", command);
    for (int i = 0; i < arguments.length; i += 2) {
      fields.put((String) arguments[i], arguments[i + 1]);
    }
    try {
      process
          .getOutputStream()
          .write((JSON.writeValueAsString(fields) + "\n").getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Returns the answer to what was told. */
  JsonNode answer() {
    try {
      String line = answers.readLine();
      assertThat(line).as("the Python process has ended").isNotNull();
      JsonNode answer = JSON.readTree(line);
      assertThat(answer.has("error")).as(() -> answer.path("error").asText()).isFalse();
      return answer.get("answer");
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }
}
