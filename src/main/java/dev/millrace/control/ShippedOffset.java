package dev.millrace.control;

import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far a log is shipped: a decimal number of bytes in {@code <log>.off}.
 *
 * <p>It only saves work, for shipping a line again changes nothing. So a wrong one counts as 0, and
 * it is not synced: after a loss of power it may be an older one or empty. Stateless.
 */
final class ShippedOffset {
  private static final Logger LOG = LoggerFactory.getLogger(ShippedOffset.class);
  private static final Pattern DECIMAL = Pattern.compile("[0-9]{1,18}");
  private static final int MOST_BYTES = 64;
  private static final String TEMPORARY = ".tmp";

  /** Replacing takes milliseconds; what is older was left by a crash. */
  private static final Duration STALE = Duration.ofMinutes(1);

  private ShippedOffset() {}

  /**
   * Reads the offset.
   *
   * @return 0 when it is missing, no number, past the log's end or not between two lines
   * @throws dev.millrace.failure.MillraceException with {@code WAL_UNWRITABLE} when it can't be
   *     read
   */
  static long read(WalFile file) {
    String text = text(file.offsetPath());
    return text == null ? 0 : checked(file, text);
  }

  /**
   * Reads the offset and replaces a wrong one at once: once the log has grown, it could pass for a
   * right one.
   */
  static long mend(WalFile file) {
    String text = text(file.offsetPath());
    if (text == null) {
      return 0;
    }
    long offset = checked(file, text);
    if (offset == 0 && !text.equals("0")) {
      LOG.warn(
          "{} holds '{}', which is no offset of a line of its log; the log is shipped from its start",
          file.offsetPath(),
          Poison.shown(text));
      write(file, 0);
    }
    return offset;
  }

  /** Replaces the offset; a crash leaves the old or the new one. */
  static void write(WalFile file, long offset) {
    Path target = file.offsetPath();
    Path temporary =
        target.resolveSibling(
            "%s.%016x%s"
                .formatted(
                    target.getFileName(), UUID.randomUUID().getMostSignificantBits(), TEMPORARY));
    try {
      try (OutputStream stream = new FileOutputStream(temporary.toFile())) {
        stream.write(Long.toString(offset).getBytes(StandardCharsets.US_ASCII));
      }
      Files.move(temporary, target, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException exception) {
      delete(temporary, exception);
      throw LineFile.failure("replaced", target, exception);
    }
  }

  /** Deletes what crashes in the middle of a replacement left, Python's too. */
  static void tidy(WalFile file) {
    Path target = file.offsetPath();
    String prefix = target.getFileName() + ".";
    Instant limit = Instant.now().minus(STALE);
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(target.getParent())) {
      for (Path path : stream) {
        String name = path.getFileName().toString();
        if (name.startsWith(prefix)
            && (name.endsWith(TEMPORARY) || name.equals(prefix + "tmp"))
            && Files.getLastModifiedTime(path).toInstant().isBefore(limit)) {
          Files.deleteIfExists(path);
        }
      }
    } catch (IOException exception) {
      LOG.warn("what a crash left beside {} stays", target, exception);
    }
  }

  private static long checked(WalFile file, String text) {
    if (!DECIMAL.matcher(text).matches()) {
      return 0;
    }
    long offset = Long.parseLong(text);
    try (LineReader reader = LineReader.open(file.path())) {
      return reader.isBorder(offset) ? offset : 0;
    }
  }

  /** Returns null when there is no such file. */
  private static String text(Path path) {
    try (InputStream stream = new FileInputStream(path.toFile())) {
      return new String(stream.readNBytes(MOST_BYTES), StandardCharsets.ISO_8859_1).strip();
    } catch (FileNotFoundException exception) {
      if (Files.notExists(path)) {
        return null;
      }
      throw LineFile.failure("read", path, exception);
    } catch (IOException exception) {
      throw LineFile.failure("read", path, exception);
    }
  }

  private static void delete(Path temporary, IOException cause) {
    try {
      Files.deleteIfExists(temporary);
    } catch (IOException exception) {
      cause.addSuppressed(exception);
    }
  }
}
