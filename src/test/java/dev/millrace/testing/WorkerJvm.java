package dev.millrace.testing;

import dev.millrace.app.Main;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The JVM of a worker's process. Where the jar is built, it is started from it and the libraries
 * beside it, as users do, with the classes of its start in an archive (AppCDS): hundreds of starts
 * are most of what the tests of killed workers cost.
 */
final class WorkerJvm {
  private static final List<String> OPTIONS =
      List.of(
          "-Xmx200m",
          "-XX:+UseSerialGC",
          "-XX:TieredStopAtLevel=1",
          "-Xlog:cds*=off",
          "-XX:+UnlockDiagnosticVMOptions",
          "-XX:ArchiveRelocationMode=0");

  private WorkerJvm() {}

  /** Made by the first one that asks. */
  private static final class Shared {
    static final List<String> COMMAND = make();
  }

  /** Returns the command up to the class path. */
  static List<String> command() {
    return Shared.COMMAND;
  }

  private static List<String> make() {
    return jar().map(WorkerJvm::ofJar).orElseGet(() -> plain(ofTests()));
  }

  private static String ofTests() {
    return System.getProperty("java.class.path");
  }

  /** Returns the built jar that this JVM has its classes from; nothing between two builds. */
  private static Optional<Path> jar() {
    return Stream.of(ofTests().split(File.pathSeparator, -1))
        .map(Path::of)
        .filter(entry -> entry.endsWith("millrace.jar"))
        .filter(entry -> Files.isDirectory(entry.resolveSibling("lib")))
        .findFirst();
  }

  private static List<String> plain(String classPath) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(OPTIONS);
    command.addAll(List.of("-cp", classPath));
    return command;
  }

  private static List<String> ofJar(Path jar) {
    List<String> command = plain(classPath(jar));
    archive(jar, command).ifPresent(archive -> command.add(1, "-XX:SharedArchiveFile=" + archive));
    return command;
  }

  private static String classPath(Path jar) {
    try (Stream<Path> libraries = Files.list(jar.resolveSibling("lib"))) {
      return Stream.concat(Stream.of(jar), libraries.sorted())
          .map(Path::toString)
          .collect(Collectors.joining(File.pathSeparator));
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Makes the archive of this build and JVM, once for all forks; nothing where it can't. */
  private static Optional<Path> archive(Path jar, List<String> command) {
    Path archive = jar.resolveSibling("worker-%s.jsa".formatted(Runtime.version()));
    try (FileChannel channel =
            FileChannel.open(
                jar.resolveSibling("worker-classes.lock"),
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE);
        FileLock lock = channel.lock()) {
      boolean ofThisBuild =
          lock.isValid()
              && Files.exists(archive)
              && Files.getLastModifiedTime(archive).compareTo(Files.getLastModifiedTime(jar)) > 0;
      return ofThisBuild || makes(archive, command) ? Optional.of(archive) : Optional.empty();
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  private static boolean makes(Path archive, List<String> command) throws IOException {
    Path made = Path.of(archive + ".new");
    List<String> rehearsal = new ArrayList<>(command);
    rehearsal.add(1, "-XX:ArchiveClassesAtExit=" + made);
    rehearsal.addAll(List.of(Main.class.getName(), "rehearse"));
    try {
      new ProcessBuilder(rehearsal)
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", exception);
    }
    if (!Files.exists(made)) {
      return false;
    }
    Files.move(made, archive, StandardCopyOption.REPLACE_EXISTING);
    return true;
  }
}
