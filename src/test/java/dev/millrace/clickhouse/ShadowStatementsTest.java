package dev.millrace.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.clickhouse.Replicas.Replica;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What would be sent to servers that are not here; {@code ShadowTablesIT} has it parsed by one. */
class ShadowStatementsTest {
  private static final TargetTable LIVE = new TargetTable("analytics", "products");
  private static final ShadowNames NAMES = new ShadowNames(LIVE);
  private static final TargetTable LOAD = NAMES.load("0123456789ab");
  private static final UUID ID = UUID.fromString("11111111-2222-4333-8444-555555555555");

  private static TableFacts facts(String engineFull) {
    String engine = engineFull.split("[ (]", 2)[0];
    return new TableFacts(new UUID(1, 1), engine, engineFull, "id", "id", "");
  }

  private static ShadowStatements on(String databaseEngine, String cluster) {
    return new ShadowStatements(LIVE, databaseEngine, cluster);
  }

  @Test
  void aPlainTableIsMadeLikeTheLiveOne() {
    assertThat(on("Atomic", null).create(facts("MergeTree ORDER BY id"), LOAD, ID))
        .isEqualTo(
            "CREATE TABLE `analytics`.`products__load_0123456789ab` AS `analytics`.`products`");
  }

  @Test
  void aReplicatedTableInAnAtomicDatabaseGetsItsOwnUuidAndPath() {
    String literal =
        "ReplicatedReplacingMergeTree('/ch/products', '{replica}', ver) PARTITION BY toYYYYMM(at) ORDER BY id SETTINGS index_granularity = 1024";

    assertThat(on("Atomic", "all").create(facts(literal), LOAD, ID))
        .isEqualTo(
            "CREATE TABLE `analytics`.`products__load_0123456789ab` UUID '11111111-2222-4333-8444-555555555555'"
                + " ON CLUSTER `all` AS `analytics`.`products` ENGINE ="
                + " ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', ver)"
                + " PARTITION BY toYYYYMM(at) ORDER BY id SETTINGS index_granularity = 1024");
    assertThat(
            on("Atomic", null)
                .create(
                    facts("ReplicatedMergeTree('/x/{uuid}', '{replica}') ORDER BY id"), LOAD, ID))
        .isEqualTo(
            "CREATE TABLE `analytics`.`products__load_0123456789ab` UUID '11111111-2222-4333-8444-555555555555'"
                + " AS `analytics`.`products`");
    assertThat(ShadowStatements.engineWithOwnPath("ReplicatedMergeTree ORDER BY (id, 'x')"))
        .isEmpty();
    assertThat(ShadowStatements.engineWithOwnPath("ReplicatedReplacingMergeTree(ver) ORDER BY id"))
        .isEmpty();
  }

  /** Case 52. */
  @Test
  void aReplicatedDatabaseSpreadsStatementsItself() {
    ShadowStatements statements = on("Replicated", "all");

    assertThat(statements.create(facts("ReplicatedMergeTree('/p', 'r') ORDER BY id"), LOAD, ID))
        .isEqualTo(
            "CREATE TABLE `analytics`.`products__load_0123456789ab` AS `analytics`.`products`");
    assertThat(
            List.of(
                statements.rename(LOAD, NAMES.shadow()),
                statements.exchange(LIVE, LOAD),
                statements.drop(LOAD),
                statements.createTiny(LOAD),
                statements.syncReplica(LIVE)))
        .noneMatch(sql -> sql.contains("ON CLUSTER"));
    assertThat(on("Shared", "all").exchange(LIVE, LOAD)).doesNotContain("ON CLUSTER");
  }

  /** Case 51. */
  @Test
  void inAnAtomicDatabaseEachStatementReachesTheWholeCluster() {
    ShadowStatements statements = on("Atomic", "all");

    assertThat(statements.rename(LOAD, NAMES.shadow()))
        .isEqualTo(
            "RENAME TABLE `analytics`.`products__load_0123456789ab` TO `analytics`.`products__refresh` ON CLUSTER `all`");
    assertThat(statements.exchange(LIVE, NAMES.swap("0123456789ab")))
        .isEqualTo(
            "EXCHANGE TABLES `analytics`.`products` AND `analytics`.`products__swap_0123456789ab` ON CLUSTER `all`");
    assertThat(statements.drop(LOAD))
        .isEqualTo(
            "DROP TABLE IF EXISTS `analytics`.`products__load_0123456789ab` ON CLUSTER `all` SYNC");
    assertThat(statements.syncReplica(LIVE))
        .isEqualTo("SYSTEM SYNC REPLICA ON CLUSTER `all` `analytics`.`products`");
  }

  @Test
  void eachReplicaIsLookedAt() {
    assertThat(on("Atomic", null).checkedCluster()).isEmpty();
    assertThat(on("Atomic", "all").checkedCluster()).contains("all");
    assertThat(on("Replicated", null).checkedCluster()).contains("analytics");
    assertThat(on("Atomic", "all").replicaUuids("all", LIVE))
        .isEqualTo(
            "SELECT concat(hostName(), ':', toString(tcpPort())), uuid FROM clusterAllReplicas('all', system.tables)"
                + " WHERE database = 'analytics' AND name = 'products'");
    assertThat(on("Atomic", "all").replicaRows("all", LIVE))
        .isEqualTo(
            "SELECT concat(hostName(), ':', toString(tcpPort())) AS host, count()"
                + " FROM clusterAllReplicas('all', `analytics`.`products`) GROUP BY host");
  }

  @Test
  void aReplicaThatIsBehindOrHasAnotherTableDiffers() {
    Replica right = new Replica("a:9000", ID, 5);
    Replica behind = new Replica("b:9000", ID, 4);
    Replica other = new Replica("c:9000", new UUID(0, 0), 5);

    assertThat(Replicas.differing(List.of(right, behind, other), ID, 5))
        .containsExactly(behind, other);
    assertThat(Replicas.differing(List.of(right), ID, 5)).isEmpty();
  }

  @Test
  void namesBelongToOneTarget() {
    assertThat(NAMES.shadow().table()).isEqualTo("products__refresh");
    assertThat(NAMES.back("0123456789ab").table()).isEqualTo("products__back_0123456789ab");
    assertThat(NAMES.all().matcher("products").matches()).isTrue();
    assertThat(NAMES.all().matcher("products__refresh").matches()).isTrue();
    assertThat(NAMES.all().matcher("products__swap_0123456789ab").matches()).isTrue();
    assertThat(NAMES.all().matcher("products2__swap_0123456789ab").matches()).isFalse();
    assertThat(NAMES.all().matcher("products__swap_0123456789a").matches()).isFalse();
    assertThat(NAMES.drop("0123456789ab", "a")).isNotEqualTo(NAMES.drop("0123456789ab", "b"));
    assertThatThrownBy(() -> NAMES.load("0123456789AB"))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void namesOfTablesBesideALiveOneAreReserved() {
    assertThat(List.of("t__refresh", "t__load_0123456789ab", "t__back_0123456789ab"))
        .allMatch(name -> ShadowNames.RESERVED.matcher(name).matches());
    assertThat(List.of("t", "t_refresh", "t__load_x", "t__refresh2"))
        .noneMatch(name -> ShadowNames.RESERVED.matcher(name).matches());
  }
}
