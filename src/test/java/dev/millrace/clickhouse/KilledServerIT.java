package dev.millrace.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.dev.ClickHouseServer;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.testing.Await;
import dev.millrace.testing.TestClickHouse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that dies in the middle of a statement. */
class KilledServerIT {

  @Test
  void whatBecameOfAStatementOfADeadServerIsNotKnown(@TempDir Path folder)
      throws InterruptedException, ExecutionException, TimeoutException {
    try (TestClickHouse test = TestClickHouse.start(folder);
        ClickHouse clickhouse = new ClickHouse(settings(test.server()))) {
      clickhouse.execute(
          "CREATE TABLE analytics.t (n UInt64) ENGINE = MergeTree ORDER BY tuple()",
          TestDatabase.id(),
          TestDatabase.MINUTE);
      String queryId = TestDatabase.id();
      CompletableFuture<Throwable> insert =
          CompletableFuture.runAsync(
                  () ->
                      clickhouse.execute(
                          "INSERT INTO analytics.t SELECT number + sleepEachRow(0.1) FROM numbers(600) SETTINGS max_block_size = 1",
                          queryId,
                          TestDatabase.MINUTE))
              .handle((done, failure) -> failure);
      Await.until("the insert runs", () -> clickhouse.running(queryId).isPresent());

      test.kill();
      test.restart();

      Throwable failure = insert.get(2, TimeUnit.MINUTES).getCause();
      assertThat(failure)
          .isInstanceOfSatisfying(
              MillraceException.class,
              e -> assertThat(e.code()).isEqualTo(ErrorCode.CLICKHOUSE_UNAVAILABLE))
          .hasMessageContaining(queryId)
          .hasMessageContaining("not known");
      assertThat(clickhouse.query("SELECT count() FROM analytics.t", row -> row.number(1)))
          .hasSize(1);
    }
  }

  private static ClickHouseSettings settings(ClickHouseServer server) {
    return new ClickHouseSettings(
        "killed",
        server.host(),
        server.httpPort(),
        false,
        server.user(),
        server.password(),
        Duration.ofSeconds(5),
        Duration.ofSeconds(60),
        Duration.ofMinutes(2));
  }
}
