package dev.millrace.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TableTtlTest {

  @Test
  void aTableWithoutTtlRemovesNothing() {
    assertThat(TableTtl.removing("MergeTree ORDER BY id SETTINGS index_granularity = 8192"))
        .isEmpty();
    assertThat(TableTtl.removing("MergeTree ORDER BY (id, ' TTL ')")).isEmpty();
    assertThat(TableTtl.removing("MergeTree ORDER BY ` TTL `")).isEmpty();
    assertThat(TableTtl.removing("")).isEmpty();
  }

  @Test
  void partsThatMoveOrPackRowsKeepThem() {
    assertThat(
            TableTtl.removing(
                "MergeTree ORDER BY id TTL ts + toIntervalDay(1) TO DISK 'cold', ts + toIntervalDay(2)"
                    + " TO VOLUME 'v', ts RECOMPRESS CODEC(ZSTD(17)) SETTINGS index_granularity = 8192"))
        .isEmpty();
  }

  @Test
  void aPartWithoutAnActionDeletes() {
    assertThat(
            TableTtl.removing(
                "MergeTree ORDER BY id TTL ts + toIntervalDay(1), ts TO DISK 'cold' SETTINGS ttl_only_drop_parts = 1"))
        .containsExactly("ts + toIntervalDay(1)");
    assertThat(
            TableTtl.removing(
                "MergeTree ORDER BY id TTL ts WHERE name = 'a, TO DISK', if(a, b, ts) DELETE"))
        .containsExactly("ts WHERE name = 'a, TO DISK'", "if(a, b, ts) DELETE");
  }

  @Test
  void aPartThatAggregatesRemovesRows() {
    assertThat(TableTtl.removing("MergeTree ORDER BY id TTL ts GROUP BY id SET n = sum(n)"))
        .hasSize(1);
  }
}
