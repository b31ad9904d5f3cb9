package dev.millrace.verify;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.Lake;
import dev.millrace.lake.ListedObject;
import dev.millrace.parquet.ParquetFile;
import dev.millrace.replication.Manifest;
import dev.millrace.replication.ObjectName;
import dev.millrace.verify.Finding.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/** A table's folder in a lake, as it is read back. Thread-safe. */
final class TableFolder {
  /** Requests at a time: each is small, and most of its time is the way. */
  private static final int LANES = 8;

  private static final int LARGEST_MANIFEST = 16 << 20;
  private static final String JSON = ".json";

  private final Lake lake;
  private final String folder;

  TableFolder(Lake lake, String folder) {
    this.lake = lake;
    this.folder = folder;
  }

  /**
   * What a look has found.
   *
   * @param objects keys and sizes
   * @param manifests their texts, by the key of the object that they lie beside
   */
  record Listing(List<ListedObject> objects, Map<String, byte[]> manifests) {

    /**
     * Returns the same without an object and its manifest.
     *
     * @param key of the object; null for none
     */
    Listing without(String key) {
      Map<String, byte[]> others = new TreeMap<>(manifests);
      if (key != null) {
        others.remove(key);
      }
      return new Listing(
          objects.stream().filter(object -> !object.key().equals(key)).toList(), others);
    }
  }

  /** Returns the folder as people write it. */
  String address() {
    return lake.address(folder.substring(0, folder.length() - 1)) + "/";
  }

  /** Lists objects and reads all manifests. */
  Listing list() {
    List<ListedObject> objects =
        lake.list(folder).stream()
            .filter(object -> object.key().endsWith(ObjectName.SUFFIX))
            .toList();
    List<ListedObject> listed =
        lake.list(ObjectName.manifests(folder)).stream()
            .filter(object -> object.key().endsWith(JSON))
            .toList();
    List<byte[]> texts = inLanes(listed, this::text);
    Map<String, byte[]> manifests = new TreeMap<>();
    for (int i = 0; i < listed.size(); i++) {
      manifests.put(objectOf(listed.get(i).key()), texts.get(i));
    }
    return new Listing(objects, manifests);
  }

  /** Returns the key of the object that a manifest lies beside. */
  private String objectOf(String manifest) {
    String name = manifest.substring(ObjectName.manifests(folder).length());
    return folder + name.substring(0, name.length() - JSON.length()) + ObjectName.SUFFIX;
  }

  private byte[] text(ListedObject object) {
    if (object.bytes() == 0 || object.bytes() > LARGEST_MANIFEST) {
      return new byte[0];
    }
    return lake.read(object.key(), 0, (int) object.bytes());
  }

  /** Reads manifests; those that are none become findings. */
  static Map<String, Manifest> manifests(Listing listing, List<Finding> findings) {
    Map<String, Manifest> manifests = new TreeMap<>();
    List<String> unreadable = new ArrayList<>();
    listing
        .manifests()
        .forEach(
            (key, text) -> {
              try {
                Manifest manifest = Manifest.read(text);
                if (manifest.object().equals(key)) {
                  manifests.put(key, manifest);
                } else {
                  unreadable.add("%s: it is about %s".formatted(key, manifest.object()));
                }
              } catch (IllegalArgumentException exception) {
                unreadable.add("%s: %s".formatted(key, exception.getMessage()));
              }
            });
    if (!unreadable.isEmpty()) {
      findings.add(
          Finding.of(
              Kind.MANIFEST_UNREADABLE,
              "%,d manifests are not what Millrace wrote",
              unreadable.size(),
              unreadable,
              "put them back from a backup or an older version in the bucket"));
    }
    return manifests;
  }

  /** Reads the footers of objects; those that have none become findings. */
  List<LakeObject> objects(
      Listing listing, Map<String, Manifest> manifests, List<Finding> findings) {
    List<String> unreadable = new ArrayList<>();
    List<Object> footers = inLanes(listing.objects(), this::footer);
    List<LakeObject> objects = new ArrayList<>();
    for (int i = 0; i < footers.size(); i++) {
      ListedObject listed = listing.objects().get(i);
      ParquetFile.Footer footer = null;
      if (footers.get(i) instanceof ParquetFile.Footer read) {
        footer = read;
      } else {
        unreadable.add("%s: %s".formatted(listed.key(), footers.get(i)));
      }
      objects.add(new LakeObject(listed, manifests.get(listed.key()), footer));
    }
    if (!unreadable.isEmpty()) {
      findings.add(unreadable(unreadable));
    }
    return objects;
  }

  static Finding unreadable(List<String> examples) {
    return Finding.of(
        Kind.OBJECT_UNREADABLE,
        "%,d objects can't be read as Parquet",
        examples.size(),
        examples,
        "put them back from a backup or an older version in the bucket, or load all again (millrace state reset) into an empty folder");
  }

  /** Returns the footer, or why there is none. */
  private Object footer(ListedObject object) {
    try {
      return ParquetFile.footer(
          object.bytes(), (offset, length) -> lake.read(object.key(), offset, length));
    } catch (IOException exception) {
      if (exception.getCause() instanceof MillraceException lakeFailure) {
        throw lakeFailure;
      }
      return String.valueOf(exception.getMessage());
    }
  }

  /**
   * Copies an object to a file.
   *
   * @return the SHA-256 of its bytes, in hexadecimal digits
   * @throws MillraceException with the lake's codes
   */
  String download(String key, Path file) {
    try (InputStream in = lake.open(key);
        DigestOutputStream out =
            new DigestOutputStream(Files.newOutputStream(file), RowHash.sha256())) {
      in.transferTo(out);
      return HexFormat.of().formatHex(out.getMessageDigest().digest());
    } catch (IOException exception) {
      throw new MillraceException(
          ErrorCode.LAKE_UNAVAILABLE,
          "reading %s into %s failed: %s; check the network, and the space left there"
              .formatted(lake.address(key), file.getParent(), exception),
          exception);
    }
  }

  private static <T, R> List<R> inLanes(List<T> items, Function<T, R> work) {
    ExecutorService lanes = Executors.newFixedThreadPool(LANES);
    try {
      List<Future<R>> running = new ArrayList<>();
      for (T item : items) {
        running.add(lanes.submit(() -> work.apply(item)));
      }
      List<R> results = new ArrayList<>();
      for (Future<R> one : running) {
        results.add(one.get());
      }
      return results;
    } catch (ExecutionException exception) {
      if (exception.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException(exception.getCause());
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
      throw new MillraceException(ErrorCode.CANCELLED, "the look was interrupted", exception);
    } finally {
      lanes.shutdownNow();
    }
  }
}
