package dev.millrace.clickhouse;

/**
 * A table engine by name.
 *
 * @param name as in system.tables
 * @param kind what it means for a copy
 * @param replicated whether replicas share it over Keeper; not so for the Shared engines, whose
 *     replicas have one storage
 */
record TargetEngine(String name, Kind kind, boolean replicated) {
  private static final String REPLICATED = "Replicated";
  private static final String SHARED = "Shared";

  enum Kind {
    MERGE_TREE,
    REPLACING,
    OTHER_MERGE_TREE,
    VIEW,
    DICTIONARY,
    DISTRIBUTED,
    OTHER
  }

  static TargetEngine of(String name) {
    boolean replicated = name.startsWith(REPLICATED);
    String base =
        replicated
            ? name.substring(REPLICATED.length())
            : name.startsWith(SHARED) ? name.substring(SHARED.length()) : name;
    return new TargetEngine(name, kind(base), replicated);
  }

  private static Kind kind(String base) {
    return switch (base) {
      case "MergeTree" -> Kind.MERGE_TREE;
      case "ReplacingMergeTree" -> Kind.REPLACING;
      case "Dictionary" -> Kind.DICTIONARY;
      case "Distributed" -> Kind.DISTRIBUTED;
      default -> {
        if (base.endsWith("MergeTree")) {
          yield Kind.OTHER_MERGE_TREE;
        }
        yield base.endsWith("View") ? Kind.VIEW : Kind.OTHER;
      }
    };
  }
}
