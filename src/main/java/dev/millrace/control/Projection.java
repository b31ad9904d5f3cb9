package dev.millrace.control;

import dev.millrace.control.ProjectedRecord.Column;
import dev.millrace.control.ProjectedRecord.Kind;
import dev.millrace.control.ProjectedRecord.Unfit;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.Redactor;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;

/**
 * Writes lines of a write-ahead log into the tables of schema {@code control}, each in its place
 * and as often as it likes: the same line again changes nothing.
 *
 * <p>Many events are first copied without a question, as asking for each whether it is there takes
 * as long again. Where one is there already, or anything is wrong, all is taken back to a savepoint
 * and written with care; and where that fails, the lines are halved until the bad one is alone.
 * Stateless to its callers; a connection is one thread's.
 */
final class Projection {
  /** From here on a COPY is worth its round trips. */
  static final int COPY_FROM = 64;

  /** How many lines share the fate of a bad one among them. */
  private static final int CHUNK = 5_000;

  /** How texts of dates are read must not hang on who projects them. */
  private static final String OPEN = "SET LOCAL DateStyle = 'ISO, MDY'; SAVEPOINT lines";

  private static final String CLOSE = "RELEASE SAVEPOINT lines";
  private static final String TAKE_BACK = "ROLLBACK TO SAVEPOINT lines; " + CLOSE;

  private static final String RUN_START =
      "INSERT INTO control.run (%s) VALUES (%s) ON CONFLICT (run_id) DO NOTHING"
          .formatted(names(Kind.RUN_START), parameters(Kind.RUN_START));

  private static final String RUN_FINISH =
      """
      INSERT INTO control.run AS known (%s) VALUES (%s)
      ON CONFLICT (run_id) DO UPDATE
      SET finished_at = EXCLUDED.finished_at, status = EXCLUDED.status,
          stop_reason = EXCLUDED.stop_reason, n_ok = EXCLUDED.n_ok, n_err = EXCLUDED.n_err,
          n_skipped = EXCLUDED.n_skipped, extra = coalesce(EXCLUDED.extra, known.extra)
      WHERE known.extractor = EXCLUDED.extractor"""
          .formatted(names(Kind.RUN_FINISH), parameters(Kind.RUN_FINISH));

  private static final String BUDGET =
      """
      INSERT INTO control.budget_usage (%s) VALUES (%s)
      ON CONFLICT (run_id, extractor, budget_name) DO UPDATE
      SET limit_val = EXCLUDED.limit_val, used = EXCLUDED.used,
          remaining = EXCLUDED.remaining, hit = EXCLUDED.hit, ran_at = EXCLUDED.ran_at"""
          .formatted(names(Kind.BUDGET), parameters(Kind.BUDGET));

  private static final String EVENTS =
      """
      INSERT INTO control.event (%s)
      SELECT %s FROM unnest(%s) AS line (%s)
      ON CONFLICT (extractor, run_id, seq) DO NOTHING"""
          .formatted(
              names(Kind.EVENT),
              joined(Kind.EVENT, column -> "line.%s::%s".formatted(column.name(), sql(column))),
              joined(Kind.EVENT, column -> "?::text[]"),
              names(Kind.EVENT));

  private static final String COPY_EVENTS =
      "COPY control.event (%s) FROM STDIN (FORMAT binary)".formatted(names(Kind.EVENT));

  /** Such as COPY into a table with row-level security. */
  private static final String NOT_SUPPORTED = "0A000";

  private final Connection connection;
  private final List<WalLine.Refused> refused = new ArrayList<>();

  private Projection(Connection connection) {
    this.connection = connection;
  }

  /**
   * Projects lines in the order of the list.
   *
   * @param connection in the caller's transaction, whose time zone is UTC
   * @param lines of one or more files
   * @return those that can't be projected, in the order of their offsets; all others are projected
   * @throws MillraceException with {@code RUN_ID_TAKEN} when a run of another extractor has the
   *     same id; the transaction is to be rolled back
   * @throws SQLException for anything that is no line's fault
   */
  static List<WalLine.Refused> apply(Connection connection, List<WalLine> lines)
      throws SQLException {
    Projection projection = new Projection(connection);
    List<ProjectedRecord> records = projection.read(lines);
    for (int start = 0; start < records.size(); start += CHUNK) {
      List<ProjectedRecord> chunk = records.subList(start, Math.min(start + CHUNK, records.size()));
      if (!projection.copies(chunk)) {
        projection.write(chunk);
      }
    }
    return projection.refused.stream()
        .sorted(Comparator.comparingLong(WalLine.Refused::offset))
        .toList();
  }

  private List<ProjectedRecord> read(List<WalLine> lines) {
    List<ProjectedRecord> records = new ArrayList<>(lines.size());
    for (WalLine line : lines) {
      try {
        records.add(ProjectedRecord.of(line));
      } catch (Unfit unfit) {
        refuse(line, unfit.getMessage());
      }
    }
    return records;
  }

  private void refuse(WalLine line, String reason) {
    refused.add(new WalLine.Refused(line.offset(), line.bytes(), Redactor.redact(reason)));
  }

  /** Returns whether all is written; when not, nothing is. */
  private boolean copies(List<ProjectedRecord> records) throws SQLException {
    List<List<ProjectedRecord>> batches = batches(records);
    if (batches.stream().noneMatch(batch -> batch.size() >= COPY_FROM)) {
      return false;
    }
    try {
      attempt(batches, true);
      return true;
    } catch (SQLException exception) {
      if (!isWorthCare(exception)) {
        throw exception;
      }
      return false;
    }
  }

