package dev.millrace.control;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The place of a run's write-ahead log: {@code <folder>/<extractor>/<run id>.jsonl}.
 *
 * @param folder that of all logs
 * @param extractor whose run it is
 * @param runId the run
 */
public record WalFile(Path folder, String extractor, String runId) {
  private static final Logger LOG = LoggerFactory.getLogger(WalFile.class);
  private static final String SUFFIX = ".jsonl";

  /** A file's name has at most 255 bytes, and the names of the files beside a log are longer. */
  private static final int MOST_BYTES = 220;

  private static final Comparator<WalFile> BY_RUN =
      Comparator.comparing(WalFile::runId).thenComparing(WalFile::extractor);

  /**
   * Checks that both names are names of files. Nothing is looked up or made.
   *
   * @throws MillraceException with {@code BAD_INPUT} when they aren't
   */
  public WalFile {
    check("extractor", extractor);
    check("run_id", runId);
    try {
      path(folder, extractor, runId);
    } catch (InvalidPathException exception) {
      throw new MillraceException(
          ErrorCode.BAD_INPUT,
          "the log of run %s of %s has a name that this process can't write; start it with LC_ALL=C.UTF-8"
              .formatted(runId, extractor),
          exception);
    }
  }

  /** Returns the log itself. */
  public Path path() {
    return path(folder, extractor, runId);
  }

  /** Returns whether the log is there. */
  public boolean exists() {
    return Files.exists(path());
  }

  /**
   * Returns when the log was appended to last.
   *
   * @throws MillraceException with {@code WAL_UNWRITABLE} when nobody can tell
   */
  public Instant changedAt() {
    try {
      return Files.getLastModifiedTime(path()).toInstant();
    } catch (IOException exception) {
      throw LineFile.failure("looked at", path(), exception);
    }
  }

  /** Returns the file that says how far the log is shipped. */
  Path offsetPath() {
    return beside(".off");
  }

  /** Returns the file that lists the lines which can't be shipped. */
  Path rejectedPath() {
    return beside(".rejected");
  }

  /**
   * Lists all logs under a folder; other files are left out.
   *
   * @param walFolder none is there when it is missing
   * @return sorted by run
   * @throws MillraceException with {@code WAL_UNWRITABLE} when a folder can't be read
   */
  public static List<WalFile> in(Path walFolder) {
    List<WalFile> files = new ArrayList<>();
    for (Path folder : list(walFolder)) {
      String extractor = folder.getFileName().toString();
      if (flaw(extractor).isEmpty() && Files.isDirectory(folder)) {
        files.addAll(logs(walFolder, extractor, folder));
      }
    }
    files.sort(BY_RUN);
    return files;
  }

  /**
   * Lists the logs of an extractor; other files are left out.
   *
   * @return sorted by run
   * @throws MillraceException with {@code BAD_INPUT} when the extractor can't be a file's name,
   *     with {@code WAL_UNWRITABLE} when its folder can't be read
   */
  public static List<WalFile> of(Path walFolder, String extractor) {
    check("extractor", extractor);
    List<WalFile> files = logs(walFolder, extractor, walFolder.resolve(extractor));
    files.sort(BY_RUN);
    return files;
  }

  private static List<WalFile> logs(Path walFolder, String extractor, Path folder) {
    List<WalFile> files = new ArrayList<>();
    for (Path path : list(folder)) {
      String name = path.getFileName().toString();
      if (!name.endsWith(SUFFIX)) {
        continue;
      }
      String runId = name.substring(0, name.length() - SUFFIX.length());
      if (flaw(runId).isPresent() || !Files.isRegularFile(path)) {
        continue;
      }
      // A name in bytes that the process's character set lacks comes back as another name.
      if (Files.isRegularFile(path(walFolder, extractor, runId))) {
        files.add(new WalFile(walFolder, extractor, runId));
      } else {
        LOG.warn(
            "{} is left out: this process can't write its name; start it with LC_ALL=C.UTF-8",
            path);
      }
    }
    return files;
  }

  /** Never by a pattern: an extractor's name may have a pattern's characters. */
  private static List<Path> list(Path folder) {
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
      List<Path> paths = new ArrayList<>();
      stream.forEach(paths::add);
      return paths;
    } catch (NoSuchFileException exception) {
      return List.of();
    } catch (DirectoryIteratorException exception) {
      throw LineFile.failure("listed", folder, exception.getCause());
    } catch (IOException exception) {
      throw LineFile.failure("listed", folder, exception);
    }
  }

  private static void check(String key, String name) {
    flaw(name)
        .ifPresent(
            flaw -> {
              throw new MillraceException(
                  ErrorCode.BAD_INPUT,
                  "%s '%s' %s, so it can't name the file of a log; take another one"
                      .formatted(key, Poison.shown(String.valueOf(name)), flaw));
            });
  }

  private static Optional<String> flaw(String name) {
    if (name == null || name.isEmpty()) {
      return Optional.of("is empty");
    }
    if (name.length() > WalFormat.LONGEST_NAME
        || name.getBytes(StandardCharsets.UTF_8).length > MOST_BYTES) {
      return Optional.of(
          "has more than %d characters, or more than %d bytes"
              .formatted(WalFormat.LONGEST_NAME, MOST_BYTES));
    }
    if (name.startsWith(".")) {
      return Optional.of("starts with a dot");
    }
    if (name.indexOf('/') >= 0) {
      return Optional.of("has a slash");
    }
    return Poison.in(name);
  }

  private static Path path(Path folder, String extractor, String runId) {
    return folder.resolve(extractor).resolve(runId + SUFFIX);
  }

  private Path beside(String suffix) {
    Path path = path();
    return path.resolveSibling(path.getFileName() + suffix);
  }
}
