package dev.millrace.clickhouse;

import dev.millrace.failure.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The rule by which a table can be rebuilt beside itself and swapped. Pure. */
public final class TargetVerdict {
  private static final Set<String> DATABASE_ENGINES = Set.of("Atomic", "Replicated", "Shared");

  private TargetVerdict() {}

  /**
   * Why a target is refused.
   *
   * @param code {@code TARGET_MISSING}, {@code TARGET_UNSUPPORTED} or {@code ENGINE_UNSUPPORTED}
   * @param message names the target, the cause and the way out
   */
  public record Refusal(ErrorCode code, String message) {}

  /**
   * Judges a target.
   *
   * @param primaryKey the column by which rows are told apart
   * @return all that speaks against it; empty when nothing does
   */
  public static List<Refusal> of(TargetFacts facts, String primaryKey) {
    if (facts.databaseEngine().isEmpty()) {
      return List.of(
          missing(
              "Database %s does not exist, or user %s may not see it; create it, or grant SHOW"
                      .formatted(facts.target().database(), facts.user())
                  + " DATABASES on it"));
    }
    String databaseEngine = facts.databaseEngine().get();
    if (!DATABASE_ENGINES.contains(databaseEngine)) {
      return List.of(
          new Refusal(
              ErrorCode.ENGINE_UNSUPPORTED,
              ("Database %s uses engine '%s', not Atomic, Replicated or Shared. EXCHANGE TABLES"
                      + " cannot run there; move the table into an Atomic database")
                  .formatted(facts.target().database(), databaseEngine)));
    }
    if (facts.table().isEmpty()) {
      return List.of(
          missing(
              ("Table %s does not exist, or user %s may not see it; create it as readers are to see"
                      + " it, or grant SHOW TABLES and SELECT on it")
                  .formatted(facts.target(), facts.user())));
    }
    return ofTable(facts, databaseEngine, facts.table().get(), primaryKey);
  }

  private static Refusal missing(String message) {
    return new Refusal(ErrorCode.TARGET_MISSING, message);
  }

  private static List<Refusal> ofTable(
      TargetFacts facts, String databaseEngine, TableFacts table, String primaryKey) {
    TargetEngine engine = TargetEngine.of(table.engine());
    List<Refusal> refusals = new ArrayList<>();
    Optional<String> kind = kind(engine, table, primaryKey);
    kind.ifPresent(reason -> refusals.add(unsupported(facts, reason)));
    if (kind.isPresent()) {
      return refusals;
    }
    ttl(table).ifPresent(reason -> refusals.add(unsupported(facts, reason)));
    policies(facts).ifPresent(reason -> refusals.add(unsupported(facts, reason)));
    replicas(facts, databaseEngine, engine)
        .ifPresent(reason -> refusals.add(unsupported(facts, reason)));
    return refusals;
  }

  private static Refusal unsupported(TargetFacts facts, String reason) {
    return new Refusal(
        ErrorCode.TARGET_UNSUPPORTED, "Table %s %s".formatted(facts.target(), reason));
  }

  private static Optional<String> kind(TargetEngine engine, TableFacts table, String primaryKey) {
    return switch (engine.kind()) {
      case MERGE_TREE -> Optional.empty();
      case REPLACING ->
          keys(table.sortingKey()).contains(primaryKey)
              ? Optional.empty()
              : Optional.of(
                  ("is a %s whose sorting key (%s) lacks %s, so it drops rows that differ in %s;"
                          + " add it to ORDER BY, or use MergeTree")
                      .formatted(engine.name(), table.sortingKey(), primaryKey, primaryKey));
      case OTHER_MERGE_TREE ->
          Optional.of(
              ("is a %s, which merges rows, so it is no copy of the source; use MergeTree, or"
                      + " ReplacingMergeTree ordered by the primary key")
                  .formatted(engine.name()));
      case VIEW ->
          Optional.of("is a %s, not a table; name the table below it".formatted(engine.name()));
      case DICTIONARY ->
          Optional.of(
              "is a dictionary; refresh the table that it reads, and name it in"
                  + " reload_dictionaries");
      case DISTRIBUTED ->
          Optional.of(
              "is Distributed and holds no rows itself; refresh the local table below it, with"
                  + " cluster when that one is replicated");
      case OTHER ->
          Optional.of(
              ("has engine %s; only MergeTree and ReplacingMergeTree, plain, Replicated or Shared,"
                      + " can be refreshed")
                  .formatted(engine.name()));
    };
  }

  /** Returns the expressions of a sorting key without quotes and direction. */
  private static List<String> keys(String sortingKey) {
    return ClickHouseType.split(sortingKey).stream()
        .map(key -> key.replaceFirst("(?i) (ASC|DESC)$", ""))
        .map(key -> key.startsWith("`") ? ClickHouseType.unquoted(key) : key)
        .toList();
  }

  private static Optional<String> ttl(TableFacts table) {
    List<String> removing = TableTtl.removing(table.engineFull());
    return removing.isEmpty()
        ? Optional.empty()
        : Optional.of(
            ("has a TTL that removes rows (%s), so it never stays equal to the source; remove it"
                    + " (ALTER TABLE … REMOVE TTL), or filter when reading")
                .formatted(String.join(", ", removing)));
  }

  private static Optional<String> policies(TargetFacts facts) {
    return facts.policies().names().isEmpty()
        ? Optional.empty()
        : Optional.of(
            "hides rows from user %s by row policy %s, so it can't be audited; exempt the user"
                .formatted(facts.user(), String.join(", ", facts.policies().names())));
  }

  private static Optional<String> replicas(
      TargetFacts facts, String databaseEngine, TargetEngine engine) {
    if (!databaseEngine.equals("Atomic")) {
      return Optional.empty();
    }
    if (!engine.replicated()) {
      return facts.cluster() == null
          ? Optional.empty()
          : Optional.of(
              ("is not replicated, so on other hosts of cluster %s the swap would publish an empty"
                      + " table; leave cluster out")
                  .formatted(facts.cluster()));
    }
    if (facts.cluster() != null || facts.replicas().orElse(0) == 1) {
      return Optional.empty();
    }
    return Optional.of(
        ("is replicated in an Atomic database, where a swap reaches one replica only, and has %s"
                + " replicas; name the cluster of all of them as cluster")
            .formatted(
                facts.replicas().isPresent()
                    ? Integer.toString(facts.replicas().getAsInt())
                    : "an unknown number of"));
  }
}
