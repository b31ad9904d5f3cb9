package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The folder of one running stack, which no second one can use at the same time.
 *
 * <p>The lock is the operating system's: it ends with this JVM, however that ends. Thread-safe.
 */
final class DataDirectory implements AutoCloseable {
  /** What would need an escape in the configuration, in a reference {@code ${file:…}} or in SQL. */
  private static final Pattern UNUSABLE = Pattern.compile("[\\p{Cntrl}\"'\\\\{}$]");

  private final Path path;
  private final boolean temporary;
  private final FileChannel channel;

  private DataDirectory(Path path, boolean temporary, FileChannel channel) {
    this.path = path;
    this.temporary = temporary;
    this.channel = channel;
  }

  /**
   * Opens the folder; without one, a temporary folder that {@link #close} removes.
   *
   * @throws MillraceException {@code STACK_FAILED} when another stack uses it, or it can't be made;
   *     {@code BAD_INPUT} when its path has characters that can't be written everywhere
   */
  static DataDirectory open(Optional<Path> given) {
    try {
      Path path = given.isPresent() ? create(given.get()) : Files.createTempDirectory("millrace-");
      if (UNUSABLE.matcher(path.toString()).find()) {
        throw new MillraceException(
            ErrorCode.BAD_INPUT,
            "The data folder "
                + path
                + " has a quote, backslash, brace or dollar sign in its path;"
                + " choose another one with --data-dir");
      }
      return new DataDirectory(path.toRealPath(), given.isEmpty(), lock(path.resolve("lock")));
    } catch (IOException e) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED, "Can't use the data folder " + given.orElse(null) + ": " + e, e);
    }
  }

  /** Returns the folder: absolute, without symbolic links. */
  Path path() {
    return path;
  }

  /** Returns whether {@link #close} removes the folder. */
  boolean temporary() {
    return temporary;
  }

  /** Gives the folder free for another stack, or removes it when it is temporary. */
  @Override
  public void close() {
    if (temporary) {
      Folders.delete(path);
    }
    try {
      channel.close();
    } catch (IOException e) {
      throw new MillraceException(ErrorCode.STACK_FAILED, "Can't unlock " + path + ": " + e, e);
    }
  }

  private static Path create(Path given) throws IOException {
    Path path = given.toAbsolutePath().normalize();
    if (!Files.exists(path)) {
      Folders.create(path);
      // Rows of tables are in there. A folder that was there keeps its mode.
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
    }
    return path;
  }

  private static FileChannel lock(Path file) throws IOException {
    FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    if (tryLock(channel)) {
      channel.truncate(0);
      String pid = ProcessHandle.current().pid() + "\n";
      channel.write(ByteBuffer.wrap(pid.getBytes(StandardCharsets.US_ASCII)));
      return channel;
    }
    channel.close();
    throw new MillraceException(
        ErrorCode.STACK_FAILED,
        "Another stack (process "
            + Folders.read(file)
            + ") uses the data folder "
            + file.getParent()
            + "; end it, or choose another folder with --data-dir");
  }

  private static boolean tryLock(FileChannel channel) throws IOException {
    try {
      FileLock lock = channel.tryLock();
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }
}
