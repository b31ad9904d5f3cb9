package dev.millrace.lake;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lake in a local folder.
 *
 * <p>A staged object is the file {@code <name>.<attempt>.part} beside its later place. Publishing
 * gives that file its second name by a hard link, which never replaces a file, and then takes the
 * first one away; so in each state that a crash can leave, the inode and the attempt in an extended
 * attribute tell what happened. Thread-safe, between processes too.
 */
public final class FolderLake implements Lake {
  private static final String ATTEMPT = "millrace-attempt";
  private static final String PART = ".part";
  private static final Pattern ATTEMPT_ID = Pattern.compile("[A-Za-z0-9_-]+");
  private static final Pattern UPLOAD_ID = Pattern.compile("[A-Za-z0-9_-]+-([0-9]+)");
  private static final int LOOKS = 4;
  private static final Logger LOGGER = LoggerFactory.getLogger(FolderLake.class);

  private final FolderLakeSettings settings;
  private final Path folder;

  /**
   * Makes a lake; the folder is not touched yet.
   *
   * @param settings where the folder is
   */
  public FolderLake(FolderLakeSettings settings) {
    this.settings = settings;
    this.folder = settings.folder().toAbsolutePath().normalize();
  }

  @Override
  public String location() {
    return "file://" + folder;
  }

  @Override
  public String prefix() {
    return settings.prefix();
  }

  @Override
  public String address(String key) {
    return "file://" + target(key);
  }

  @Override
  public StagedUpload stage(String key, String attempt) {
    Path target = target(key);
    Path part = part(target, attempt);
    return call(
        "staging",
        key,
        () -> {
          createFolders(target.getParent());
          Files.createFile(part);
          mark(part, attempt);
          String uploadId = attempt + "-" + inode(part);
          FileChannel channel = FileChannel.open(part, StandardOpenOption.WRITE);
          return new FolderUpload(this, key, attempt, part, uploadId, channel);
        });
  }

