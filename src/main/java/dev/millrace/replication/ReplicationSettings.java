package dev.millrace.replication;

import dev.millrace.failure.Points;
import dev.millrace.lake.Lake;
import dev.millrace.notify.Slack;
import dev.millrace.parquet.FileFormat;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.RowFilter;
import dev.millrace.postgres.TableName;
import dev.millrace.run.Admission;
import dev.millrace.run.Configured;
import dev.millrace.run.StateAtStart;
import java.util.Map;
import java.util.Optional;

/**
 * What the worker's configuration gives to the activities.
 *
 * @param state where Millrace keeps its own memory
 * @param demoSource the connection on which demo mode makes its rows; not the pool of the state,
 *     which must stay free while rows are read
 * @param sources Postgres connections by name
 * @param filters which rows of tables are read, by the connection's name; all of others
 * @param lakes lakes by name
 * @param formats how files for a lake are written, by its name; the default format for others
 * @param demoLake where demo mode writes
 * @param slack where alerts go
 * @param allowDemo whether demo mode may run
 * @param admission limits of the configuration, and what the namespace has
 * @param points where tests stop the process
 */
public record ReplicationSettings(
    Postgres state,
    Postgres demoSource,
    Map<String, Postgres> sources,
    Map<String, Map<TableName, RowFilter>> filters,
    Map<String, Lake> lakes,
    Map<String, FileFormat> formats,
    Lake demoLake,
    Optional<Slack> slack,
    boolean allowDemo,
    Admission admission,
    Points points) {
  public ReplicationSettings {
    sources = Map.copyOf(sources);
    filters = Map.copyOf(filters);
    lakes = Map.copyOf(lakes);
    formats = Map.copyOf(formats);
  }

  /** Makes the schemas of the state where they are missing. */
  public void prepareState() {
    StateAtStart.ensure(state, ReplicationState::ensure);
  }

  Postgres source(TableTask task) {
    return task.demo()
        ? demoSource
        : Configured.named(sources, task.source(), "source", "postgres");
  }

  /** Returns which rows of a task's table are read; never null. */
  RowFilter filter(TableTask task) {
    return task.demo()
        ? RowFilter.NONE
        : filters
            .getOrDefault(task.source(), Map.of())
            .getOrDefault(task.table().name(), RowFilter.NONE);
  }

  FileFormat format(TableTask task) {
    return task.demo() ? FileFormat.DEFAULT : formats.getOrDefault(task.lake(), FileFormat.DEFAULT);
  }

  Lake lake(TableTask task) {
    return task.demo() ? demoLake : Configured.named(lakes, task.lake(), "lake", "lakes");
  }
}
