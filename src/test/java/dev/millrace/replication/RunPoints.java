package dev.millrace.replication;

import dev.millrace.failure.Points;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** Named points of a run at which tests harm its worker. */
final class RunPoints {
  private RunPoints() {}

  /**
   * Returns all points with the profile {@code full}, else some of them.
   *
   * @param test is printed with the seed
   * @param always among them
   * @param others how many more, chosen by the seed
   */
  static List<String> of(Class<?> test, Set<String> always, int others) {
    List<String> points = new ArrayList<>(Points.of("prepare", "extract", "write"));
    points.remove("extract.audit");
    if (Double.parseDouble(System.getProperty("millrace.scale", "0.1")) >= 1) {
      return points;
    }
    long seed = Long.getLong("millrace.seed", System.nanoTime());
    System.out.println(test.getSimpleName() + ": -Dmillrace.seed=" + seed);
    points.removeAll(always);
    Collections.sort(points);
    Collections.shuffle(points, new Random(seed));
    List<String> chosen = new ArrayList<>(always);
    chosen.addAll(points.subList(0, others));
    return chosen;
  }
}
