package dev.millrace.control;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The control plane of one extractor, for any program on the JVM: what its runs did is kept in a
 * local log, shown in Postgres, and at most one of them is at work.
 *
 * <p>Immutable, so safe for use by several threads.
 *
 * @param extractor the name of what is kept going; never null
 * @param walFolder where logs of all extractors of this host are; never null
 * @param dsn the database, as a libpq URI or a JDBC URL; absent means a log without a database and
 *     without a lease, for development
 * @param timeToLive how long the lease lives after its last renewal
 * @param renewal how often it is renewed
 * @param host what is recorded as the host
 */
public record ControlPlane(
    String extractor,
    Path walFolder,
    Optional<String> dsn,
    Duration timeToLive,
    Duration renewal,
    String host) {

  /**
   * Checks the settings.
   *
   * @throws MillraceException with {@code BAD_CONFIGURATION} for a DSN of blanks: it would be a
   *     control plane that nobody sees
   */
  public ControlPlane {
    if (dsn.isPresent() && dsn.get().isBlank()) {
      throw new MillraceException(
          ErrorCode.BAD_CONFIGURATION,
          "the DSN of control plane '%s' is empty; give a database, or leave the DSN out for a log alone"
              .formatted(extractor));
    }
  }

  /** Returns a control plane that shows its runs in a database. */
  public static ControlPlane of(String extractor, Path walFolder, String dsn) {
    return new ControlPlane(
        extractor, walFolder, Optional.of(dsn), Lease.TIME_TO_LIVE, Lease.RENEWAL, localHost());
  }

  /** Returns a control plane that keeps logs only. */
  public static ControlPlane withoutDatabase(String extractor, Path walFolder) {
    return new ControlPlane(
        extractor, walFolder, Optional.empty(), Lease.TIME_TO_LIVE, Lease.RENEWAL, localHost());
  }

  /** Returns the same with another lease. */
  public ControlPlane withLease(Duration otherTimeToLive, Duration otherRenewal) {
    return new ControlPlane(extractor, walFolder, dsn, otherTimeToLive, otherRenewal, host);
  }

  /** What a run does. */
  @FunctionalInterface
  public interface Work<T, E extends Exception> {
    /** Does it; what it throws makes the run failed. */
    T run(Run run) throws E;
  }

  /**
   * Does work as a run with a fresh id.
   *
   * @param mode what kind of run, or null
   * @return what the work returns
   * @throws MillraceException before the work begins, with {@code LEASE_HELD} while another run is
   *     at work, {@code POSTGRES_UNAVAILABLE} and the like when the database can't be used, {@code
   *     WAL_UNWRITABLE}
   * @throws E what the work throws
   */
  public <T, E extends Exception> T run(String mode, Work<T, E> work) throws E {
    Instant now = Instant.now();
    return run(mode, RunId.of(now, extractor, ThreadLocalRandom.current().nextInt()), work);
  }

  /**
   * Does work as a run.
   *
   * @param mode what kind of run, or null
   * @param runId an id that no run ever had
   * @return what the work returns
   * @throws MillraceException as {@link #run(String, Work)}, and with {@code RUN_ID_TAKEN}
   * @throws E what the work throws
   */
  public <T, E extends Exception> T run(String mode, String runId, Work<T, E> work) throws E {
    Run run = Run.open(this, mode, runId);
    try {
      T result = work.run(run);
      run.succeeded();
      return result;
    } catch (Throwable failure) {
      run.failed(failure);
      throw failure;
    } finally {
      run.close();
    }
  }

  /** Returns the name under which this host is recorded. */
  public static String localHost() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException exception) {
      return "unknown";
    }
  }
}
