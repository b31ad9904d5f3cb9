package dev.millrace.control;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Redactor;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A run at work, given to the work of {@link ControlPlane#run}.
 *
 * <p>Each record is durable in the log when a call returns; Postgres shows it soon after. A
 * database that is away in the middle stops nothing: what is missing is shipped later, by this run
 * or by the next one. Thread-safe.
 */
public final class Run {
  private static final Logger LOG = LoggerFactory.getLogger(Run.class);

  private final ControlPlane plane;
  private final String runId;
  private final Instant startedAt;
  private final Wal wal;

  /** Null without a database. */
  private final Projecting projecting;

  private final Object order = new Object();
  private long next;
  private boolean finished;

  private Run(ControlPlane plane, String runId, Wal wal, Projecting projecting) {
    this.plane = plane;
    this.runId = runId;
    this.startedAt = now();
    this.wal = wal;
    this.projecting = projecting;
  }

  static Run open(ControlPlane plane, String mode, String runId) {
    WalFile log = new WalFile(plane.walFolder(), plane.extractor(), runId);
    if (log.exists()) {
      throw taken(runId, "the log " + log.path() + " is there already");
    }
    Projecting projecting =
        plane.dsn().isPresent() ? Projecting.begin(plane, plane.dsn().get(), log) : null;
    Wal wal = null;
    try {
      wal = Wal.open(log);
      Run run = new Run(plane, runId, wal, projecting);
      run.start(mode, log);
      return run;
    } catch (RuntimeException exception) {
      closeAfter(exception, wal, projecting);
      throw exception;
    }
  }

  private static void closeAfter(RuntimeException first, Wal wal, Projecting projecting) {
    try {
      if (projecting != null) {
        projecting.end();
      }
      if (wal != null) {
        wal.close();
      }
    } catch (RuntimeException second) {
      first.addSuppressed(second);
    }
  }

  private void start(String mode, WalFile log) {
    WalRecord.RunStart record =
        new WalRecord.RunStart(
            runId,
            plane.extractor(),
            mode,
            plane.host(),
            Math.toIntExact(ProcessHandle.current().pid()),
            startedAt,
            log.path().toString(),
            null);
    wal.append(record);
    if (projecting != null) {
      projecting.shipFirst(record);
    }
  }

  /** Returns the run's id. */
  public String runId() {
    return runId;
  }

  /**
   * What became of one unit of work; everything may be null except the status.
   *
   * @param entity such as a table
   * @param unit which part of it
   * @param businessDate the business's own date
   * @param status what became of it; never null
   * @param httpStatus only for HTTP
   * @param rows rows that landed
   * @param pullMs milliseconds of reading
   * @param loadMs milliseconds of writing
   * @param errorDetail cut at {@link WalRecord#ERROR_DETAIL_CAP} code points
   * @param extra anything else worth keeping
   */
  public record Outcome(
      String entity,
      String unit,
      LocalDate businessDate,
      EventStatus status,
      Integer httpStatus,
      Long rows,
      Integer sourceAttempts,
      Integer sinkAttempts,
      Integer pullMs,
      Integer loadMs,
      String errorDetail,
      ObjectNode extra) {
    public Outcome {
      Objects.requireNonNull(status, "status");
    }

    /** Returns an outcome of which only the most common facts are known. */
    public static Outcome of(String entity, String unit, EventStatus status, Long rows) {
      return new Outcome(
          entity, unit, null, status, null, rows, null, null, null, null, null, null);
    }
  }

  /**
   * Records what became of one unit of work.
   *
   * @throws MillraceException with {@code BAD_RECORD} or {@code WAL_UNWRITABLE}
   */
  public void event(Outcome outcome) {
    synchronized (order) {
      wal.append(
          new WalRecord.Event(
              plane.extractor(),
              runId,
              next,
              now(),
              outcome.entity(),
              outcome.unit(),
              outcome.businessDate(),
              outcome.status(),
              outcome.httpStatus(),
              outcome.rows(),
              outcome.sourceAttempts(),
              outcome.sinkAttempts(),
              outcome.pullMs(),
              outcome.loadMs(),
              outcome.errorDetail(),
              outcome.extra()));
      next++;
    }
    shipSoon();
  }

  /**
   * Records how much of a budget is used; worth recording in each run, not only when it is hit.
   *
   * @param name a {@link BudgetName}'s word or another one
   * @param limit null where there is none, as are the next two
   * @param hit whether it ends the run
   * @throws MillraceException with {@code BAD_RECORD} or {@code WAL_UNWRITABLE}
   */
  public void budget(String name, Long limit, Long used, Long remaining, boolean hit) {
    wal.append(
        new WalRecord.Budget(plane.extractor(), runId, name, limit, used, remaining, hit, now()));
    shipSoon();
  }

  /**
   * Ends the run; the first call counts.
   *
   * @param ok units that went well, or null, as are the next two
   * @throws MillraceException with {@code WAL_UNWRITABLE}; the run has not ended then
   */
  public void finish(
      RunStatus status, StopReason reason, Integer ok, Integer failed, Integer skipped) {
    finish(status, reason, ok, failed, skipped, null);
  }

  private void finish(
      RunStatus status,
      StopReason reason,
      Integer ok,
      Integer failed,
      Integer skipped,
      ObjectNode extra) {
    synchronized (order) {
      if (finished) {
        return;
      }
      wal.append(
          new WalRecord.RunFinish(
              plane.extractor(),
              runId,
              startedAt,
              now(),
              status,
              reason,
              ok,
              failed,
              skipped,
              extra));
      finished = true;
    }
    shipSoon();
  }

  /** Ends a run whose work returned, unless the work ended it. */
  void succeeded() {
    finish(RunStatus.OK, StopReason.CLEAN, null, null, null);
  }

  /** Ends a run whose work threw; what was thrown stays the failure to tell. */
  void failed(Throwable failure) {
    try {
      finish(
          RunStatus.FAILED,
          StopReason.ERROR,
          null,
          null,
          null,
          JsonNodeFactory.instance.objectNode().put("error", textOf(failure)));
    } catch (RuntimeException second) {
      LOG.warn("the failure of run {} could not be recorded: {}", runId, second.getMessage());
      failure.addSuppressed(second);
    }
  }

  private static String textOf(Throwable failure) {
    String text = Redactor.redact(failure.toString());
    // Any exception may carry text that no line can hold, and must be recorded all the same.
    return WalFormat.cut(WalFormat.printable(text));
  }

  /** Lets go of everything; what can't be shipped now is shipped by the next run. */
  void close() {
    try {
      wal.close();
    } finally {
      if (projecting != null) {
        projecting.end();
      }
    }
  }

  private void shipSoon() {
    if (projecting != null) {
      projecting.shipSoon();
    }
  }

  private static Instant now() {
    return Instant.now().truncatedTo(ChronoUnit.MICROS);
  }

  static MillraceException taken(String runId, String where) {
    return new MillraceException(
        ErrorCode.RUN_ID_TAKEN,
        "run id %s was used before: %s; leave the id out, or take a fresh one"
            .formatted(runId, where));
  }

  /** Returns whether the projection's row of a run is the one that this start made. */
  static boolean isOurs(Connection connection, WalRecord.RunStart start) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement(
            """
            SELECT 1 FROM control.run
            WHERE run_id = ? AND extractor = ? AND host = ? AND pid = ? AND started_at = ?
            """)) {
      statement.setString(1, start.runId());
      statement.setString(2, start.extractor());
      statement.setString(3, start.host());
      statement.setInt(4, start.pid());
      statement.setTimestamp(5, Timestamp.from(start.startedAt()));
      try (ResultSet row = statement.executeQuery()) {
        return row.next();
      }
    }
  }

  static boolean isKnown(Connection connection, String runId) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("SELECT 1 FROM control.run WHERE run_id = ?")) {
      statement.setString(1, runId);
      try (ResultSet row = statement.executeQuery()) {
        return row.next();
      }
    }
  }

  static List<String> idsOf(List<Recovery.Unfinished> runs) {
    return runs.stream().map(Recovery.Unfinished::runId).toList();
  }
}
