package dev.millrace.run;

import dev.millrace.control.Lease;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.PostgresSettings;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.temporal.client.ActivityCanceledException;
import io.temporal.client.ActivityCompletionClient;
import io.temporal.client.ActivityCompletionException;
import io.temporal.client.ActivityNotExistsException;
import io.temporal.client.WorkflowClient;
import io.temporal.failure.ApplicationErrorCategory;
import io.temporal.failure.ApplicationFailure;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the leases of all runs of a worker: beats for each of their activities and renews each of
 * their leases, without a thread or an activity slot for any of them.
 *
 * <p>Thread-safe.
 */
public final class LeaseHolder implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseHolder.class);

  /** What the server, or what is before it, answers while it can be of no use to any activity. */
  private static final Set<Status.Code> AWAY =
      EnumSet.of(
          Status.Code.UNAVAILABLE,
          Status.Code.DEADLINE_EXCEEDED,
          Status.Code.RESOURCE_EXHAUSTED,
          Status.Code.UNAUTHENTICATED,
          Status.Code.PERMISSION_DENIED);

  private static final int HAND_OVER_THREADS = 16;
  private static final long HAND_OVER_SECONDS = 10;

  /** Until then this worker polls no more, or it would be handed its own leases. */
  private static final Duration HAND_OVER_DELAY = Duration.ofSeconds(1);

  /**
   * How often what is done.
   *
   * @param timeToLive of a lease after its renewal
   * @param renewal from one renewal of all leases to the next
   * @param heartbeat from one heartbeat of an activity to the next, at least
   * @param heartbeatsPerSecond the most, of all activities; with many the time between two of one
   *     grows, and has to stay well below the heartbeat timeout
   */
  public record Pace(
      Duration timeToLive, Duration renewal, Duration heartbeat, int heartbeatsPerSecond) {
    /** 10,000 leases have a heartbeat every 100 seconds; the timeout is 150. */
    public static final Pace PRODUCTION =
        new Pace(Lease.TIME_TO_LIVE, Lease.RENEWAL, Duration.ofSeconds(10), 100);
  }

  private final ActivityCompletionClient activities;
  private final OpenRuns openRuns;
  private final Postgres state;
  private final Map<String, HeldLease> held = new ConcurrentHashMap<>();
  private final LeaseRenewals renewals;
  private final Rounds<HeldLease> heartbeats;
  private final Reach reach = new Reach("the heartbeat of leases");

  /** Guarded by this. */
  private boolean closed;

  /**
   * Begins without leases.
   *
   * @param state where the leases are; the pool for them is its own, with one connection, so that
   *     no other work delays a renewal
   * @param client of the namespace whose activities hold leases
   */
  public LeaseHolder(PostgresSettings state, WorkflowClient client, Pace pace) {
    this.activities = client.newActivityCompletionClient();
    this.openRuns = new OpenRuns(client);
    this.state = new Postgres(state.withMaxConnections(1));
    this.heartbeats =
        new Rounds<>("lease-beat", pace.heartbeat(), pace.heartbeatsPerSecond(), this::beat);
    this.renewals =
        new LeaseRenewals(this.state, pace.timeToLive(), pace.renewal(), held, heartbeats::hurry);
  }

  /**
   * Holds a lease until the activity's end, which is told to Temporal from here; the first renewal
   * is at once.
   *
   * @throws MillraceException with {@code WORKER_STOPPED} when the worker is being stopped
   */
  synchronized void hold(HeldLease lease) {
    if (closed) {
      throw new MillraceException(
          ErrorCode.WORKER_STOPPED, "the worker is being stopped; another one holds the lease");
    }
    // An older attempt at the same is over, or it would not have been given to us again.
    held.put(lease.runId(), lease);
    renewals.renew(lease);
    heartbeats.add(lease);
  }

  /** Holds the lease of a run no longer; nothing is told to anybody. */
  public void drop(String runId) {
    held.remove(runId);
  }

  private boolean isHeld(HeldLease lease) {
    return held.get(lease.runId()) == lease;
  }

  /** Returns whether it was held until now. */
  private boolean drop(HeldLease lease) {
    return held.remove(lease.runId(), lease);
  }

  private Rounds.Outcome beat(HeldLease lease) {
    if (!isHeld(lease)) {
      return Rounds.Outcome.OVER;
    }
    try {
      if (lease.loss() != null) {
        tellLoss(lease);
        return Rounds.Outcome.OVER;
      }
      activities.heartbeat(lease.taskToken(), null);
      reach.worked();
      return Rounds.Outcome.NEXT_ROUND;
    } catch (ActivityNotExistsException exception) {
      reach.worked();
      return afterEnd(lease);
    } catch (ActivityCompletionException exception) {
      return afterRefusal(lease, exception);
    }
  }

  private void tellLoss(HeldLease lease) {
    activities.completeExceptionally(lease.taskToken(), Failures.of(lease.loss()));
    drop(lease);
    LOG.warn("{}", lease.loss().getMessage());
  }

  /**
   * The server knows this attempt no more. Either the attempt timed out while this worker was away,
   * or the run went on under another execution of its workflow: then the lease is the run's as
   * before, the next attempt holds it, maybe on another worker, and must not be robbed. Or the
   * workflow has ended, and nobody needs the lease. Only the workflow itself can tell.
   */
  private Rounds.Outcome afterEnd(HeldLease lease) {
    try {
      boolean needed = openRuns.isOpenHere(lease.runId(), lease.workflowId());
      // Only who removes it goes on: the run may be closing on this worker meanwhile.
      boolean ours = drop(lease);
      if (ours && needed) {
        LOG.info("the lease of run {} is held by another attempt", lease.runId());
      } else if (ours && lease.loss() == null) {
        renewals.leave(lease);
      }
      return Rounds.Outcome.OVER;
    } catch (MillraceException exception) {
      LOG.warn(
          "whether run {} still needs its lease is asked again: {}",
          lease.runId(),
          exception.getMessage());
      return Rounds.Outcome.NEXT_ROUND;
    }
  }

  private Rounds.Outcome afterRefusal(HeldLease lease, ActivityCompletionException exception) {
    if (!isHeld(lease)) {
      return Rounds.Outcome.OVER;
    }
    if (exception.getCause() instanceof ActivityCanceledException) {
      reach.worked();
      drop(lease);
      activities.reportCancellation(lease.taskToken(), null);
      return Rounds.Outcome.OVER;
    }
    if (exception.getCause() instanceof StatusRuntimeException refusal) {
      reach.failed(refusal);
      // Other refusals may be of this activity alone, and must not hold up the rest.
      return AWAY.contains(refusal.getStatus().getCode())
          ? Rounds.Outcome.IN_TROUBLE
          : Rounds.Outcome.NEXT_ROUND;
    }
    // Somebody paused or reset the activity by hand: it is held until the server takes it away.
    LOG.debug("a heartbeat was answered in a way of no matter", exception);
    return Rounds.Outcome.NEXT_ROUND;
  }

  /**
   * Hands all leases over to other workers, to be called when this one polls no more: each activity
   * is told to fail for this attempt, and the server gives the next one to whoever polls. What
   * can't be told within 10 seconds is handed over by the heartbeat timeout.
   */
  @Override
  public void close() {
    List<HeldLease> leases;
    synchronized (this) {
      closed = true;
      leases = List.copyOf(held.values());
      held.clear();
    }
    heartbeats.close();
    renewals.close();
    ExecutorService threads =
        Executors.newFixedThreadPool(
            HAND_OVER_THREADS, task -> Rounds.daemon(task, "lease-hand-over"));
    leases.forEach(lease -> threads.execute(() -> handOver(lease)));
    threads.shutdown();
    try {
      if (!threads.awaitTermination(HAND_OVER_SECONDS, TimeUnit.SECONDS)) {
        LOG.warn("not all leases could be handed over; others take them after a while");
      }
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
    }
    threads.shutdownNow();
    state.close();
  }

  private void handOver(HeldLease lease) {
    try {
      activities.completeExceptionally(lease.taskToken(), stopped());
      LOG.info("the lease of run {} is handed over", lease.runId());
    } catch (ActivityNotExistsException exception) {
      LOG.debug("nobody needs the lease of run {} to be handed over", lease.runId());
    } catch (ActivityCompletionException exception) {
      LOG.warn(
          "the lease of run {} is taken by another worker after a while only: {}",
          lease.runId(),
          exception.getMessage());
    }
  }

  private static ApplicationFailure stopped() {
    return Failures.traceless(
        ApplicationFailure.newBuilder()
            .setType(ErrorCode.WORKER_STOPPED.name())
            .setMessage("the worker was stopped; another one holds the lease")
            .setCategory(ApplicationErrorCategory.BENIGN)
            .setNextRetryDelay(HAND_OVER_DELAY)
            .build());
  }
}
