package dev.millrace.clickhouse;

import com.clickhouse.client.api.ClickHouseException;
import com.clickhouse.client.api.Client;
import com.clickhouse.client.api.ClientFaultCause;
import com.clickhouse.client.api.data_formats.ClickHouseBinaryFormatReader;
import com.clickhouse.client.api.enums.Protocol;
import com.clickhouse.client.api.insert.InsertSettings;
import com.clickhouse.client.api.query.QueryResponse;
import com.clickhouse.client.api.query.QuerySettings;
import com.clickhouse.data.ClickHouseFormat;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * A ClickHouse server, reached over HTTP.
 *
 * <p>A statement that changes something is sent once, under an id that the caller chose. When its
 * answer is lost, the server is asked what became of it. Nothing is ever sent again. Times in text
 * are UTC. Thread-safe.
 */
@SuppressWarnings("try") // An open response is the answer, and its close() is declared too widely.
public final class ClickHouse implements AutoCloseable {
  /** How long after a statement's limit its answer may arrive. */
  private static final Duration GRACE = Duration.ofSeconds(2);

  /** How long a server may be unreachable while it is asked. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** How long the end of a statement may take to appear in a log that can't be flushed. */
  private static final Duration LOG_DELAY = Duration.ofSeconds(10);

  /** What the client says in place of an error's text. */
  private static final String UNREADABLE = "<Unreadable error message>";

  private static final Duration KILL_BOUND = Duration.ofSeconds(10);
  private static final Duration PAUSE = Duration.ofMillis(100);
  private static final int CONNECTIONS = 64;

  /**
   * What turns off the removal of blocks that look repeated; the latter two overrule the first
   * since 26, and a server refuses a setting that it does not know.
   */
  private static final Map<String, String> NO_DEDUPLICATION =
      Map.of(
          "insert_deduplicate", "0",
          "deduplicate_insert", "disable",
          "deduplicate_insert_select", "disable");

  private final ClickHouseSettings settings;
  private final Client client;

  /** Of {@link #NO_DEDUPLICATION}, what the server knows; null until it was asked. */
  private volatile Map<String, String> noDeduplication;

  /**
   * Makes the client; connects when it is first used.
   *
   * @param settings where and as whom to connect
   */
  public ClickHouse(ClickHouseSettings settings) {
    this(settings, Map.of());
  }

  /** Makes a client whose every statement has more settings, for tests. */
  ClickHouse(ClickHouseSettings settings, Map<String, String> more) {
    this.settings = settings;
    Client.Builder builder = client(settings);
    more.forEach(builder::serverSetting);
    this.client = builder.build();
  }

  private static Client.Builder client(ClickHouseSettings settings) {
    return new Client.Builder()
        .addEndpoint(Protocol.HTTP, settings.host(), settings.port(), settings.tls())
        .setUsername(settings.user())
        .setPassword(settings.password() == null ? "" : settings.password())
        // A name without a database is nobody's; this one always exists.
        .setDefaultDatabase("system")
        .setClientName("millrace")
        .setConnectTimeout(settings.connectTimeout().toMillis(), ChronoUnit.MILLIS)
        .setSocketTimeout(settings.socketTimeout().toMillis(), ChronoUnit.MILLIS)
        .setMaxConnections(CONNECTIONS)
        // Its default is to send up to 4 times, an INSERT too.
        .setMaxRetries(0)
        .retryOnFailures(ClientFaultCause.None)
        .compressServerResponse(false)
        .compressClientRequest(false)
        .serverSetting("session_timezone", "UTC")
        // The status of the answer is only sent when the statement has ended.
        .serverSetting("wait_end_of_query", "1");
  }

  /** Returns the connection's name in the configuration. */
  public String name() {
    return settings.name();
  }

  /** Returns what the connection was made with. */
  public ClickHouseSettings settings() {
    return settings;
  }

  /**
   * Runs a SELECT with a small result, within the connection's statement timeout.
   *
   * @param sql without comments and FORMAT; {@code ?} stands for a value
   * @param reader reads a row
   * @param parameters a String, UUID, Boolean or number for each {@code ?}
   * @return what the reader returned, in the result's order
   * @throws MillraceException with {@code CLICKHOUSE_UNAVAILABLE}, {@code CLICKHOUSE_REFUSED},
   *     {@code CLICKHOUSE_ERROR}, {@code TARGET_MISSING} or {@code TIMEOUT}
   */
  public <T> List<T> query(String sql, Row.Reader<T> reader, Object... parameters) {
    return query(settings.statementTimeout(), sql, reader, parameters);
  }