  @Override
  public Publication publish(StagedObject object) {
    Path target = target(object.key());
    Path part = part(target, object.attempt());
    return call(
        "publishing",
        object.key(),
        () -> {
          for (int look = 1; look <= LOOKS; look++) {
            if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
              return seen(target, part, object);
            }
            if (!ours(part, object)) {
              // It may have been published between the two looks.
              return Files.exists(target, LinkOption.NOFOLLOW_LINKS)
                  ? seen(target, part, object)
                  : Publication.GONE;
            }
            if (Files.size(part) != object.bytes()) {
              // Nobody has seen it, and it can be written again: the safe way out.
              Files.deleteIfExists(part);
              return Publication.GONE;
            }
            link(target, part);
          }
          throw new MillraceException(
              ErrorCode.LAKE_UNAVAILABLE,
              "Lake %s: %s changes all the time. It is tried again."
                  .formatted(settings.name(), target));
        });
  }

  /** The next look tells what came of it. */
  private static void link(Path target, Path part) throws IOException {
    try {
      Files.createLink(target, part);
    } catch (FileAlreadyExistsException | NoSuchFileException e) {
      // Another attempt was faster, or has thrown the part away.
      return;
    } catch (UnsupportedOperationException e) {
      throw new IOException("the file system has no hard links", e);
    }
  }

  private Publication seen(Path target, Path part, StagedObject object) throws IOException {
    if (!ours(target, object)) {
      return Publication.TAKEN;
    }
    if (Files.size(target) != object.bytes()) {
      throw new MillraceException(
          ErrorCode.INTERNAL,
          "Lake %s: %s has %d bytes instead of %d. Remove it, then run again."
              .formatted(settings.name(), target, Files.size(target), object.bytes()));
    }
    // The new name first: after a crash the file has one name at least.
    sync(target.getParent());
    if (ours(part, object)) {
      Files.deleteIfExists(part);
      sync(target.getParent());
    }
    return Publication.PUBLISHED;
  }

  @Override
  public boolean discard(StagedObject object) {
    Path target = target(object.key());
    Path part = part(target, object.attempt());
    return call(
        "discarding",
        object.key(),
        () -> {
          if (ours(part, object)) {
            Files.deleteIfExists(part);
            sync(target.getParent());
          }
          return ours(target, object);
        });
  }

  @Override
  public void discardLeftovers(String key, Set<String> kept) {
    Path target = target(key);
    String start = target.getFileName() + ".";
    call(
        "cleaning",
        key,
        () -> {
          if (!Files.isDirectory(target.getParent())) {
            return null;
          }
          try (DirectoryStream<Path> files = Files.newDirectoryStream(target.getParent())) {
            for (Path file : files) {
              Optional<String> attempt = attempt(file.getFileName().toString(), start);
              if (attempt.isPresent() && !kept.contains(attempt.get() + "-" + inode(file))) {
                Files.deleteIfExists(file);
              }
            }
          }
          return null;
        });
  }

  private static Optional<String> attempt(String fileName, String start) {
    if (!fileName.startsWith(start) || !fileName.endsWith(PART)) {
      return Optional.empty();
    }
    int end = fileName.length() - PART.length();
    return Optional.of(fileName)
        .filter(name -> end > start.length())
        .map(name -> name.substring(start.length(), end))
        .filter(name -> ATTEMPT_ID.matcher(name).matches());
  }

  @Override
  public boolean exists(String key) {
    return Files.exists(target(key), LinkOption.NOFOLLOW_LINKS);
  }

  @Override
  public void put(String key, byte[] content) {
    Path target = target(key);
    Path part = part(target, UUID.randomUUID().toString());
    call(
        "writing",
        key,
        () -> {
          createFolders(target.getParent());
          try {
            try (FileChannel channel =
                FileChannel.open(part, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
              ByteBuffer bytes = ByteBuffer.wrap(content);
              while (bytes.hasRemaining()) {
                channel.write(bytes);
              }
              channel.force(true);
            }
            Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
          } finally {
            Files.deleteIfExists(part);
          }
          sync(target.getParent());
          return null;
        });
    // Those of writers that were killed.
    discardLeftovers(key, Set.of());
  }

  @Override
  public List<ListedObject> list(String folderKey) {
    Path wanted = target(folderKey.substring(0, folderKey.length() - 1));
    return call(
        "listing",
        folderKey,
        () -> {
          List<ListedObject> objects = new ArrayList<>();
          try (DirectoryStream<Path> files = Files.newDirectoryStream(wanted)) {
            for (Path file : files) {
              String name = file.getFileName().toString();
              if (!name.endsWith(PART) && Files.isRegularFile(file)) {
                objects.add(new ListedObject(folderKey + name, Files.size(file)));
              }
            }
          } catch (NoSuchFileException e) {
            return List.of();
          }
          objects.sort(Comparator.comparing(ListedObject::key));
          return List.copyOf(objects);
        });
  }

  @Override
  public byte[] read(String key, long offset, int length) {
    Path target = target(key);
    return reading(
        key,
        () -> {
          ByteBuffer bytes = ByteBuffer.allocate(length);
          try (FileChannel channel = FileChannel.open(target, StandardOpenOption.READ)) {
            while (bytes.hasRemaining()) {
              if (channel.read(bytes, offset + bytes.position()) < 0) {
                throw new MillraceException(
                    ErrorCode.LAKE_REFUSED,
                    "Lake %s: %s is shorter than %d bytes; it is not what was written."
                        .formatted(settings.name(), target, offset + length));
              }
            }
          }
          return bytes.array();
        });
  }

  @Override
  public InputStream open(String key) {
    Path target = target(key);
    return reading(key, () -> Files.newInputStream(target));
  }

  private <T> T reading(String key, Step<T> work) {
    return call(
        "reading",
        key,
        () -> {
          try {
            return work.run();
          } catch (NoSuchFileException e) {
            throw new MillraceException(
                ErrorCode.LAKE_REFUSED,
                "Lake %s: there is no %s. It was removed; look who has the right to do that."
                    .formatted(settings.name(), e.getFile()),
                e);
          }
        });
  }

  @Override
  public void probe() {
    String id = UUID.randomUUID().toString();
    String key = prefix() + "_millrace_probe/" + id;
    try (StagedUpload upload = stage(key, id)) {
      upload.write(ByteBuffer.wrap(new byte[1]));
      publish(upload.finish());
    }
    call(
        "removing",
        key,
        () -> {
          Files.deleteIfExists(target(key));
          String[] others = target(key).getParent().toFile().list();
          if (others != null && others.length == 0) {
            Files.deleteIfExists(target(key).getParent());
          }
          return null;
        });
  }

  @Override
  public void close() {}

  private Path target(String key) {
    try {
      Path relative = Path.of(key);
      Path target = folder.resolve(relative).normalize();
      boolean plain =
          !key.isEmpty()
              && !key.endsWith("/")
              && !relative.isAbsolute()
              && target.equals(folder.resolve(relative))
              && target.startsWith(folder);
      if (plain) {
        return target;
      }
    } catch (InvalidPathException e) {
      throw outside(key, e);
    }
    throw outside(key, null);
  }

  private MillraceException outside(String key, InvalidPathException cause) {
    return new MillraceException(
        ErrorCode.LAKE_REFUSED,
        "Lake %s: the key %s is no path inside the folder %s. Correct the prefix of the lake."
            .formatted(settings.name(), key, folder),
        cause);
  }

  private static Path part(Path target, String attempt) {
    if (!ATTEMPT_ID.matcher(attempt).matches()) {
      throw new IllegalArgumentException("Not the id of an attempt: " + attempt);
    }
    return target.resolveSibling(target.getFileName() + "." + attempt + PART);
  }

  /** The inode alone is not enough: a file system gives the number of a removed file again. */
  private static boolean ours(Path file, StagedObject object) throws IOException {
    Matcher uploadId = UPLOAD_ID.matcher(object.uploadId());
    if (!uploadId.matches()) {
      throw new IllegalArgumentException("Not the id of an upload: " + object.uploadId());
    }
    try {
      return inode(file) == Long.parseLong(uploadId.group(1))
          && marked(file).map(object.attempt()::equals).orElse(true);
    } catch (NoSuchFileException e) {
      return false;
    }
  }

  private static long inode(Path file) throws IOException {
    return (Long) Files.getAttribute(file, "unix:ino", LinkOption.NOFOLLOW_LINKS);
  }

  private static void mark(Path file, String attempt) {
    try {
      attributes(file).write(ATTEMPT, ByteBuffer.wrap(attempt.getBytes(StandardCharsets.UTF_8)));
    } catch (IOException e) {
      // Not each file system has extended attributes; the inode has to do there.
      LOGGER.debug("{} has no extended attributes: {}", file, e.toString());
    }
  }

  private static Optional<String> marked(Path file) {
    try {
      ByteBuffer value = ByteBuffer.allocate(attributes(file).size(ATTEMPT));
      attributes(file).read(ATTEMPT, value);
      return Optional.of(new String(value.array(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static UserDefinedFileAttributeView attributes(Path file) throws IOException {
    UserDefinedFileAttributeView view =
        Files.getFileAttributeView(
            file, UserDefinedFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
    if (view == null) {
      throw new IOException("no extended attributes");
    }
    return view;
  }

  private static void createFolders(Path wanted) throws IOException {
    if (Files.isDirectory(wanted)) {
      return;
    }
    createFolders(wanted.getParent());
    try {
      Files.createDirectory(wanted);
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(wanted)) {
        throw e;
      }
    }
    sync(wanted.getParent());
  }

  /** Makes the names in a folder durable. */
  private static void sync(Path folder) throws IOException {
    try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Translates the failures of the file system. */
  <T> T call(String step, String key, Step<T> work) {
    try {
      return work.run();
    } catch (AccessDeniedException e) {
      throw new MillraceException(
          ErrorCode.LAKE_REFUSED,
          "Lake %s: %s %s failed, access denied: %s. Give the worker's user the right to write there."
              .formatted(settings.name(), step, key, e.getFile()),
          e);
    } catch (IOException e) {
      throw new MillraceException(
          ErrorCode.LAKE_UNAVAILABLE,
          "Lake %s: %s %s in the folder %s failed: %s. It is tried again; check the folder and its free space."
              .formatted(settings.name(), step, key, folder, e),
          e);
    }
  }

  /** One step on files. */
  interface Step<T> {
    T run() throws IOException;
  }
}
