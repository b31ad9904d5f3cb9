package dev.millrace.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class CatalogueIT {
  private static TestDatabase database;
  private static ClickHouse clickhouse;

  @BeforeAll
  static void makeDatabase() {
    database = TestDatabase.create();
    clickhouse = database.clickhouse();
  }

  @AfterAll
  static void dropDatabase() {
    database.close();
  }

  @Test
  void aTableIsToldWithItsEngineAndColumns() {
    TargetTable table = database.table("told");
    database.run(
        """
        CREATE TABLE %s (id UInt64, `odd ``name` LowCardinality(Nullable(String)), at DateTime,
            v Decimal(12, 2) DEFAULT 1.5, m UInt64 MATERIALIZED id + 1, a UInt64 ALIAS id,
            e String EPHEMERAL, old String TTL at + INTERVAL 1 DAY)
        ENGINE = ReplacingMergeTree(at) ORDER BY (id, at) PRIMARY KEY id
        TTL at + INTERVAL 1 YEAR DELETE WHERE id > 3 COMMENT 'it''s'"""
            .formatted(table.sql()));

    TableFacts facts = Catalogue.table(clickhouse, table).orElseThrow();

    assertThat(facts.uuid()).isNotEqualTo(new UUID(0, 0));
    assertThat(facts.engine()).isEqualTo("ReplacingMergeTree");
    assertThat(facts.sortingKey()).isEqualTo("id, at");
    assertThat(facts.primaryKey()).isEqualTo("id");
    assertThat(facts.comment()).isEqualTo("it's");
    assertThat(TableTtl.removing(facts.engineFull()))
        .containsExactly("at + toIntervalYear(1) WHERE id > 3");
    assertThat(Catalogue.columns(clickhouse, table))
        .containsExactly(
            new TargetColumn("id", "UInt64", TargetColumn.Kind.ORDINARY, "", 1),
            new TargetColumn(
                "odd `name", "LowCardinality(Nullable(String))", TargetColumn.Kind.ORDINARY, "", 2),
            new TargetColumn("at", "DateTime", TargetColumn.Kind.ORDINARY, "", 3),
            new TargetColumn("v", "Decimal(12, 2)", TargetColumn.Kind.DEFAULT, "1.5", 4),
            new TargetColumn("m", "UInt64", TargetColumn.Kind.MATERIALIZED, "id + 1", 5),
            new TargetColumn("a", "UInt64", TargetColumn.Kind.ALIAS, "id", 6),
            new TargetColumn(
                "e", "String", TargetColumn.Kind.EPHEMERAL, "defaultValueOfTypeName('String')", 7),
            new TargetColumn("old", "String", TargetColumn.Kind.ORDINARY, "", 8));
  }

  @Test
  void aTableOfTheRightKindIsAccepted() {
    TargetTable table = database.create("right", "id UInt64");

    assertThat(TargetVerdict.of(TargetFacts.read(clickhouse, table, null), "id")).isEmpty();
  }

  @Test
  void eachWrongKindIsRefused() {
    TargetTable table = database.create("base", "id UInt64");
    TargetTable view = database.table("a_view");
    TargetTable materialized = database.table("a_mv");
    TargetTable dictionary = database.table("a_dictionary");
    TargetTable distributed = database.table("a_distributed");
    database.run("CREATE VIEW %s AS SELECT * FROM %s".formatted(view.sql(), table.sql()));
    database.run(
        "CREATE MATERIALIZED VIEW %s ENGINE = MergeTree ORDER BY id AS SELECT * FROM %s"
            .formatted(materialized.sql(), table.sql()));
    dictionary(dictionary, table);
    database.run(
        "CREATE TABLE %s AS %s ENGINE = Merge(currentDatabase(), 'base')"
            .formatted(distributed.sql(), table.sql()));

    for (TargetTable wrong : List.of(view, materialized, dictionary, distributed)) {
      assertThat(TargetVerdict.of(TargetFacts.read(clickhouse, wrong, null), "id"))
          .as(wrong.table())
          .hasSize(1);
    }
    assertThat(
            TargetVerdict.of(TargetFacts.read(clickhouse, database.table("nowhere"), null), "id"))
        .hasSize(1);
    assertThat(
            TargetVerdict.of(
                TargetFacts.read(clickhouse, new TargetTable("nowhere", "t"), null), "id"))
        .hasSize(1);
    assertThat(
            TargetVerdict.of(
                TargetFacts.read(clickhouse, new TargetTable("system", "one"), null), "id"))
        .hasSize(1);
  }

  private static void dictionary(TargetTable name, TargetTable source) {
    database.run(
        "CREATE DICTIONARY %s (id UInt64) PRIMARY KEY id SOURCE(CLICKHOUSE(DB '%s' TABLE '%s')) LAYOUT(FLAT()) LIFETIME(0)"
            .formatted(name.sql(), source.database(), source.table()));
  }

  @Test
  void whatHangsOnATableIsFound() {
    TargetTable table = database.create("hung", "id UInt64");
    TargetTable other = database.create("other", "id UInt64");
    database.run(
        "CREATE MATERIALIZED VIEW %s TO %s AS SELECT id FROM %s"
            .formatted(database.table("reads").sql(), other.sql(), table.sql()));
    database.run(
        "CREATE MATERIALIZED VIEW %s TO %s AS SELECT id FROM %s"
            .formatted(database.table("feeds").sql(), table.sql(), other.sql()));
    dictionary(database.table("d_hung"), table);

    Dependants dependants = Catalogue.dependants(clickhouse, table);

    assertThat(dependants.readingViews().names())
        .containsExactly(database.table("reads").toString());
    assertThat(dependants.feedingViews().names())
        .containsExactly(database.table("feeds").toString());
    assertThat(dependants.dictionaries().names())
        .containsExactly(database.table("d_hung").toString());
    assertThat(dependants.readingViews().complete()).isTrue();
  }

  @Test
  void aFeedingViewIsKnownByItsTarget() {
    TargetTable table = new TargetTable("d", "t o");

    assertThat(Catalogue.feeds("CREATE MATERIALIZED VIEW x.v TO d.`t o` (`id` UInt64) AS …", table))
        .isTrue();
    assertThat(Catalogue.feeds("CREATE MATERIALIZED VIEW d.v TO d.t (`id` UInt64) AS …", table))
        .isFalse();
    assertThat(Catalogue.feeds("CREATE VIEW x.v AS SELECT * FROM d.`t o`", table)).isFalse();
  }
}
