package dev.millrace.control;

import dev.millrace.failure.MillraceException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The side of a run that faces Postgres: it holds the lease and ships the log, each on a connection
 * of its own, so that a long load never keeps a renewal waiting. Thread-safe.
 */
final class Projecting {
  private static final Logger LOG = LoggerFactory.getLogger(Projecting.class);

  /** As long as a connection may take, and a little more. */
  private static final Duration PATIENCE = Duration.ofSeconds(15);

  private final ControlPlane plane;
  private final WalFile log;
  private final DsnDatabase database;
  private final DsnDatabase leaseDatabase;
  private final Shipper shipper;
  private final ScheduledExecutorService renewer;
  private final ScheduledExecutorService shipping;
  private final AtomicBoolean shipRequested = new AtomicBoolean();
  private ScheduledFuture<?> renewal;
  private volatile boolean healthy = true;
  private volatile boolean holding;

  private Projecting(ControlPlane plane, String dsn, WalFile log) {
    this.plane = plane;
    this.log = log;
    this.database = DsnDatabase.of(dsn);
    this.leaseDatabase = DsnDatabase.of(dsn);
    this.shipper = new Shipper(database);
    this.renewer = thread("lease of " + plane.extractor());
    this.shipping = thread("log of " + plane.extractor());
  }

  private static ScheduledExecutorService thread(String name) {
    return Executors.newSingleThreadScheduledExecutor(
        work -> {
          Thread thread = new Thread(work, name);
          thread.setDaemon(true);
          return thread;
        });
  }

  /** Makes the schema, ships what others left, takes the lease and closes the runs that died. */
  static Projecting begin(ControlPlane plane, String dsn, WalFile log) {
    Projecting projecting = new Projecting(plane, dsn, log);
    try {
      projecting.begin();
      return projecting;
    } catch (RuntimeException exception) {
      projecting.endAfter(exception);
      throw exception;
    }
  }

  private void begin() {
    ControlSchema.ensure(database);
    if (database.transact(connection -> Run.isKnown(connection, log.runId()))) {
      throw Run.taken(log.runId(), "control.run has it");
    }
    List<WalFile> others = others();
    Recovery.Replayed replayed = Recovery.replay(database, shipper, others, Instant.MIN);
    database.transact(
        connection -> {
          Lease.take(connection, plane.extractor(), log.runId(), plane.timeToLive());
          return null;
        });
    holding = true;
    if (replayed.failed() == 0) {
      // Between the replay and the lease its last holder may have died; nothing may be missing.
      Recovery.replay(database, shipper, others, Instant.MAX);
    }
    database.transact(
        connection ->
            Recovery.markDead(
                connection,
                plane.extractor(),
                log.runId(),
                Run.idsOf(Recovery.unfinished(connection, plane.extractor(), log.runId()))));
    long period = plane.renewal().toMillis();
    renewal = renewer.scheduleWithFixedDelay(this::renew, period, period, TimeUnit.MILLISECONDS);
  }

  private List<WalFile> others() {
    return WalFile.of(plane.walFolder(), plane.extractor()).stream()
        .filter(other -> !other.runId().equals(log.runId()))
        .toList();
  }

  private void endAfter(RuntimeException first) {
    try {
      end();
    } catch (RuntimeException second) {
      first.addSuppressed(second);
    }
  }

  /** Ships the start and makes sure that the run in Postgres is this one. */
  void shipFirst(WalRecord.RunStart start) {
    shipper.ship(log);
    if (!database.transact(connection -> Run.isOurs(connection, start))) {
      // The lease is that of the run which has this id; it is not ours to let go.
      holding = false;
      throw Run.taken(log.runId(), "control.run has it from another process");
    }
  }

  void shipSoon() {
    if (shipRequested.compareAndSet(false, true)) {
      shipping.execute(
          () -> {
            shipRequested.set(false);
            ship();
          });
    }
  }

  private void ship() {
    try {
      shipper.ship(log);
      healthy = true;
    } catch (RuntimeException exception) {
      if (healthy) {
        LOG.warn(
            "the log of run {} can't be shipped now and is kept: {}",
            log.runId(),
            exception.getMessage());
      }
      healthy = false;
    }
  }

  private void renew() {
    try {
      boolean ours =
          leaseDatabase.transact(
              connection ->
                  Lease.renew(connection, plane.extractor(), log.runId(), plane.timeToLive()));
      if (!ours) {
        LOG.warn(
            "run {} lost the lease of {}: it was not renewed for {} seconds and another run took it",
            log.runId(),
            plane.extractor(),
            plane.timeToLive().toSeconds());
      }
    } catch (RuntimeException exception) {
      LOG.warn("the lease of run {} was not renewed: {}", log.runId(), exception.getMessage());
    }
  }

  /** Stops renewing, lets the lease go, ships the rest; each even where another one fails. */
  void end() {
    if (renewal != null) {
      renewal.cancel(false);
    }
    stop(renewer);
    release();
    stop(shipping);
    if (holding) {
      ship();
    }
    database.close();
    leaseDatabase.close();
  }

  private void release() {
    if (!holding) {
      return;
    }
    try {
      leaseDatabase.transact(
          connection -> {
            Lease.release(connection, plane.extractor(), log.runId());
            return null;
          });
    } catch (MillraceException exception) {
      LOG.warn(
          "the lease of run {} was not let go, it expires by itself: {}",
          log.runId(),
          exception.getMessage());
    }
  }

  /** A thread that hangs in the network is a daemon, and must not keep the rest from its end. */
  private void stop(ScheduledExecutorService thread) {
    thread.shutdownNow();
    try {
      if (!thread.awaitTermination(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
        LOG.warn("Postgres does not answer to run {}; its connection is given up", log.runId());
      }
    } catch (InterruptedException exception) {
      Thread.currentThread().interrupt();
    }
  }
}