  /**
   * Runs a SELECT with a small result, within a limit.
   *
   * @param limit that the server holds
   * @see #query(String, Row.Reader, Object...)
   */
  public <T> List<T> query(Duration limit, String sql, Row.Reader<T> reader, Object... parameters) {
    QuerySettings query =
        new QuerySettings()
            .setFormat(ClickHouseFormat.RowBinaryWithNamesAndTypes)
            .serverSetting("max_execution_time", seconds(limit));
    query.setNetworkTimeout(limit.plus(GRACE).toMillis(), ChronoUnit.MILLIS);
    String filled = SqlText.fill(sql, parameters);
    try {
      QueryResponse response = client.query(filled, query).get();
      try {
        return read(response, reader);
      } finally {
        response.close();
      }
    } catch (InterruptedException e) {
      throw interrupted(e);
    } catch (RuntimeException e) {
      // Others are faults of the reader.
      throw e instanceof ClickHouseException ? ClickHouseFailure.of(settings, e) : e;
    } catch (Exception e) {
      throw ClickHouseFailure.of(settings, unwrapped(e));
    }
  }

  private <T> List<T> read(QueryResponse response, Row.Reader<T> reader) {
    ClickHouseBinaryFormatReader rows = client.newBinaryFormatReader(response);
    List<T> read = new ArrayList<>();
    while (rows.hasNext()) {
      rows.next();
      read.add(reader.read(new Row(rows)));
    }
    return read;
  }

  /**
   * Runs a statement without a result: DDL, or an INSERT … SELECT (whose blocks are never taken for
   * repeated ones). Returns when the server has done it; at the end of the limit it is killed.
   *
   * @param sql the statement
   * @param queryId an id that no statement ever had
   * @param limit how long it may take
   * @throws MillraceException as {@link #query}; {@code TIMEOUT} when the limit ended it, {@code
   *     CLICKHOUSE_UNAVAILABLE} also when what became of it can't be known
   */
  public void execute(String sql, String queryId, Duration limit) {
    QuerySettings query = new QuerySettings().setQueryId(queryId);
    limits(limit).forEach(query::serverSetting);
    query.setNetworkTimeout(answerWithin(limit).toMillis(), ChronoUnit.MILLIS);
    long start = System.nanoTime();
    try {
      client.query(sql, query).get().close();
    } catch (InterruptedException e) {
      throw interrupted(e);
    } catch (Exception e) {
      settle(queryId, limit, start, e);
    }
  }

  /** Writes the rows of an INSERT. */
  @FunctionalInterface
  public interface Body {
    /**
     * Writes rows in RowBinary; called once, on the calling thread.
     *
     * @param out gets the rows; need not be closed
     * @throws IOException what {@code out} threw
     */
    void write(OutputStream out) throws IOException;
  }

  /**
   * Inserts a stream of rows in RowBinary, once; its blocks are never taken for repeated ones. When
   * the body fails the request is broken off, but blocks that the server has written stay.
   *
   * @param into what stands between {@code INSERT INTO} and {@code FORMAT}: a table and its
   *     columns, or a table and a SELECT from {@code input(…)}
   * @param queryId an id that no statement ever had
   * @param limit how long it may take
   * @param body writes the rows
   * @throws MillraceException as {@link #execute}, or what the body threw
   */
  public void insert(String into, String queryId, Duration limit, Body body) {
    InsertSettings insert = new InsertSettings().setQueryId(queryId);
    limits(limit).forEach(insert::serverSetting);
    insert.serverSetting("async_insert", "0");
    insert.setNetworkTimeout(answerWithin(limit).toMillis(), ChronoUnit.MILLIS);
    BodyWriter writer = new BodyWriter(body, () -> client.cancelTransportRequest(queryId));
    long start = System.nanoTime();
    try {
      client.insert(into, writer::write, ClickHouseFormat.RowBinary, insert).get().close();
    } catch (InterruptedException e) {
      throw interrupted(e);
    } catch (Exception e) {
      writer.failure().ifPresent(failure -> breakOff(queryId, failure));
      settle(queryId, limit, start, e);
    }
  }

