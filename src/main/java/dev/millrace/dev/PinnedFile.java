package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.stream.Stream;

/** A file that a package manager brought, of which only one content is accepted. Stateless. */
final class PinnedFile {
  private PinnedFile() {}

  /**
   * Finds the one file that was brought, and checks it.
   *
   * @param manager who brought it, for messages
   * @param folder where it is
   * @param suffix how its name ends
   * @param sha256 the only digest that is accepted, in lower-case hexadecimal
   * @return the file
   * @throws MillraceException {@code STACK_FAILED} when it is missing or another one
   * @throws IOException when it can't be read
   */
  static Path require(String manager, Path folder, String suffix, String sha256)
      throws IOException {
    Path file = find(manager, folder, suffix);
    String sum = sha256(file);
    if (sum.equals(sha256)) {
      return file;
    }
    throw new MillraceException(
        ErrorCode.STACK_FAILED,
        manager
            + " brought a "
            + file.getFileName()
            + " with SHA-256 "
            + sum
            + " and not the expected "
            + sha256);
  }

  private static Path find(String manager, Path folder, String suffix) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> file.toString().endsWith(suffix))
          .findFirst()
          .orElseThrow(
              () ->
                  new MillraceException(
                      ErrorCode.STACK_FAILED,
                      manager + " ended well but brought no file that ends in " + suffix));
    }
  }

  private static String sha256(Path file) throws IOException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      try (InputStream stream = new DigestInputStream(Files.newInputStream(file), digest)) {
        stream.transferTo(OutputStream.nullOutputStream());
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new MillraceException(ErrorCode.INTERNAL, "This JVM has no SHA-256", e);
    }
  }
}
