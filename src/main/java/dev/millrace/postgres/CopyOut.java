package dev.millrace.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;
import org.postgresql.util.PSQLState;

/**
 * A COPY to us. One thread reads the socket into blocks, the caller's thread works on them: the two
 * overlap, and the caller stays able to stop while the server is silent.
 *
 * <p>Memory is bounded by a few blocks. Used by one caller for one COPY.
 */
public final class CopyOut {
  private static final int BLOCK = 256 << 10;
  private static final int BLOCKS = 4;
  private static final long PATIENCE_SECONDS = 10;
  private static final Block END = new Block(new byte[0]);

  private final PostgresSettings settings;
  private final Format format;
  private final Probe probe;
  private final BlockingQueue<Block> filled = new ArrayBlockingQueue<>(BLOCKS + 1);
  private final BlockingQueue<Block> free = new ArrayBlockingQueue<>(BLOCKS);

  private volatile boolean stopped;
  private volatile long received;
  // Written by the reader before it offers END, read by the caller after it took END.
  private Throwable failure;
  private long copied;

  /** Gets the stream of a COPY; of a binary one: header, rows and trailer. */
  @FunctionalInterface
  public interface Rows {
    /**
     * Takes the next bytes, cut at any position.
     *
     * @param data valid from offset, only during the call
     * @param offset of the first byte
     * @param length number of bytes, at least 1
     */
    void accept(byte[] data, int offset, int length);

    /**
     * Called about once a second while nothing comes; may throw to stop the COPY.
     *
     * <p>A server may work for long before it has a row to send.
     */
    default void waiting() {}
  }

  /** What a server process does, seen over another connection. */
  enum Backend {
    /** It runs our query. */
    WORKING,
    /** It waits for us to take what it has sent. */
    SENDING,
    /** It has ended, or thinks that our query has. */
    GONE
  }

  /** Tells what a server process does. */
  interface Probe {
    Backend look(int process) throws SQLException;
  }

  private static final class Block {
    private final byte[] bytes;
    private int length;

    private Block(byte[] bytes) {
      this.bytes = bytes;
    }
  }

  /** What the stream is made of. */
  enum Format {
    BINARY,
    TEXT
  }

  CopyOut(PostgresSettings settings, Format format, Probe probe) {
    this.settings = settings;
    this.format = format;
    this.probe = probe;
    for (int i = 0; i < BLOCKS; i++) {
      free.add(new Block(new byte[BLOCK]));
    }
  }

  long copy(Connection connection, String select, Rows rows) throws SQLException {
    PGConnection driver = connection.unwrap(PGConnection.class);
    int process = process(connection);
    int timeout = connection.getNetworkTimeout();
    // A scan that finds nothing, or a view that sorts, is silent for as long as it takes; whether
    // the connection still lives is asked over another one, see awaitBlock.
    connection.setNetworkTimeout(Runnable::run, 0);
    Thread reader = new Thread(() -> read(driver, select), "copy-" + settings.name());
    reader.setDaemon(true);
    reader.start();
    boolean ended = false;
    try {
      drain(process, rows);
      ended = true;
    } finally {
      if (!ended) {
        stop(connection, driver, reader);
      }
    }
    rethrow();
    connection.setNetworkTimeout(Runnable::run, timeout);
    return copied;
  }

  private void drain(int process, Rows rows) throws SQLException {
    while (true) {
      Block block = awaitBlock(process, rows);
      if (block == END) {
        return;
      }
      rows.accept(block.bytes, 0, block.length);
      free.add(block);
    }
  }

  private Block awaitBlock(int process, Rows rows) throws SQLException {
    long heard = received;
    long silentSince = System.nanoTime();
    while (true) {
      Block block = poll();
      if (block != null) {
        return block;
      }
      rows.waiting();
      if (heard != received) {
        heard = received;
        silentSince = System.nanoTime();
      }
      if (System.nanoTime() - silentSince < settings.socketTimeout().toNanos()) {
        continue;
      }
      Backend backend = look(process);
      if (backend == Backend.WORKING) {
        silentSince = System.nanoTime();
        continue;
      }
      // What the server sent just before we looked may still be on its way.
      block = poll();
      if (block != null) {
        return block;
      }
      if (heard == received) {
        throw new PSQLException(
            "nothing came for %d s although the server %s: the connection is broken"
                .formatted(
                    settings.socketTimeout().toSeconds(),
                    backend == Backend.SENDING ? "sends" : "no longer runs the query"),
            PSQLState.CONNECTION_FAILURE);
      }
    }
  }

  private Backend look(int process) throws SQLException {
    try {
      return probe.look(process);
    } catch (SQLException e) {
      if (e.getSQLState() != null && e.getSQLState().startsWith("53")) {
        // No connection is free to look with: this says nothing about ours.
        return Backend.WORKING;
      }
      throw e;
    }
  }

  /** Returns the server process as the server numbers it; a pooler tells the driver another. */
  private static int process(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
      row.next();
      return row.getInt(1);
    }
  }

  private Block poll() throws SQLException {
    try {
      return filled.poll(1, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new PSQLException("interrupted during COPY", PSQLState.QUERY_CANCELED, e);
    }
  }

  /**
   * Ends the query, the reader and the connection. The connection is not used again: a cancel that
   * comes late would end somebody else's query on it.
   */
  private void stop(Connection connection, PGConnection driver, Thread reader) {
    stopped = true;
    try {
      driver.cancelQuery();
    } catch (SQLException e) {
      // The server finds out when it next writes to the closed connection.
    }
    join(reader);
    try {
      connection.abort(Runnable::run);
    } catch (SQLException e) {
      // Nothing is left to do: the pool finds it broken.
    }
  }

  private static void join(Thread reader) {
    boolean interrupted = Thread.interrupted();
    try {
      reader.join(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void rethrow() throws SQLException {
    if (failure instanceof SQLException sql) {
      throw sql;
    }
    if (failure != null) {
      throw new IllegalStateException("the reader of a COPY failed", failure);
    }
  }

  private void read(PGConnection driver, String select) {
    try {
      copied = readAll(driver, select);
    } catch (SQLException | RuntimeException | Error | InterruptedException e) {
      failure = e;
    }
    // One place more than there are blocks: this never waits.
    filled.add(END);
  }

  private long readAll(PGConnection driver, String select)
      throws SQLException, InterruptedException {
    org.postgresql.copy.CopyOut copy =
        driver
            .getCopyAPI()
            .copyOut(
                "COPY (%s) TO STDOUT (FORMAT %s)"
                    .formatted(select, format.name().toLowerCase(Locale.ROOT)));
    fill(copy);
    return copy.getHandledRowCount();
  }

  private void fill(org.postgresql.copy.CopyOut copy) throws SQLException, InterruptedException {
    Block block = next();
    long total = 0;
    for (byte[] data = copy.readFromCopy(); data != null; data = copy.readFromCopy()) {
      int from = 0;
      while (from < data.length) {
        if (block.length == BLOCK) {
          filled.add(block);
          block = next();
        }
        int count = Math.min(BLOCK - block.length, data.length - from);
        System.arraycopy(data, from, block.bytes, block.length, count);
        block.length += count;
        from += count;
      }
      total += data.length;
      received = total;
    }
    if (block.length > 0) {
      filled.add(block);
    }
  }

  private Block next() throws InterruptedException, SQLException {
    while (true) {
      Block block = free.poll(1, TimeUnit.SECONDS);
      if (block != null) {
        block.length = 0;
        return block;
      }
      if (stopped) {
        throw new PSQLException("the COPY was stopped", PSQLState.QUERY_CANCELED);
      }
    }
  }
}
