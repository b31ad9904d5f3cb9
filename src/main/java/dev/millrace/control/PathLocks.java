package dev.millrace.control;

import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;

/** One lock for each path that somebody holds or waits for. Thread-safe. */
final class PathLocks {
  private static final class Counted {
    private final ReentrantLock lock = new ReentrantLock();
    private int users;
  }

  private final Map<Path, Counted> locks = new ConcurrentHashMap<>();

  /** Waits for the lock of a path and takes it. */
  void lock(Path path) {
    Counted counted =
        locks.compute(
            path,
            (key, before) -> {
              Counted now = before == null ? new Counted() : before;
              now.users++;
              return now;
            });
    counted.lock.lock();
  }

  /** Lets go of the lock, which the calling thread holds. */
  void unlock(Path path) {
    locks.computeIfPresent(
        path,
        (key, counted) -> {
          counted.lock.unlock();
          counted.users--;
          return counted.users == 0 ? null : counted;
        });
  }
}
