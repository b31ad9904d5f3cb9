package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Redactor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;

/** Folders and private files of the stack. Stateless. */
final class Folders {
  private static final int SECRET_BYTES = 20;

  private Folders() {}

  /**
   * Returns where downloaded and unpacked programs are kept, shared by all stacks of this user.
   *
   * @param environment {@code MILLRACE_CACHE} names it; without it {@code ~/.cache/millrace}
   */
  static Path cache(Map<String, String> environment) {
    String given = environment.getOrDefault("MILLRACE_CACHE", "");
    Path folder =
        given.isEmpty()
            ? Path.of(System.getProperty("user.home"), ".cache", "millrace")
            : Path.of(given);
    return create(folder.toAbsolutePath().normalize());
  }

  /**
   * Makes a folder with its parents where it is missing.
   *
   * @throws MillraceException {@code STACK_FAILED} when that is not possible
   */
  static Path create(Path folder) {
    try {
      return Files.createDirectories(folder);
    } catch (IOException e) {
      throw failed("make the folder", folder, e);
    }
  }

  /**
   * Writes a file that only its owner can read, as a whole or not at all.
   *
   * @throws MillraceException {@code STACK_FAILED} when it can't be written
   */
  static void writePrivate(Path file, String text) {
    Path parent = file.toAbsolutePath().getParent();
    try {
      // Files made by createTempFile have mode 0600 from the start.
      Path written = Files.createTempFile(parent, "." + file.getFileName() + "-", ".new");
      try {
        Files.setPosixFilePermissions(written, PosixFilePermissions.fromString("rw-------"));
        Files.writeString(written, text, StandardCharsets.UTF_8);
        Files.move(written, file, StandardCopyOption.ATOMIC_MOVE);
      } finally {
        Files.deleteIfExists(written);
      }
    } catch (IOException e) {
      throw failed("write the file", file, e);
    }
  }

  /**
   * Returns the secret in a file of mode 0600; the first call makes it.
   *
   * @throws MillraceException {@code STACK_FAILED} when the file can't be read or written
   */
  static String secret(Path file) {
    if (!Files.exists(file)) {
      byte[] secret = new byte[SECRET_BYTES];
      new SecureRandom().nextBytes(secret);
      writePrivate(file, HexFormat.of().formatHex(secret));
    }
    String secret = read(file);
    Redactor.register(secret);
    return secret;
  }

  /**
   * Reads a small file.
   *
   * @throws MillraceException {@code STACK_FAILED} when it can't be read
   */
  static String read(Path file) {
    try {
      return Files.readString(file, StandardCharsets.UTF_8).strip();
    } catch (IOException e) {
      throw failed("read the file", file, e);
    }
  }

  /**
   * Removes a folder with all that is in it; does nothing when it is not there.
   *
   * @throws MillraceException {@code STACK_FAILED} when something of it stays
   */
  static void delete(Path folder) {
    try {
      Files.walkFileTree(
          folder,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                throws IOException {
              Files.deleteIfExists(file);
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure)
                throws IOException {
              if (failure instanceof NoSuchFileException) {
                return FileVisitResult.CONTINUE;
              }
              throw failure;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, IOException failure)
                throws IOException {
              Files.deleteIfExists(visited);
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException e) {
      throw failed("remove the folder", folder, e);
    }
  }

  private static MillraceException failed(String action, Path path, IOException cause) {
    return new MillraceException(
        ErrorCode.STACK_FAILED, "Can't " + action + " " + path + ": " + cause, cause);
  }
}
