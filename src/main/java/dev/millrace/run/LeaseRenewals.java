package dev.millrace.run;

import dev.millrace.control.RunQueue;
import dev.millrace.postgres.Postgres;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the leases of a worker alive in the database, all of them with one statement, and lets go
 * of those whose workflow has ended. One thread does it; what can't be done now is done soon.
 *
 * <p>Thread-safe.
 */
final class LeaseRenewals implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseRenewals.class);

  /** This part of the time between two renewals passes before one that was not to be had. */
  private static final int SOON = 12;

  private static final long CLOSE_SECONDS = 2;

  private final Postgres state;
  private final Duration timeToLive;
  private final Duration soon;
  private final Map<String, HeldLease> held;
  private final Consumer<HeldLease> lost;
  private final Set<HeldLease> due = ConcurrentHashMap.newKeySet();
  private final Set<HeldLease> leaving = ConcurrentHashMap.newKeySet();
  private final Reach reach = new Reach("the renewal of leases");
  private final ScheduledThreadPoolExecutor thread;

  /** What will try again what could not be done; null for nothing. Of the thread alone. */
  private Future<?> again;

  /**
   * Begins to renew.
   *
   * @param state a pool that nobody else uses
   * @param renewal from one renewal of all to the next
   * @param held what the worker holds at any time, by run
   * @param lost gets each of them that is lost, once that is noted in it
   */
  LeaseRenewals(
      Postgres state,
      Duration timeToLive,
      Duration renewal,
      Map<String, HeldLease> held,
      Consumer<HeldLease> lost) {
    this.state = state;
    this.timeToLive = timeToLive;
    this.soon = renewal.dividedBy(SOON);
    this.held = held;
    this.lost = lost;
    this.thread =
        new ScheduledThreadPoolExecutor(
            1,
            task -> Rounds.daemon(task, "lease-renewals"),
            new ThreadPoolExecutor.DiscardPolicy());
    Future<?> unused =
        thread.scheduleWithFixedDelay(
            this::renewAll, renewal.toMillis(), renewal.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Renews one at once. */
  void renew(HeldLease lease) {
    due.add(lease);
    thread.execute(this::work);
  }

  /** Lets go of the lease of a run that has ended. */
  void leave(HeldLease lease) {
    leaving.add(lease);
    thread.execute(this::work);
  }

  private void renewAll() {
    due.addAll(held.values());
    work();
  }

  private void work() {
    try {
      renewDue();
      leave();
      reach.worked();
    } catch (RuntimeException exception) {
      reach.failed(exception);
      workSoon();
    }
  }

  private void workSoon() {
    if (again == null) {
      again = thread.schedule(this::workAgain, soon.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  private void workAgain() {
    again = null;
    work();
  }

  private void renewDue() {
    due.removeIf(lease -> held.get(lease.runId()) != lease || lease.loss() != null);
    List<HeldLease> leases = List.copyOf(due);
    if (leases.isEmpty()) {
      return;
    }
    Set<RunQueue.Held> runs =
        leases.stream().map(HeldLease::held).collect(Collectors.toUnmodifiableSet());
    RunQueue.Renewals renewals =
        state.transact(connection -> RunQueue.renewAll(connection, runs, timeToLive));
    for (HeldLease lease : leases) {
      if (renewals.skipped().contains(lease.runId())) {
        workSoon();
        continue;
      }
      due.remove(lease);
      if (renewals.lost().containsKey(lease.runId())) {
        lease.lose(renewals.lost().get(lease.runId()));
        lost.accept(lease);
      }
    }
  }

  private void leave() {
    for (HeldLease lease : List.copyOf(leaving)) {
      state.transact(
          connection -> {
            RunQueue.leave(connection, lease.pipeline(), lease.runId());
            return null;
          });
      leaving.remove(lease);
      LOG.info(
          "the lease of pipeline {} is let go: workflow {} of run {} has ended without doing so",
          lease.pipeline(),
          lease.workflowId(),
          lease.runId());
    }
  }

  /** Stops; what is at work is waited for a little. */
  @Override
  public void close() {
    thread.shutdown();
    try {
      if (!thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        thread.shutdownNow();
      }
    } catch (InterruptedException exception) {
      thread.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }
}
