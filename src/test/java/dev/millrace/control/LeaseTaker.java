package dev.millrace.control;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Scanner;
import java.util.concurrent.locks.LockSupport;

/** A process that takes the lease of one extractor again and again, and publishes under it. */
final class LeaseTaker {
  private static final long PAUSE_NANOS = 2_000_000;

  private final DsnDatabase database;
  private final String extractor;
  private final Duration timeToLive;

  private LeaseTaker(DsnDatabase database, String extractor, Duration timeToLive) {
    this.database = database;
    this.extractor = extractor;
    this.timeToLive = timeToLive;
  }

  /**
   * Says {@code clock <milliseconds>}. Each turn takes the lease, says {@code holding <run>}, waits
   * for a line and says {@code published <run>} or {@code lost <run>}; the line {@code stop} ends
   * it.
   *
   * @param arguments DSN, extractor, the runs' prefix, milliseconds that a lease lives
   */
  public static void main(String[] arguments) {
    try (DsnDatabase database = DsnDatabase.of(arguments[0]);
        Scanner orders = new Scanner(System.in, StandardCharsets.UTF_8)) {
      Duration timeToLive = Duration.ofMillis(Long.parseLong(arguments[3]));
      LeaseTaker taker = new LeaseTaker(database, arguments[1], timeToLive);
      System.out.println("clock " + System.currentTimeMillis());
      int turn = 0;
      String order = "";
      while (!order.equals("stop")) {
        String runId = arguments[2] + "-" + turn++;
        taker.acquire(runId);
        System.out.println("holding " + runId);
        order = orders.nextLine();
        System.out.println((taker.publish(runId) ? "published " : "lost ") + runId);
      }
    }
  }

  private void acquire(String runId) {
    while (!database.<Boolean>transact(
        connection -> Lease.acquire(connection, extractor, runId, timeToLive))) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  /** Publishes in two transactions, renews in between, and lets go. */
  private boolean publish(String runId) {
    try {
      publishOnce(runId);
      if (!database.<Boolean>transact(
          connection -> Lease.renew(connection, extractor, runId, timeToLive))) {
        return false;
      }
      publishOnce(runId);
    } catch (MillraceException exception) {
      if (exception.code() == ErrorCode.LEASE_LOST) {
        return false;
      }
      throw exception;
    }
    database.transact(
        connection -> {
          Lease.release(connection, extractor, runId);
          return null;
        });
    return true;
  }

  private void publishOnce(String runId) {
    database.transact(
        connection -> {
          Lease.check(connection, extractor, runId);
          execute(connection, "INSERT INTO turn.published VALUES (?, clock_timestamp())", runId);
          execute(
              connection,
              "UPDATE turn.published SET ended = clock_timestamp() WHERE run_id = ? AND ended IS NULL",
              runId);
          return null;
        });
  }

  private static void execute(Connection connection, String sql, String runId) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.setString(1, runId);
      statement.executeUpdate();
    }
  }
}
