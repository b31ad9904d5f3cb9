package dev.millrace.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/** Tests that run beside each other, as most of their time is waiting. For one thread. */
public final class SideBySide {
  private final ExecutorService threads;
  private final List<DynamicTest> tests = new ArrayList<>();

  /**
   * Runs none yet.
   *
   * @param atATime how many run at once
   */
  public SideBySide(int atATime) {
    threads = Executors.newFixedThreadPool(atATime);
  }

  /** Starts a test when it is its turn. */
  public void add(String name, Callable<Void> test) {
    Future<Void> ended = threads.submit(test);
    tests.add(DynamicTest.dynamicTest(name, () -> await(ended)));
  }

  private static void await(Future<Void> ended) throws Throwable {
    try {
      ended.get();
    } catch (ExecutionException exception) {
      throw exception.getCause();
    }
  }

  /** Returns all tests; no more can be added. */
  public Stream<DynamicTest> tests() {
    threads.shutdown();
    return tests.stream();
  }
}
