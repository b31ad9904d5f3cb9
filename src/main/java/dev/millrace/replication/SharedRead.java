package dev.millrace.replication;

import dev.millrace.failure.MillraceException;
import dev.millrace.parquet.CopyEncoder;
import dev.millrace.parquet.ParquetTable;
import dev.millrace.postgres.CopyOut;
import dev.millrace.postgres.Postgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the parts of a window into one file, over the attempt's own connection and over others that
 * read in its snapshot. Whichever connection is free takes the next part. Used once.
 */
final class SharedRead {
  private static final Logger LOG = LoggerFactory.getLogger(SharedRead.class);

  private final Postgres source;
  private final ParquetTable file;
  private final List<String> parts;
  private final Runnable check;
  private final AtomicInteger next = new AtomicInteger();
  private final AtomicInteger ended = new AtomicInteger();
  private final LongAdder rows = new LongAdder();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  /**
   * Makes the read.
   *
   * @param parts the SELECTs
   * @param check called after each block of each connection, on its thread; throws to stop all
   */
  SharedRead(Postgres source, ParquetTable file, List<String> parts, Runnable check) {
    this.source = source;
    this.file = file;
    this.parts = List.copyOf(parts);
    this.check = check;
  }

  /**
   * Reads all parts.
   *
   * @param connection in the transaction whose snapshot is read
   * @param most connections, this one included; fewer where no more are free
   * @return rows of the command tags
   */
  long run(Connection connection, int most) throws SQLException {
    List<Thread> others = others(connection, Math.min(most, parts.size()) - 1);
    try {
      read(connection, file.encoder());
    } catch (SQLException | RuntimeException | Error exception) {
      failure.compareAndSet(null, exception);
    } finally {
      others.forEach(SharedRead::join);
    }
    rethrow();
    return rows.sum();
  }

  private List<Thread> others(Connection connection, int count) throws SQLException {
    List<Thread> others = new ArrayList<>();
    if (count < 1) {
      return others;
    }
    String snapshot = Postgres.exportSnapshot(connection);
    for (int i = 0; i < count; i++) {
      CopyEncoder encoder = file.encoder();
      Thread thread = new Thread(() -> readBeside(snapshot, encoder), "extract-" + source.name());
      thread.setDaemon(true);
      thread.start();
      others.add(thread);
    }
    return others;
  }

  private void readBeside(String snapshot, CopyEncoder encoder) {
    AtomicBoolean begun = new AtomicBoolean();
    try {
      boolean free =
          source.readBeside(
              snapshot,
              connection -> {
                begun.set(true);
                read(connection, encoder);
              });
      if (!free) {
        LOG.debug("no more connections to Postgres '{}' are free", source.name());
      }
    } catch (MillraceException exception) {
      if (begun.get()) {
        failure.compareAndSet(null, exception);
      } else {
        // The others do without it.
        LOG.info("one more connection could not be had: {}", exception.getMessage());
      }
    } catch (RuntimeException | Error exception) {
      failure.compareAndSet(null, exception);
    }
  }

  private void read(Connection connection, CopyEncoder encoder) throws SQLException {
    for (int part = next.getAndIncrement(); part < parts.size(); part = next.getAndIncrement()) {
      encoder.start();
      rows.add(source.copy(connection, parts.get(part), new Encoding(encoder)));
      ended.incrementAndGet();
    }
  }

  /** Rows on their way into the file. */
  private final class Encoding implements CopyOut.Rows {
    private final CopyEncoder encoder;

    private Encoding(CopyEncoder encoder) {
      this.encoder = encoder;
    }

    @Override
    public void accept(byte[] data, int offset, int length) {
      encoder.accept(data, offset, length);
      waiting();
    }

    @Override
    public void waiting() {
      if (failure.get() != null) {
        throw new CancellationException("another connection of the read failed");
      }
      check.run();
    }
  }

  private static void join(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException exception) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void rethrow() throws SQLException {
    Throwable first = failure.get();
    if (first instanceof SQLException exception) {
      throw exception;
    }
    if (first instanceof RuntimeException exception) {
      throw exception;
    }
    if (first instanceof Error error) {
      throw error;
    }
    if (ended.get() != parts.size()) {
      throw new IllegalStateException(
          "%d of %d parts of a window were read".formatted(ended.get(), parts.size()));
    }
  }
}
