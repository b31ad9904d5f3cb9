package dev.millrace.replication;

import dev.millrace.control.RunQueue;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.lake.Lake;
import dev.millrace.postgres.TableName;
import dev.millrace.run.Admission;
import dev.millrace.run.Configured;
import dev.millrace.run.LeaseHolder;
import dev.millrace.run.StateAtStart;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The activities of a run. Thread-safe. */
public final class RunSteps implements RunActivities {
  private final ReplicationSettings settings;
  private final LeaseHolder leases;
  private final Set<String> probed = ConcurrentHashMap.newKeySet();

  /**
   * Makes the activities of a worker.
   *
   * @param leases holds those of the worker's runs
   */
  public RunSteps(ReplicationSettings settings, LeaseHolder leases) {
    this.settings = settings;
    this.leases = leases;
  }

  @Override
  public Admission admit(Request request) {
    StateAtStart.reach(settings::prepareState);
    if (request.demo() && !settings.allowDemo()) {
      throw new MillraceException(
          ErrorCode.DEMO_REFUSED,
          "demo_mode is refused by this worker's configuration (allow_demo: false); say demo_mode: false");
    }
    if (!request.demo()) {
      Configured.named(settings.sources(), request.source(), "source", "postgres");
      probe(request.lake());
    }
    if (request.notifySlack() && settings.slack().isEmpty()) {
      throw new MillraceException(
          ErrorCode.SLACK_NOT_CONFIGURED,
          "notify_slack is true, but the worker's configuration has no slack.webhook; set it, or say notify_slack: false");
    }
    return settings.admission();
  }

  /** Proves the worker's rights in the lake, once in a process. */
  private void probe(String name) {
    Lake lake = Configured.named(settings.lakes(), name, "lake", "lakes");
    if (!probed.contains(name)) {
      lake.probe();
      probed.add(name);
    }
  }

  @Override
  public void recordFailure(
      String pipeline, String runId, int position, TableName table, TableFailure failure) {
    settings
        .state()
        .transact(
            connection -> {
              ReplicationState.recordFailure(
                  connection, new TableKey(pipeline, table), runId, position, failure);
              return null;
            });
  }

  @Override
  public RunResult close(Closing closing) {
    leases.drop(closing.runId());
    return settings
        .state()
        .transact(
            connection -> {
              RunQueue.leave(connection, closing.pipeline(), closing.runId());
              RunReport.forgetOld(connection);
              return RunReport.read(
                  connection,
                  closing.pipeline(),
                  closing.runId(),
                  closing.demo(),
                  closing.tables(),
                  closing.timeIsUp());
            });
  }
}
