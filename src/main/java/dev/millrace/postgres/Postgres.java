package dev.millrace.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A database, reached through a bounded pool; connections are only open inside a callback.
 *
 * <p>All settings are SET LOCAL, and no statement is prepared by name, so a pooler in transaction
 * mode in between is no trouble. Thread-safe.
 */
public final class Postgres implements AutoCloseable {
  /** How long a caller waits for one of the connections when all of them are in use. */
  private static final Duration TURN = Duration.ofMinutes(10);

  private static final Duration IDLE = Duration.ofMinutes(1);

  /** What text forms and names depend on is fixed, whatever the role's or database's defaults. */
  private static final List<String> SESSION =
      List.of(
          "row_security = off",
          "TimeZone = 'UTC'",
          "DateStyle = 'ISO, YMD'",
          "IntervalStyle = 'postgres'",
          "bytea_output = 'hex'",
          "extra_float_digits = 1",
          "standard_conforming_strings = on",
          "search_path = pg_catalog",
          "lock_timeout = '30s'",
          "idle_in_transaction_session_timeout = '10min'");

  private static final String SNAPSHOT =
      "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";
  private static final String READ = SNAPSHOT + settings("0");
  private static final String TRANSACT =
      "SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE" + settings("60s");

  private final PostgresSettings settings;
  private final HikariDataSource pool;
  private final Semaphore turns;

  /**
   * Makes the pool; connects when it is first used.
   *
   * @param settings where and as whom to connect
   */
  public Postgres(PostgresSettings settings) {
    this.settings = settings;
    this.turns = new Semaphore(settings.maxConnections(), true);
    this.pool = pool(settings);
  }

  private static HikariDataSource pool(PostgresSettings settings) {
    HikariConfig config = new HikariConfig();
    config.setPoolName("postgres-" + settings.name());
    config.setDataSource(source(settings));
    config.setMaximumPoolSize(settings.maxConnections());
    config.setMinimumIdle(0);
    config.setIdleTimeout(IDLE.toMillis());
    config.setConnectionTimeout(Math.max(250, settings.connectTimeout().toMillis()));
    config.setValidationTimeout(
        Math.max(250, Math.min(5000, settings.connectTimeout().toMillis())));
    config.setInitializationFailTimeout(-1);
    config.setAllowPoolSuspension(false);
    config.setRegisterMbeans(false);
    return new HikariDataSource(config);
  }

