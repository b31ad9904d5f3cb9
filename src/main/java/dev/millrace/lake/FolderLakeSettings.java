package dev.millrace.lake;

import java.nio.file.Path;
import java.util.Objects;

/**
 * Where a local lake is.
 *
 * @param name the lake's name in the configuration
 * @param folder the folder that holds all keys; made when it is missing
 * @param prefix what each key starts with, empty or ending in a slash (added when it is missing)
 */
public record FolderLakeSettings(String name, Path folder, String prefix) {

  /** Completes the prefix. */
  public FolderLakeSettings {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(folder, "folder");
    prefix = prefix.isEmpty() || prefix.endsWith("/") ? prefix : prefix + "/";
  }
}
