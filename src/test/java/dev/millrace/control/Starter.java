package dev.millrace.control;

import java.io.IOException;
import java.nio.file.Path;

/** A process that does one run of an extractor when it is told to. */
final class Starter {
  private Starter() {}

  /**
   * Says {@code ready}, waits for a line, says {@code began <milliseconds>} in the run, waits for
   * another one, and says {@code done} or {@code failed <why>}.
   *
   * @param arguments DSN, folder, extractor
   */
  public static void main(String[] arguments) throws IOException {
    ControlPlane plane = ControlPlane.of(arguments[2], Path.of(arguments[1]), arguments[0]);
    // What a driver's first connection costs is not what is measured.
    try (DsnDatabase database = DsnDatabase.of(arguments[0])) {
      database.transact(connection -> null);
    }
    System.out.println("ready");
    System.in.read();
    long start = System.nanoTime();
    try {
      plane.run(
          "nightly",
          run -> {
            System.out.println("began " + (System.nanoTime() - start) / 1_000_000);
            System.in.read();
            run.event(Run.Outcome.of("t", null, EventStatus.OK, 1L));
            return null;
          });
      System.out.println("done");
    } catch (IOException | RuntimeException exception) {
      System.out.println("failed " + exception);
    }
  }
}
