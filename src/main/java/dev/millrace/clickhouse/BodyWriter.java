package dev.millrace.clickhouse;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/**
 * Writes a body once, and tells a body that failed from a connection that did. For one thread.
 *
 * <p>A request that is merely left would end with its last chunk, as if it were whole; it is
 * cancelled first.
 */
final class BodyWriter {
  private final ClickHouse.Body body;
  private final Runnable cancel;
  private boolean written;
  private Throwable failure;

  BodyWriter(ClickHouse.Body body, Runnable cancel) {
    this.body = body;
    this.cancel = cancel;
  }

  void write(OutputStream out) throws IOException {
    if (written) {
      throw new IllegalStateException("a body is sent once");
    }
    written = true;
    Connection connection = new Connection(out);
    try {
      body.write(connection);
      connection.flush();
    } catch (IOException | RuntimeException | Error e) {
      if (!connection.broken) {
        failure = e;
        cancel.run();
      }
      throw e;
    }
  }

  /** Returns what the body threw by itself. */
  Optional<Throwable> failure() {
    return Optional.ofNullable(failure);
  }

  private static final class Connection extends FilterOutputStream {
    private boolean broken;

    Connection(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int octet) throws IOException {
      write(new byte[] {(byte) octet}, 0, 1);
    }

    @Override
    public void write(byte[] octets, int offset, int length) throws IOException {
      try {
        out.write(octets, offset, length);
      } catch (IOException e) {
        broken = true;
        throw e;
      }
    }

    @Override
    public void flush() throws IOException {
      try {
        out.flush();
      } catch (IOException e) {
        broken = true;
        throw e;
      }
    }

    @Override
    public void close() {
      // The request is ended by who began it.
    }
  }
}
