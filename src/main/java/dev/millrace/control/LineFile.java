package dev.millrace.control;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.FileLockInterruptionException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A file of lines that only grows, each line durable before its append returns.
 *
 * <p>Whatever ends an append half-way, the file ends with a whole line again after the next one: a
 * failed append cuts off what it wrote, and an append after a crash cuts off what that left.
 * Thread-safe, also between processes that append through this class.
 *
 * <p>A process has one lock of a file in the eyes of the others, and loses it when it closes any of
 * its descriptors of that file. So whoever opens or closes the file in this process does it under
 * {@link #LOCKS}, as {@link LineReader} does.
 */
final class LineFile implements AutoCloseable {
  static final PathLocks LOCKS = new PathLocks();

  private static final Logger LOG = LoggerFactory.getLogger(LineFile.class);
  private static final long UNKNOWN = -1;

  /** How long a file is taken to be where it was; a look costs as much as writing the line. */
  private static final Duration LOOK = Duration.ofSeconds(1);

  private final Path path;
  private final Path key;

  // All below are guarded by the path's lock.
  private FileChannel channel;
  private RandomAccessFile reader;
  private Object identity;
  private long looked;
  private boolean closed;

  /** Where the last append ended; while the file is as long, its end needs no look. */
  private long end = UNKNOWN;

  /** Where the lines were going when an interrupt closed the channel. */
  private long attempted = UNKNOWN;

  private LineFile(Path path) {
    this.path = path;
    this.key = key(path);
  }

  /**
   * Makes the folder where it is missing; the file is made by the first append.
   *
   * @throws MillraceException with {@code WAL_UNWRITABLE} when the folder can't be made
   */
  static LineFile open(Path path) {
    try {
      createFolders(path.getParent());
    } catch (IOException exception) {
      throw failure("made", path.getParent(), exception);
    }
    return new LineFile(path);
  }

  /** Returns the one name under which the path's lock is known. */
  static Path key(Path path) {
    Path absolute = path.toAbsolutePath().normalize();
    try {
      return absolute.getParent().toRealPath().resolve(absolute.getFileName());
    } catch (IOException exception) {
      return absolute; // Nobody has it open in a folder that can't be read.
    }
  }

  /** Returns the error that tells of a file which could not be used. */
  static MillraceException failure(String action, Path path, IOException cause) {
    return new MillraceException(
        ErrorCode.WAL_UNWRITABLE,
        "%s can't be %s: %s; make room or correct the rights of the folder, and try again"
            .formatted(path, action, text(cause)),
        cause);
  }

  /**
   * Appends lines; they are durable on return. An interrupt is kept for later.
   *
   * @param lines one or more, each with its line feed
   * @throws MillraceException with {@code WAL_UNWRITABLE}; the file is then as it was before,
   *     except for a torn line that is cut off
   */
  void append(byte[] lines) {
    // A channel closes itself under an interrupted thread.
    boolean interrupted = Thread.interrupted();
    LOCKS.lock(key);
    try {
      if (closed) {
        throw new IllegalStateException(path + " was closed");
      }
      attempted = UNKNOWN;
      while (!appended(lines)) {
        interrupted |= Thread.interrupted();
      }
    } catch (IOException exception) {
      throw failure("written", path, exception);
    } finally {
      LOCKS.unlock(key);
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public void close() {
    LOCKS.lock(key);
    try {
      closed = true;
      closeFile();
    } catch (IOException exception) {
      LOG.warn("closing {} failed; what was appended is durable", path, exception);
    } finally {
      LOCKS.unlock(key);
    }
  }

  /** Returns false when the file has to be opened again first. */
  private boolean appended(byte[] lines) throws IOException {
    FileLock lock = null;
    try {
      openFile();
      lock = channel.lock();
      if (!isAtItsPath()) {
        closeFile();
        return false;
      }
      appendLocked(lines, channel.size());
      return true;
    } catch (ClosedByInterruptException | FileLockInterruptionException exception) {
      return false;
    } finally {
      if (lock != null && lock.isValid()) {
        lock.release();
      }
    }
  }

  private void appendLocked(byte[] lines, long size) throws IOException {
    if (size == 0) {
      // Before the first line: a file with lines is one whose name is durable.
      syncFolders();
    }
    if (attempted != UNKNOWN && Arrays.equals(lines, read(attempted, lines.length))) {
      channel.force(false);
      end = attempted + lines.length;
      return;
    }
    long border = size == end ? size : cutTornLine(size);
    end = UNKNOWN;
    attempted = border;
    write(lines, border);
    end = border + lines.length;
  }

  private void write(byte[] lines, long border) throws IOException {
    try {
      ByteBuffer buffer = ByteBuffer.wrap(lines);
      while (buffer.hasRemaining()) {
        // After a short write, the next one tells the cause.
        channel.write(buffer);
      }
      // fdatasync: the length goes with the data, the times need not; Postgres' log does the same.
      channel.force(false);
    } catch (ClosedByInterruptException exception) {
      throw exception;
    } catch (IOException exception) {
      restore(border, exception);
      throw exception;
    }
  }

  private void restore(long border, IOException cause) {
    try {
      channel.truncate(border);
      channel.force(false);
    } catch (IOException exception) {
      cause.addSuppressed(exception);
    }
  }

  /** Returns where the last whole line ends, which is where the file ends then. */
  private long cutTornLine(long size) throws IOException {
    long border = LineReader.lastBorder(reader(), size);
    if (border < size) {
      LOG.warn("{} bytes of a torn line are cut off {} at {}", size - border, path, border);
      channel.truncate(border);
    }
    return border;
  }

  private byte[] read(long position, int length) throws IOException {
    RandomAccessFile file = reader();
    file.seek(position);
    byte[] bytes = new byte[length];
    int count = 0;
    while (count < length) {
      int more = file.read(bytes, count, length - count);
      if (more < 0) {
        return Arrays.copyOf(bytes, count);
      }
      count += more;
    }
    return bytes;
  }

  /** Stays open as long as the channel, whose lock it would take away. */
  private RandomAccessFile reader() throws IOException {
    if (reader == null) {
      reader = new RandomAccessFile(path.toFile(), "r");
    }
    return reader;
  }

  private void openFile() throws IOException {
    if (channel != null && channel.isOpen()) {
      return;
    }
    closeFile();
    createFolders(path.getParent());
    channel =
        FileChannel.open(
            path,
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-r--r--")));
  }

  private void closeFile() throws IOException {
    end = UNKNOWN;
    identity = null;
    try {
      if (reader != null) {
        reader.close();
      }
    } finally {
      reader = null;
      if (channel != null) {
        channel.close();
        channel = null;
      }
    }
  }

  /** Somebody may have removed the file since it was opened; lines in it would be lost. */
  private boolean isAtItsPath() throws IOException {
    long now = System.nanoTime();
    if (identity != null && now - looked < LOOK.toNanos()) {
      return true;
    }
    try {
      Object fileKey = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
      // Not before: after a look that failed, the next line must not go unseen.
      looked = now;
      if (identity == null) {
        identity = fileKey;
      }
      return identity.equals(fileKey);
    } catch (NoSuchFileException exception) {
      return false;
    }
  }

  private void syncFolders() throws IOException {
    Path folder = path.toAbsolutePath().getParent();
    sync(folder);
    if (folder.getParent() != null && Files.isReadable(folder.getParent())) {
      sync(folder.getParent());
    }
  }

  private static void createFolders(Path folder) throws IOException {
    if (Files.isDirectory(folder)) {
      return;
    }
    Path there = folder.toAbsolutePath();
    while (there.getParent() != null && !Files.exists(there)) {
      there = there.getParent();
    }
    Files.createDirectories(folder);
    for (Path made = folder.toAbsolutePath(); !made.equals(there); made = made.getParent()) {
      sync(made.getParent());
    }
  }

  /** An interrupt is kept for later. */
  private static void sync(Path folder) throws IOException {
    boolean interrupted = Thread.interrupted();
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    } catch (ClosedByInterruptException exception) {
      sync(folder);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** The text of a file system's exceptions is often no more than the path. */
  private static String text(IOException cause) {
    if (cause instanceof AccessDeniedException) {
      return "permission denied";
    }
    if (cause instanceof NoSuchFileException) {
      return "no such file or folder";
    }
    if (cause instanceof FileAlreadyExistsException) {
      return "a file is in the way";
    }
    return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
  }
}
