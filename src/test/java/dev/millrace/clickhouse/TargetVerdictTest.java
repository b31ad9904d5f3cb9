package dev.millrace.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.failure.ErrorCode;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TargetVerdictTest {
  private static final TargetTable TARGET = new TargetTable("analytics", "products");

  private static TableFacts table(String engine, String engineFull, String sortingKey) {
    return new TableFacts(new UUID(1, 1), engine, engineFull, sortingKey, sortingKey, "");
  }

  private static TargetFacts facts(
      String databaseEngine, TableFacts table, OptionalInt replicas, String cluster) {
    return new TargetFacts(
        TARGET,
        "millrace",
        Optional.ofNullable(databaseEngine),
        Optional.ofNullable(table),
        Seen.all(List.of()),
        replicas,
        cluster);
  }

  private static TargetFacts ofEngine(String engine, String sortingKey) {
    return facts("Atomic", table(engine, engine, sortingKey), OptionalInt.of(1), null);
  }

  private static List<TargetVerdict.Refusal> verdict(TargetFacts facts) {
    return TargetVerdict.of(facts, "id");
  }

  @ParameterizedTest
  @CsvSource({
    "Atomic, MergeTree, name",
    "Atomic, ReplacingMergeTree, id",
    "Atomic, ReplacingMergeTree, 'lower(name), `id` DESC'",
    "Atomic, ReplicatedMergeTree, id",
    "Replicated, ReplicatedReplacingMergeTree, 'id, name'",
    "Shared, SharedMergeTree, id",
    "Shared, SharedReplacingMergeTree, id"
  })
  void mergeTreesCanBeRefreshed(String databaseEngine, String engine, String sortingKey) {
    assertThat(
            verdict(
                facts(databaseEngine, table(engine, engine, sortingKey), OptionalInt.of(1), null)))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"Ordinary", "Memory", "Lazy", "Overlay", "MaterializedPostgreSQL"})
  void databasesThatCanNotExchangeAreRefused(String engine) {
    assertThat(verdict(facts(engine, table("MergeTree", "MergeTree", ""), OptionalInt.of(1), null)))
        .singleElement()
        .satisfies(
            refusal -> {
              assertThat(refusal.code()).isEqualTo(ErrorCode.ENGINE_UNSUPPORTED);
              assertThat(refusal.message()).contains("analytics", "'" + engine + "'", "Atomic");
            });
  }

  @Test
  void whatIsNotThereIsMissing() {
    assertThat(verdict(facts(null, null, OptionalInt.empty(), null)))
        .extracting(TargetVerdict.Refusal::code)
        .containsExactly(ErrorCode.TARGET_MISSING);
    assertThat(verdict(facts("Atomic", null, OptionalInt.empty(), null)))
        .singleElement()
        .satisfies(
            refusal -> {
              assertThat(refusal.code()).isEqualTo(ErrorCode.TARGET_MISSING);
              assertThat(refusal.message()).contains("analytics.products");
            });
  }

  @ParameterizedTest
  @CsvSource({
    "SummingMergeTree, merges rows",
    "ReplicatedAggregatingMergeTree, merges rows",
    "VersionedCollapsingMergeTree, merges rows",
    "View, not a table",
    "MaterializedView, not a table",
    "Dictionary, reload_dictionaries",
    "Distributed, local table",
    "Memory, only MergeTree",
    "PostgreSQL, only MergeTree"
  })
  void otherKindsAreRefusedWithWhatToDo(String engine, String way) {
    assertThat(verdict(ofEngine(engine, "id")))
        .singleElement()
        .satisfies(
            refusal -> {
              assertThat(refusal.code()).isEqualTo(ErrorCode.TARGET_UNSUPPORTED);
              assertThat(refusal.message()).contains("analytics.products", way);
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {"name", "", "identity", "toString(id)", "(id, name)"})
  void aReplacingTableThatMayDropRowsIsRefused(String sortingKey) {
    assertThat(verdict(ofEngine("ReplacingMergeTree", sortingKey)))
        .singleElement()
        .satisfies(refusal -> assertThat(refusal.message()).contains("lacks id"));
  }

  @Test
  void rowsThatGoByThemselvesAreRefused() {
    TableFacts table = table("MergeTree", "MergeTree ORDER BY id TTL ts + toIntervalDay(1)", "id");

    assertThat(verdict(facts("Atomic", table, OptionalInt.of(1), null)))
        .singleElement()
        .satisfies(refusal -> assertThat(refusal.message()).contains("ts + toIntervalDay(1)"));
  }

  @Test
  void aPolicyOnTheUserIsRefusedAndOneThatCanNotBeSeenIsNot() {
    TargetFacts plain = ofEngine("MergeTree", "id");
    TargetFacts hiding =
        new TargetFacts(
            TARGET,
            "millrace",
            plain.databaseEngine(),
            plain.table(),
            Seen.all(List.of("own ON analytics.products")),
            plain.replicas(),
            null);
    TargetFacts unknown =
        new TargetFacts(
            TARGET,
            "millrace",
            plain.databaseEngine(),
            plain.table(),
            new Seen(List.of(), "no right"),
            plain.replicas(),
            null);

    assertThat(verdict(hiding))
        .singleElement()
        .satisfies(
            refusal ->
                assertThat(refusal.message()).contains("own ON analytics.products", "millrace"));
    assertThat(verdict(unknown)).isEmpty();
  }

  @Test
  void replicasAreOnlySwappedTogether() {
    TableFacts replicated = table("ReplicatedMergeTree", "ReplicatedMergeTree", "id");
    TableFacts plain = table("MergeTree", "MergeTree", "id");

    assertThat(verdict(facts("Atomic", replicated, OptionalInt.of(2), "all"))).isEmpty();
    assertThat(verdict(facts("Replicated", replicated, OptionalInt.of(2), null))).isEmpty();
    assertThat(verdict(facts("Replicated", replicated, OptionalInt.of(2), "all"))).isEmpty();
    assertThat(verdict(facts("Atomic", replicated, OptionalInt.of(2), null)))
        .singleElement()
        .satisfies(refusal -> assertThat(refusal.message()).contains("2 replicas", "cluster"));
    assertThat(verdict(facts("Atomic", replicated, OptionalInt.empty(), null)))
        .singleElement()
        .satisfies(refusal -> assertThat(refusal.message()).contains("unknown number"));
    assertThat(verdict(facts("Atomic", plain, OptionalInt.empty(), "all")))
        .singleElement()
        .satisfies(refusal -> assertThat(refusal.message()).contains("leave cluster out"));
  }
}