  private Map<String, String> limits(Duration limit) {
    Map<String, String> limits = new HashMap<>(noDeduplication());
    limits.put("max_execution_time", seconds(limit));
    limits.put("distributed_ddl_task_timeout", seconds(limit));
    return limits;
  }

  private Map<String, String> noDeduplication() {
    Map<String, String> known = noDeduplication;
    if (known == null) {
      known = new HashMap<>(NO_DEDUPLICATION);
      known
          .keySet()
          .retainAll(
              query(
                  "SELECT name FROM system.settings WHERE name LIKE '%deduplicate%'",
                  row -> row.text(1)));
      noDeduplication = Map.copyOf(known);
    }
    return known;
  }

  private static String seconds(Duration limit) {
    return Long.toString(Math.max(1, limit.plusMillis(999).toSeconds()));
  }

  private Duration answerWithin(Duration limit) {
    Duration whole = limit.plus(GRACE);
    return whole.compareTo(settings.socketTimeout()) < 0 ? whole : settings.socketTimeout();
  }

  /** Ends an INSERT whose body failed, and throws what the body threw. */
  private void breakOff(String queryId, Throwable failure) {
    try {
      kill(queryId, KILL_BOUND);
    } catch (MillraceException e) {
      failure.addSuppressed(e);
    }
    if (failure instanceof RuntimeException runtime) {
      throw runtime;
    }
    if (failure instanceof IOException io) {
      throw new UncheckedIOException(io);
    }
    throw new IllegalStateException(failure);
  }

  /** Decides what became of a statement whose answer is an error or was lost. */
  private void settle(String queryId, Duration limit, long start, Exception failure) {
    MillraceException answer = ClickHouseFailure.of(settings, unwrapped(failure));
    if (ClickHouseFailure.number(answer) != 0) {
      throw spelledOut(queryId, answer, failure);
    }
    Duration left = limit.plus(GRACE).minusNanos(System.nanoTime() - start);
    QueryEnd end = await(queryId, left.isNegative() ? Duration.ZERO : left);
    switch (end.state()) {
      case FINISHED -> {}
      case FAILED -> throw ClickHouseFailure.of(settings, end.code(), end.message(), null, failure);
      case RUNNING ->
          throw new MillraceException(
              ErrorCode.TIMEOUT,
              "%s: query %s took longer than %d s and was %s"
                  .formatted(
                      ClickHouseFailure.place(settings),
                      queryId,
                      limit.toSeconds(),
                      kill(queryId, KILL_BOUND) ? "ended" : "told to end, but is still at it"),
              failure);
      case UNKNOWN ->
          throw new MillraceException(
              ErrorCode.CLICKHOUSE_UNAVAILABLE,
              "%s; what became of query %s is not known: %s"
                  .formatted(answer.getMessage(), queryId, end.message()),
              failure);
    }
  }

  /**
   * Returns a failure with the server's own words. The client reads no error that is another
   * library's, such as that of Postgres in {@code postgresql()}; the query log has it.
   */
  private MillraceException spelledOut(
      String queryId, MillraceException answer, Exception failure) {
    if (!answer.getMessage().contains(UNREADABLE)) {
      return answer;
    }
    try {
      QueryEnd end = await(queryId, GRACE);
      return end.state() == QueryEnd.State.FAILED
          ? ClickHouseFailure.of(settings, end.code(), end.message(), null, failure)
          : answer;
    } catch (MillraceException e) {
      answer.addSuppressed(e);
      return answer;
    }
  }

  private static Throwable unwrapped(Throwable failure) {
    return failure instanceof ExecutionException || failure instanceof CompletionException
        ? failure.getCause()
        : failure;
  }

