package dev.millrace.run;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Tells once that something fails for now, and once that it works again. Thread-safe. */
final class Reach {
  private static final Logger LOG = LoggerFactory.getLogger(Reach.class);

  private final String what;
  private final AtomicBoolean failing = new AtomicBoolean();

  /**
   * Begins with something that works.
   *
   * @param what it is, for people
   */
  Reach(String what) {
    this.what = what;
  }

  void failed(Exception exception) {
    if (!failing.getAndSet(true)) {
      LOG.warn("{} fails for now and is tried until it works: {}", what, exception.getMessage());
    }
  }

  void worked() {
    if (failing.getAndSet(false)) {
      LOG.info("{} works again", what);
    }
  }
}
