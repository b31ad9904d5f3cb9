package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The file that says that a stack is ready, and how to reach it.
 *
 * <p>Lines {@code KEY=VALUE} without quotes, so that {@code env}, {@code docker --env-file} and
 * programs read it alike; shells do, too, but for values with an {@code &}. It has mode 0600,
 * because passwords are in it, and is there as a whole or not at all. Not thread-safe.
 */
final class ReadyFile implements AutoCloseable {
  /** What a shell that sources the file would take for something else. */
  private static final Pattern UNUSABLE = Pattern.compile("[\\s\\p{Cntrl}\"'`\\\\;|<>()*\\[\\]$]");

  private final Path path;

  private ReadyFile(Path path) {
    this.path = path;
  }

  /**
   * Prepares the place: removes what an earlier stack left there.
   *
   * @throws MillraceException {@code BAD_INPUT} when the file can't be in that folder
   */
  static ReadyFile at(Path path) {
    Path absolute = path.toAbsolutePath().normalize();
    Path parent = absolute.getParent();
    if (parent == null || !Files.isDirectory(parent) || Files.isDirectory(absolute)) {
      throw new MillraceException(
          ErrorCode.BAD_INPUT,
          "--ready-file " + path + " has to be a file in a folder that exists");
    }
    ReadyFile file = new ReadyFile(absolute);
    file.close();
    return file;
  }

  /**
   * Writes the file.
   *
   * @param values what is told, in this order; a value may be empty
   * @throws MillraceException {@code BAD_INPUT} when a value has a blank or another character that
   *     would need quotes; {@code STACK_FAILED} when the file can't be written
   */
  void write(Map<String, String> values) {
    values.forEach(ReadyFile::requireUsable);
    String text =
        values.entrySet().stream()
            .map(entry -> entry.getKey() + "=" + entry.getValue() + "\n")
            .collect(Collectors.joining());
    Folders.writePrivate(path, text);
  }

  /** Checks one value before it is known whether everything starts. */
  static void requireUsable(String key, String value) {
    if (UNUSABLE.matcher(value).find()) {
      throw new MillraceException(
          ErrorCode.BAD_INPUT,
          key
              + " can't be told in the ready file, because there is a blank or a quote in "
              + value
              + "; choose a path without one");
    }
  }

  /** Removes the file; does nothing when it is not there. */
  @Override
  public void close() {
    try {
      Files.deleteIfExists(path);
    } catch (IOException e) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED, "Can't remove the ready file " + path + ": " + e, e);
    }
  }
}
