package dev.millrace.control;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * The batches of a tail, in order. While the caller works on one, a thread reads the next, so that
 * the server does not wait for it; a tail of one batch, which most are, needs no thread.
 *
 * <p>Not thread-safe.
 */
final class WalBatches implements AutoCloseable {
  private final WalTail tail;

  /** Null when nothing is read ahead. Nobody else uses the tail until it is complete. */
  private CompletableFuture<Optional<WalBatch>> ahead;

  /** Takes over the tail, which is closed with this. */
  WalBatches(WalTail tail) {
    this.tail = tail;
  }

  /**
   * Returns the next batch, or nothing when there are no more.
   *
   * @throws dev.millrace.failure.MillraceException with {@code WAL_UNWRITABLE} when the log can't
   *     be read
   */
  Optional<WalBatch> next() {
    Optional<WalBatch> batch = ahead == null ? read() : awaited();
    ahead = tail.hasMore() ? CompletableFuture.supplyAsync(this::read, WalBatches::start) : null;
    return batch;
  }

  /** Waits for the thread, which must not read a closed file. */
  @Override
  public void close() {
    if (ahead != null) {
      ahead.exceptionally(failure -> Optional.empty()).join();
    }
    tail.close();
  }

  private Optional<WalBatch> read() {
    List<WalTail.Line> lines = tail.next();
    return lines.isEmpty() ? Optional.empty() : Optional.of(WalBatch.of(lines));
  }

  private Optional<WalBatch> awaited() {
    try {
      return ahead.join();
    } catch (CompletionException exception) {
      throw exception.getCause() instanceof RuntimeException cause ? cause : exception;
    }
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "log-reading");
    thread.setDaemon(true);
    thread.start();
  }
}