  private MillraceException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    return new MillraceException(
        ErrorCode.CLICKHOUSE_UNAVAILABLE,
        "interrupted while waiting for " + ClickHouseFailure.place(settings),
        e);
  }

  /**
   * Returns a statement that the server works on.
   *
   * @return empty when it does not, or no longer
   */
  public Optional<RunningQuery> running(String queryId) {
    return runningWhere("query_id = ?", queryId).stream().findFirst();
  }

  /**
   * Returns statements that the server works on, of all users whose statements this user may see.
   *
   * @param condition on columns of <a
   *     href="https://clickhouse.com/docs/operations/system-tables/processes">system.processes</a>
   * @param parameters for each {@code ?} of the condition
   */
  public List<RunningQuery> runningWhere(String condition, Object... parameters) {
    return query(
        "SELECT query_id, user, toString(query_kind), toUInt64(elapsed),"
            + " substringUTF8(query, 1, 200) FROM system.processes WHERE (%s) AND query_id != queryID() ORDER BY elapsed DESC"
                .formatted(condition),
        row ->
            new RunningQuery(
                row.text(1),
                row.text(2),
                row.text(3),
                Duration.ofSeconds(row.number(4)),
                row.text(5)),
        parameters);
  }

  /**
   * Waits until the server no longer works on a statement, then asks its log how it ended. Bears
   * with a server that is unreachable for half a minute.
   *
   * @param queryId the statement's id
   * @param bound how long to wait for it at most
   * @throws MillraceException with {@code CLICKHOUSE_UNAVAILABLE} when the server can't be asked
   */
  public QueryEnd await(String queryId, Duration bound) {
    long end = System.nanoTime() + bound.toNanos();
    long patience = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try {
        if (running(queryId).isEmpty()) {
          return logged(queryId);
        }
        patience = System.nanoTime() + PATIENCE.toNanos();
        if (System.nanoTime() - end >= 0) {
          return QueryEnd.running();
        }
      } catch (MillraceException e) {
        if (e.code() != ErrorCode.CLICKHOUSE_UNAVAILABLE || System.nanoTime() - patience >= 0) {
          throw e;
        }
      }
      pause();
    }
  }

  private QueryEnd logged(String queryId) {
    long start = System.nanoTime();
    try {
      while (true) {
        // A statement that is on its way may yet come, for a moment, after the log was flushed.
        Duration delay = flushLogs() ? GRACE : LOG_DELAY;
        List<QueryEnd> ends =
            query(
                "SELECT exception_code, exception FROM system.query_log"
                    + " WHERE event_date >= toDate(now()) - 2 AND query_id = ? AND type > 1"
                    + " ORDER BY event_time_microseconds DESC LIMIT 1",
                row ->
                    row.number(1) == 0
                        ? QueryEnd.finished()
                        : QueryEnd.failed((int) row.number(1), row.text(2)),
                queryId);
        if (!ends.isEmpty()) {
          return ends.get(0);
        }
        if (System.nanoTime() - start >= delay.toNanos()) {
          return QueryEnd.unknown("the query log does not tell of its end");
        }
        pause();
      }
    } catch (MillraceException e) {
      if (e.code() == ErrorCode.CLICKHOUSE_UNAVAILABLE) {
        throw e;
      }
      return QueryEnd.unknown("the query log can't be read: " + e.getMessage());
    }
  }

  private boolean flushLogs() {
    try {
      command("SYSTEM FLUSH LOGS query_log");
      return true;
    } catch (MillraceException e) {
      if (e.code() == ErrorCode.CLICKHOUSE_UNAVAILABLE) {
        throw e;
      }
      // Without the right, or before 25, the log is written by itself every few seconds.
      return false;
    }
  }

  /**
   * Tells the server to end a statement and waits until it has.
   *
   * @param queryId the statement's id
   * @param bound how long to wait at most
   * @return whether the server no longer works on it
   */
  public boolean kill(String queryId, Duration bound) {
    if (queryId.isEmpty()) {
      throw new IllegalArgumentException("no query id");
    }
    long end = System.nanoTime() + bound.toNanos();
    // SYNC would wait on the server without a bound.
    command(SqlText.fill("KILL QUERY WHERE query_id = ? ASYNC", queryId));
    while (running(queryId).isPresent()) {
      if (System.nanoTime() - end >= 0) {
        return false;
      }
      pause();
    }
    return true;
  }

  /** Sends a statement that may as well be sent twice, and does not look at its result. */
  private void command(String sql) {
    try {
      client.query(sql, new QuerySettings()).get().close();
    } catch (InterruptedException e) {
      throw interrupted(e);
    } catch (Exception e) {
      throw ClickHouseFailure.of(settings, unwrapped(e));
    }
  }

  private void pause() {
    try {
      Thread.sleep(PAUSE.toMillis());
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /** Closes all connections. */
  @Override
  public void close() {
    client.close();
  }
}