  private static PGSimpleDataSource source(PostgresSettings settings) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setServerNames(new String[] {settings.host()});
    source.setPortNumbers(new int[] {settings.port()});
    source.setDatabaseName(settings.database());
    source.setUser(settings.user());
    source.setPassword(settings.password());
    source.setApplicationName("millrace");
    source.setSslMode(settings.sslMode().text());
    if (settings.sslRootCertificate() != null) {
      source.setSslRootCert(settings.sslRootCertificate().toString());
    } else if (settings.sslMode().verifies()) {
      source.setSslfactory("org.postgresql.ssl.DefaultJavaSSLFactory");
    }
    source.setConnectTimeout(seconds(settings.connectTimeout()));
    source.setLoginTimeout(seconds(settings.connectTimeout()));
    source.setSocketTimeout(seconds(settings.socketTimeout()));
    source.setTcpKeepAlive(true);
    source.setSocketFactory(BufferedSockets.class.getName());
    source.setPrepareThreshold(0);
    source.setLogServerErrorDetail(false);
    // The name goes with the start-up message instead of a SET that a pooler would keep.
    source.setAssumeMinServerVersion("12");
    return source;
  }

  private static int seconds(Duration duration) {
    return Math.max(1, Math.toIntExact(duration.toSeconds()));
  }

  private static String settings(String statementTimeout) {
    return "; SET LOCAL statement_timeout = '%s'; SET LOCAL %s"
        .formatted(statementTimeout, String.join("; SET LOCAL ", SESSION));
  }

  /** Returns the connection's name in the configuration. */
  public String name() {
    return settings.name();
  }

  /** Work on an open connection, which must not be kept. */
  @FunctionalInterface
  public interface Work<T> {
    /** Does the work; the connection is in a transaction that the caller ends. */
    T run(Connection connection) throws SQLException;
  }

  /**
   * Runs work in one READ ONLY, REPEATABLE READ transaction: all its queries see one snapshot. No
   * statement timeout; waits at most 30 s for a lock.
   *
   * @return what the work returns
   * @throws MillraceException with {@code POSTGRES_UNAVAILABLE}, {@code POSTGRES_REFUSED}, {@code
   *     NO_PRIVILEGE}, {@code ROWS_HIDDEN}, {@code TABLE_MISSING}, {@code COLUMN_MISSING} or {@code
   *     POSTGRES_ERROR}
   */
  public <T> T read(Work<T> work) {
    return run(READ, work);
  }

  /**
   * Lets other connections read in the snapshot of a transaction, as long as it is open; it is not
   * ended for being idle meanwhile.
   *
   * @param connection the one that {@link #read} gave
   * @return a name for {@link #readBeside}
   */
  public static String exportSnapshot(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SET LOCAL idle_in_transaction_session_timeout = 0");
      try (ResultSet row = statement.executeQuery("SELECT pg_export_snapshot()")) {
        row.next();
        return row.getString(1);
      }
    }
  }

  /** Work on an open connection that has no result. */
  @FunctionalInterface
  public interface Task {
    /** Does the work; the connection is in a transaction that the caller ends. */
    void run(Connection connection) throws SQLException;
  }

  /**
   * Runs work as {@link #read} does, in a snapshot that another connection has exported, if a
   * connection is free now: whoever has one must not wait for more.
   *
   * @param snapshot from {@link #exportSnapshot}
   * @return whether a connection was free
   * @throws MillraceException as {@link #read}
   */
  public boolean readBeside(String snapshot, Task task) {
    if (!turns.tryAcquire()) {
      return false;
    }
    try {
      runNow(
          "%s; SET TRANSACTION SNAPSHOT '%s'%s".formatted(SNAPSHOT, snapshot, settings("0")),
          connection -> {
            task.run(connection);
            return null;
          });
      return true;
    } catch (SQLException e) {
      throw PostgresFailure.of(settings, e);
    } finally {
      turns.release();
    }
  }

  /**
   * Runs work in one READ WRITE, READ COMMITTED transaction, rolled back on any exception. Each
   * statement may take 60 s.
   *
   * @return what the work returns
   * @throws MillraceException as {@link #read}; after {@code POSTGRES_UNAVAILABLE} the transaction
   *     may have been committed
   */
  public <T> T transact(Work<T> work) {
    return run(TRANSACT, work);
  }

  /**
   * Streams the rows of a SELECT in Postgres' binary COPY format; to be called inside {@link
   * #read}.
   *
   * @param connection the one that {@link #read} gave
   * @param select a SELECT without parameters
   * @param rows gets the stream, on the calling thread
   * @return the number of rows in the command tag
   */
  public long copy(Connection connection, String select, CopyOut.Rows rows) throws SQLException {
    return new CopyOut(settings, CopyOut.Format.BINARY, this::backend)
        .copy(connection, select, rows);
  }

  /**
   * The same in the <a
   * href="https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-FILE-FORMATS">text
   * format</a>, in UTF-8.
   */
  public long copyText(Connection connection, String select, CopyOut.Rows rows)
      throws SQLException {
    return new CopyOut(settings, CopyOut.Format.TEXT, this::backend).copy(connection, select, rows);
  }

  private <T> T run(String begin, Work<T> work) {
    awaitTurn();
    try {
      return runNow(begin, work);
    } catch (SQLException e) {
      throw PostgresFailure.of(settings, e);
    } finally {
      turns.release();
    }
  }

  private <T> T runNow(String begin, Work<T> work) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      boolean done = false;
      try {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
          statement.execute(begin);
        }
        T result = work.run(connection);
        connection.commit();
        done = true;
        return result;
      } finally {
        if (!done) {
          rollBack(connection);
        }
      }
    }
  }

  private void rollBack(Connection connection) {
    try {
      connection.rollback();
    } catch (SQLException e) {
      // The first failure is the one to tell; a connection that can't roll back is not used again.
      pool.evictConnection(connection);
    }
  }

  private void awaitTurn() {
    try {
      if (turns.tryAcquire(TURN.toSeconds(), TimeUnit.SECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new MillraceException(
          ErrorCode.POSTGRES_UNAVAILABLE,
          "interrupted while waiting for a connection to Postgres '%s'".formatted(name()),
          e);
    }
    throw new MillraceException(
        ErrorCode.POSTGRES_UNAVAILABLE,
        "all %d connections to Postgres '%s' were in use for %d minutes; raise its max_connections"
            .formatted(settings.maxConnections(), name(), TURN.toMinutes()));
  }

  /** Looks at a server process of our own from outside, over a connection of its own. */
  private CopyOut.Backend backend(int process) throws SQLException {
    try (Connection connection = source(settings).getConnection();
        var query =
            connection.prepareStatement(
                "SELECT state, wait_event FROM pg_catalog.pg_stat_activity WHERE pid = ?")) {
      query.setInt(1, process);
      try (var row = query.executeQuery()) {
        if (!row.next() || !"active".equals(row.getString(1))) {
          return CopyOut.Backend.GONE;
        }
        return "ClientWrite".equals(row.getString(2))
            ? CopyOut.Backend.SENDING
            : CopyOut.Backend.WORKING;
      }
    }
  }

  /** Closes all connections. */
  @Override
  public void close() {
    pool.close();
  }
}
