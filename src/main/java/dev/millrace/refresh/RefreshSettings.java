package dev.millrace.refresh;

import dev.millrace.clickhouse.ClickHouse;
import dev.millrace.failure.Points;
import dev.millrace.postgres.Postgres;
import dev.millrace.run.Admission;
import dev.millrace.run.Configured;
import dev.millrace.run.StateAtStart;
import java.util.List;
import java.util.Map;

/**
 * What the worker's configuration gives to the activities of refreshes.
 *
 * @param state where Millrace keeps its own memory
 * @param sources Postgres connections by name, each with the way in which ClickHouse reaches it
 * @param clickHouses ClickHouse connections by name
 * @param approvers who may decide; empty for anybody
 * @param admission limits of the configuration, and what the namespace has
 * @param points where tests stop the process
 */
public record RefreshSettings(
    Postgres state,
    Map<String, Source> sources,
    Map<String, ClickHouse> clickHouses,
    List<String> approvers,
    Admission admission,
    Points points) {

  /**
   * A Postgres connection.
   *
   * @param postgres as the worker reaches it
   * @param seen as a ClickHouse server reaches it
   */
  public record Source(Postgres postgres, PostgresSeen seen) {}

  public RefreshSettings {
    sources = Map.copyOf(sources);
    clickHouses = Map.copyOf(clickHouses);
    approvers = List.copyOf(approvers);
  }

  /** Makes the schemas of the state where they are missing. */
  public void prepareState() {
    StateAtStart.ensure(state, RefreshState::ensure);
  }

  Source source(RefreshInput input) {
    return Configured.named(sources, input.source(), "source", "postgres");
  }

  ClickHouse clickHouse(RefreshInput input) {
    return Configured.named(clickHouses, input.clickhouse(), "clickhouse", "clickhouse");
  }
}
