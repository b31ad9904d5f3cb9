package dev.millrace.control;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.StringJoiner;
import java.util.concurrent.locks.ReentrantLock;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A control database that is found by a DSN, for programs that use this package as a library.
 *
 * <p>One connection is opened by the first transaction, kept, and opened again when it is broken or
 * the server has closed it. All settings are SET LOCAL and no statement is prepared by name, so a
 * pooler in transaction mode in between is no trouble. Thread-safe: transactions go one after the
 * other.
 */
public final class DsnDatabase implements ControlDatabase, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DsnDatabase.class);

  private static final String BEGIN =
      """
      SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE;
      SET LOCAL TimeZone = 'UTC';
      SET LOCAL search_path = pg_catalog;
      SET LOCAL statement_timeout = '60s';
      SET LOCAL lock_timeout = '5s';
      SET LOCAL idle_in_transaction_session_timeout = '10min'
      """;

  private final PGSimpleDataSource source;
  private final String place;
  private final ReentrantLock turn = new ReentrantLock();
  private Connection connection;
  private boolean closed;

  private DsnDatabase(PGSimpleDataSource source) {
    this.source = source;
    this.place = place(source);
  }

  /**
   * Reads a DSN; nothing is opened yet.
   *
   * @param dsn {@code postgresql://} or {@code postgres://} as libpq takes them, or {@code
   *     jdbc:postgresql:}. A connection may take 10 s to open unless it says otherwise
   * @throws MillraceException with {@code BAD_CONFIGURATION} when it can't be read or is blank
   */
  public static DsnDatabase of(String dsn) {
    return new DsnDatabase(Dsn.read(dsn));
  }

  private static String place(PGSimpleDataSource source) {
    StringJoiner hosts = new StringJoiner(",");
    String[] names = source.getServerNames();
    int[] ports = source.getPortNumbers();
    for (int i = 0; i < names.length; i++) {
      hosts.add(names[i] + ":" + (ports[i] == 0 ? 5432 : ports[i]));
    }
    return hosts + "/" + source.getDatabaseName();
  }

  /**
   * {@inheritDoc}
   *
   * <p>A statement may take 60 s and wait 30 s for a lock. After {@code POSTGRES_UNAVAILABLE} the
   * transaction may have been committed.
   *
   * @throws IllegalStateException when this database is closed, or the work begins a transaction
   */
  @Override
  public <T> T transact(Work<T> work) {
    if (turn.isHeldByCurrentThread()) {
      throw new IllegalStateException("a transaction of the control database is open already");
    }
    turn.lock();
    try {
      begin();
      return finish(work);
    } catch (SQLException exception) {
      throw failure(exception);
    } finally {
      turn.unlock();
    }
  }

  private void begin() throws SQLException {
    if (closed) {
      throw new IllegalStateException("the control database is closed");
    }
    if (connection != null) {
      try {
        begin(connection);
        return;
      } catch (SQLException exception) {
        // Nothing of the work has been done on it, so a new one is as good.
        LOG.debug("the connection to {} was lost: {}", place, exception.getMessage());
        discard();
      }
    }
    connection = source.getConnection();
    try {
      connection.setAutoCommit(false);
      begin(connection);
    } catch (SQLException exception) {
      discard();
      throw exception;
    }
  }

  private static void begin(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(BEGIN);
    }
  }

  private <T> T finish(Work<T> work) throws SQLException {
    boolean done = false;
    try {
      T result = work.run(connection);
      connection.commit();
      done = true;
      return result;
    } finally {
      if (!done) {
        rollBack();
      }
    }
  }

  private void rollBack() {
    try {
      connection.rollback();
    } catch (SQLException exception) {
      // The first failure is the one to tell.
      discard();
    }
  }

  private void discard() {
    try {
      connection.close();
    } catch (SQLException exception) {
      LOG.debug("a connection to {} could not be closed: {}", place, exception.getMessage());
    }
    connection = null;
  }

  /** Waits for the transaction that is open, and closes the connection. */
  @Override
  public void close() {
    turn.lock();
    try {
      closed = true;
      if (connection != null) {
        discard();
      }
    } finally {
      turn.unlock();
    }
  }

  /** Returns where the database is, without user and password. */
  @Override
  public String toString() {
    return place;
  }

  private MillraceException failure(SQLException exception) {
    ErrorCode code = code(exception.getSQLState());
    return new MillraceException(
        code,
        "control database %s: %s (SQLSTATE %s)%s"
            .formatted(
                place,
                message(exception),
                exception.getSQLState(),
                wayOut(exception.getSQLState())),
        exception);
  }

  /** See the <a href="https://www.postgresql.org/docs/current/errcodes-appendix.html">codes</a>. */
  private static ErrorCode code(String state) {
    if (state == null) {
      return ErrorCode.POSTGRES_UNAVAILABLE;
    }
    return switch (state) {
      case "42501" -> ErrorCode.NO_PRIVILEGE;
      case "42P01", "3F000" -> ErrorCode.TABLE_MISSING;
      case "3D000" -> ErrorCode.POSTGRES_REFUSED;
      // Serialization failure, deadlock, lock timeout, idle transaction ended.
      case "40001", "40P01", "55P03", "25P03" -> ErrorCode.POSTGRES_UNAVAILABLE;
      default -> codeOfClass(state);
    };
  }

  private static ErrorCode codeOfClass(String state) {
    if (Arrays.asList("08", "53").contains(state.substring(0, 2)) || state.startsWith("57P")) {
      return ErrorCode.POSTGRES_UNAVAILABLE;
    }
    return state.startsWith("28") ? ErrorCode.POSTGRES_REFUSED : ErrorCode.POSTGRES_ERROR;
  }

  /** The message without DETAIL, which may quote a row. */
  private static String message(SQLException exception) {
    ServerErrorMessage answer =
        exception instanceof PSQLException known ? known.getServerErrorMessage() : null;
    if (answer != null) {
      return answer.getHint() == null
          ? answer.getMessage()
          : answer.getMessage() + "; " + answer.getHint();
    }
    return exception.getCause() == null
        ? exception.getMessage()
        : exception.getMessage() + " " + exception.getCause();
  }

  private String wayOut(String state) {
    if (state == null || state.startsWith("08")) {
      return "; check that it is up and can be reached from here";
    }
    return code(state) == ErrorCode.POSTGRES_REFUSED
        ? "; check user '%s', its password and the database's name".formatted(source.getUser())
        : "";
  }
}
