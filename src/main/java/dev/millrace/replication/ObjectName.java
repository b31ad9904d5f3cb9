package dev.millrace.replication;

import dev.millrace.postgres.TableName;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Where a table's objects are: {@code <prefix><schema>/<table>/<yyyyMMdd_HHmmss>.parquet}. */
public final class ObjectName {
  /** What objects end in. */
  public static final String SUFFIX = ".parquet";

  private static final DateTimeFormatter SECOND =
      DateTimeFormatter.ofPattern("uuuuMMdd_HHmmss").withZone(ZoneOffset.UTC);

  private ObjectName() {}

  /** Returns the folder of a table, ending in a slash. Two tables never have the same. */
  public static String folder(String prefix, TableName table) {
    return prefix + encoded(table.schema()) + "/" + encoded(table.table()) + "/";
  }

  /**
   * Returns the key of an object.
   *
   * @param folder from {@link #folder}
   * @param instant the run's instant, or a later second where its name is taken; in UTC
   */
  public static String key(String folder, Instant instant) {
    return folder + SECOND.format(instant) + SUFFIX;
  }

  /** Returns the folder of the manifests of a table's objects; readers of Parquet ignore it. */
  public static String manifests(String folder) {
    return folder + "_manifest/";
  }

  /**
   * Returns the key of an object's manifest.
   *
   * @param key of the object, from {@link #key}
   */
  public static String manifest(String key) {
    int name = key.lastIndexOf('/') + 1;
    return manifests(key.substring(0, name))
        + key.substring(name, key.length() - SUFFIX.length())
        + ".json";
  }

  /**
   * Percent-encodes all but letters, digits, {@code _} and {@code -}, so that names with slashes,
   * dots or percent signs stay apart (RFC 3986, section 2.1).
   */
  private static String encoded(String name) {
    StringBuilder encoded = new StringBuilder(name.length());
    for (byte octet : name.getBytes(StandardCharsets.UTF_8)) {
      boolean plain =
          (octet >= 'a' && octet <= 'z')
              || (octet >= 'A' && octet <= 'Z')
              || (octet >= '0' && octet <= '9')
              || octet == '_'
              || octet == '-';
      if (plain) {
        encoded.append((char) octet);
      } else {
        encoded.append('%').append("%02X".formatted(octet));
      }
    }
    return encoded.toString();
  }
}