  private void write(List<ProjectedRecord> records) throws SQLException {
    try {
      attempt(batches(records), false);
    } catch (SQLException exception) {
      if (!isFaultOfLine(exception)) {
        throw exception;
      }
      if (records.size() == 1) {
        refuse(records.get(0).line(), reason(exception));
        return;
      }
      int half = records.size() / 2;
      write(records.subList(0, half));
      write(records.subList(half, records.size()));
    }
  }

  /** Parts the records where order counts: events that follow each other are one batch. */
  private static List<List<ProjectedRecord>> batches(List<ProjectedRecord> records) {
    List<List<ProjectedRecord>> batches = new ArrayList<>();
    int start = 0;
    for (int i = 1; i <= records.size(); i++) {
      if (i == records.size()
          || records.get(i).kind() != Kind.EVENT
          || records.get(start).kind() != Kind.EVENT) {
        batches.add(records.subList(start, i));
        start = i;
      }
    }
    return batches;
  }

  /** Writes all batches or, on an exception, none. */
  private void attempt(List<List<ProjectedRecord>> batches, boolean copy) throws SQLException {
    try {
      for (int i = 0; i < batches.size(); i++) {
        boolean first = i == 0;
        boolean last = i == batches.size() - 1;
        List<ProjectedRecord> batch = batches.get(i);
        if (copy && batch.size() >= COPY_FROM) {
          copy(batch, first, last);
        } else {
          write(batch, first, last);
        }
      }
    } catch (SQLException exception) {
      if (isWorthCare(exception)) {
        execute(TAKE_BACK);
      }
      throw exception;
    }
  }

  private void write(List<ProjectedRecord> batch, boolean first, boolean last) throws SQLException {
    ProjectedRecord record = batch.get(0);
    String sql =
        switch (record.kind()) {
          case RUN_START -> RUN_START;
          case RUN_FINISH -> RUN_FINISH;
          case BUDGET -> BUDGET;
          case EVENT -> EVENTS;
        };
    // In one message with the savepoint, as most tails are one line and the server may be far.
    String all = (first ? OPEN + "; " : "") + sql + (last ? "; " + CLOSE : "");
    try (PreparedStatement statement = connection.prepareStatement(all)) {
      for (int i = 0; i < record.values().size(); i++) {
        if (record.kind() == Kind.EVENT) {
          statement.setArray(i + 1, connection.createArrayOf("text", column(batch, i)));
        } else {
          statement.setString(i + 1, record.values().get(i));
        }
      }
      statement.execute();
      for (int skipped = 0; first && skipped < 2; skipped++) {
        statement.getMoreResults();
      }
      boolean ofRun = record.kind() == Kind.RUN_START || record.kind() == Kind.RUN_FINISH;
      if (ofRun && statement.getUpdateCount() == 0) {
        requireOwnRun(record);
      }
    }
  }

  private static String[] column(List<ProjectedRecord> batch, int index) {
    String[] column = new String[batch.size()];
    for (int i = 0; i < column.length; i++) {
      column[i] = batch.get(i).values().get(index);
    }
    return column;
  }

  /** A start does nothing when the run is there; a finish only when the run is another's. */
  private void requireOwnRun(ProjectedRecord record) throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement("SELECT extractor FROM control.run WHERE run_id = ?")) {
      query.setString(1, record.runId());
      try (ResultSet row = query.executeQuery()) {
        if (row.next() && !row.getString(1).equals(record.extractor())) {
          throw new MillraceException(
              ErrorCode.RUN_ID_TAKEN,
              "run id '%s' of %s is that of a run of %s in control.run already; nothing was recorded there, the write-ahead log keeps it: give each run an id of its own"
                  .formatted(record.runId(), record.extractor(), row.getString(1)));
        }
      }
    }
  }

  private void copy(List<ProjectedRecord> batch, boolean first, boolean last) throws SQLException {
    if (first) {
      execute(OPEN);
    }
    CopyBinary.send(
        connection.unwrap(PGConnection.class).getCopyAPI().copyIn(COPY_EVENTS), Kind.EVENT, batch);
    if (last) {
      execute(CLOSE);
    }
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** A value that has no place: data, integrity, casts, and what is too long for an index. */
  private static boolean isFaultOfLine(SQLException exception) {
    String state = exception.getSQLState();
    return state != null
        && (state.startsWith("22")
            || state.startsWith("23")
            || Set.of("42804", "42846", "54000").contains(state));
  }

  /** A fault of a line, a line that is there already, or a table that takes no COPY. */
  private static boolean isWorthCare(SQLException exception) {
    return isFaultOfLine(exception) || NOT_SUPPORTED.equals(exception.getSQLState());
  }

  /** The message without DETAIL, which may quote a row. */
  private static String reason(SQLException exception) {
    String message =
        exception instanceof PSQLException known && known.getServerErrorMessage() != null
            ? known.getServerErrorMessage().getMessage()
            : exception.getMessage();
    return "Postgres refuses it: %s (SQLSTATE %s)".formatted(message, exception.getSQLState());
  }

  private static String names(Kind kind) {
    return joined(kind, Column::name);
  }

  private static String parameters(Kind kind) {
    return joined(kind, column -> "?::" + sql(column));
  }

  private static String sql(Column column) {
    return column.type().sql();
  }

  private static String joined(Kind kind, Function<Column, String> text) {
    return kind.columns().stream().map(text).collect(Collectors.joining(", "));
  }
}
