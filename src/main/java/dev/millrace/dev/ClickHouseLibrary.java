package dev.millrace.dev;

import com.sun.jna.Native;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.BufferedInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;

/**
 * The engine of ClickHouse as a shared library, which {@link ClickHouseProcess} runs in a JVM of
 * its own: the signal handlers of the library would end this one.
 *
 * <p>The library is that of npm package {@code @chdb/lib-linux-x64-gnu}, pinned by version and
 * SHA-256. Safe for several processes at a time: each downloads for itself, the last one's rename
 * wins with the same content. Immutable.
 *
 * @param file the library
 */
record ClickHouseLibrary(Path file) implements ClickHouseEngine {
  private static final String PACKAGE = "@chdb/lib-linux-x64-gnu";
  private static final String VERSION = "26.7.3-stable.1";
  private static final String SHA_256 =
      "c0d32b129e988f2b9a9a31c9141aecf5e1e2453f9a079efc4d36ab8e3f92b2ad";
  private static final String NAME = "libchdb.so";
  private static final long BYTES = 566_330_096;
  private static final Pattern CODE = Pattern.compile("npm \\S+ (code|syscall|errno) .*");
  private static final Duration NPM_BOUND = Duration.ofMinutes(15);
  private static final Duration TRIAL_BOUND = Duration.ofMinutes(1);
  private static final int FIRST_WITH_NATIVE_ACCESS = 22;

  /**
   * Finds the library in the cache, or gets it with npm.
   *
   * @throws MillraceException {@code STACK_FAILED} when it can't be had, with the reason in one
   *     line
   */
  static ClickHouseLibrary find(Map<String, String> environment, Consumer<String> progress) {
    Path cache = Folders.cache(environment);
    Path cached = cache.resolve("clickhouse-" + VERSION).resolve(NAME);
    if (!isWhole(cached)) {
      download(cache, cached, environment, progress);
    }
    return new ClickHouseLibrary(cached);
  }

  /** A crash of the host can leave a file whose name is older than its content. */
  private static boolean isWhole(Path library) {
    try {
      return Files.isRegularFile(library) && Files.size(library) == BYTES;
    } catch (IOException e) {
      return false;
    }
  }

  private static void download(
      Path cache, Path cached, Map<String, String> environment, Consumer<String> progress) {
    String missing = "no `clickhouse` of version 24 or newer on the PATH";
    if (environment.getOrDefault("MILLRACE_NPM", "on").equals("off")) {
      throw failed(missing + ", no engine in " + cache + ", and MILLRACE_NPM is off", null);
    }
    if (!System.getProperty("os.name").equals("Linux")
        || !System.getProperty("os.arch").equals("amd64")) {
      throw failed(missing + ", and the engine that npm has is for Linux on x86_64 only", null);
    }
    List<Path> npms = Programs.onPath("npm", environment);
    if (npms.isEmpty()) {
      throw failed(missing + ", and no npm to get one with", null);
    }
    progress.accept("getting its engine with npm, once (178 MB, 566 MB on the disk)");
    try {
      Path temporary = Files.createTempDirectory(cache, "clickhouse-");
      try {
        runNpm(npms.get(0), temporary);
        Path unpacked = temporary.resolve(NAME);
        unpack(PinnedFile.require("npm", temporary, ".tgz", SHA_256), unpacked);
        new ClickHouseLibrary(unpacked).tryOut(temporary);
        Folders.create(cached.getParent());
        Files.move(unpacked, cached, StandardCopyOption.ATOMIC_MOVE);
      } finally {
        Folders.delete(temporary);
      }
    } catch (IOException e) {
      throw failed("ClickHouse's engine can't be kept in " + cache + ": " + e, e);
    }
  }

  private static void runNpm(Path npm, Path folder) throws IOException {
    List<String> command = new ArrayList<>(List.of(npm.toString(), "pack"));
    command.add(PACKAGE + "@" + VERSION);
    command.addAll(List.of("--pack-destination", folder.toString()));
    // npm's own cache would keep the archive for ever.
    command.addAll(List.of("--cache", folder.resolve("npm-cache").toString(), "--logs-max=0"));
    command.addAll(List.of("--ignore-scripts", "--no-update-notifier", "--loglevel=error"));
    Path log = folder.resolve("npm.log");
    if (!Programs.run(command, log, NPM_BOUND)) {
      throw failed("npm could not get %s %s: %s".formatted(PACKAGE, VERSION, complaint(log)), null);
    }
  }

  /** The cause comes after a few codes and before advice. */
  private static String complaint(Path log) throws IOException {
    try (Stream<String> lines = Files.lines(log)) {
      return lines.filter(line -> !CODE.matcher(line).matches()).findFirst().orElse("no answer");
    }
  }

  private static void unpack(Path archive, Path target) throws IOException {
    try (InputStream stream = new BufferedInputStream(Files.newInputStream(archive));
        TarArchiveInputStream tar = new TarArchiveInputStream(new GZIPInputStream(stream))) {
      for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
        if (entry.getName().equals("package/" + NAME)) {
          Files.copy(tar, target);
          return;
        }
      }
    }
    throw failed("the package " + PACKAGE + " has no " + NAME, null);
  }

  /** The library is for glibc and newer processors; better told once than at each start. */
  private void tryOut(Path folder) throws IOException {
    List<String> command = java(folder);
    command.addAll(List.of("--path=" + folder.resolve("trial"), "--query=SELECT 1"));
    Path log = folder.resolve("trial.log");
    if (!Programs.run(command, log, TRIAL_BOUND)) {
      throw failed(
          "the engine that npm has does not run on this host: " + Programs.lastLine(log), null);
    }
  }

  @Override
  public List<String> command(ClickHouseFiles files) {
    List<String> command = java(files.home());
    command.add("--config-file=" + files.configuration());
    command.add("--path=" + files.data());
    command.add("--logger.log=" + files.log());
    // The level in the file is not heeded.
    command.add("--log-level=" + ClickHouseFiles.LOG_LEVEL);
    // The program ends with its statements, so the second one has no end.
    command.add(
        "--query=SYSTEM START LISTEN HTTP;"
            + " SELECT sleepEachRow(1) FROM system.numbers"
            + " SETTINGS max_block_size = 1, max_execution_time = 0 FORMAT Null");
    return command;
  }

  @Override
  public boolean needsDefaultUser() {
    return true;
  }

  private List<String> java(Path folder) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx32m", "-Xrs", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.add("-XX:-UsePerfData");
    command.add("-XX:ErrorFile=" + folder.resolve("crash.log"));
    if (Runtime.version().feature() >= FIRST_WITH_NATIVE_ACCESS) {
      command.add("--enable-native-access=ALL-UNNAMED");
    }
    command.addAll(List.of("-cp", classPath(), ClickHouseProcess.class.getName()));
    command.add(file.toString());
    return command;
  }

  private static String classPath() {
    return Stream.of(ClickHouseProcess.class, Native.class)
        .map(ClickHouseLibrary::origin)
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static String origin(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    } catch (URISyntaxException e) {
      throw new MillraceException(ErrorCode.INTERNAL, "The origin of " + type + " is no path", e);
    }
  }

  private static MillraceException failed(String reason, Exception cause) {
    return new MillraceException(ErrorCode.STACK_FAILED, reason, cause);
  }
}
