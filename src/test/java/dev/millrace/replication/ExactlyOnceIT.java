package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testing.TestPostgres;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Writers with transactions of all lengths against back-to-back runs: each row version that a run
 * could see in its reach arrives exactly once. The plain window of the seed's flow reads the same
 * tables beside it and loses rows.
 */
class ExactlyOnceIT {
  private static final int SEEDS =
      (int) (1000 * Double.parseDouble(System.getProperty("millrace.scale", "0.1")));

  @Test
  void eachVisibleRowVersionArrivesExactlyOnce(@TempDir Path folder) throws SQLException {
    long first = Long.getLong("millrace.seed", System.nanoTime());
    Story.Counts all = Story.Counts.NONE;
    try (DirectRuns runs = new DirectRuns(TestPostgres.createDatabase(), folder)) {
      runs.execute("CREATE SCHEMA exact; CREATE SEQUENCE exact.version");
      for (int number = 0; number < SEEDS; number++) {
        long seed = first + number;
        try (Story story = new Story(runs, "story_" + number, new SplittableRandom(seed))) {
          Story.Counts counts = story.play();
          assertThat(story.arrived())
              .as("millrace.seed %d: %s", seed, story)
              .containsExactlyElementsOf(story.expected());
          all = all.plus(counts);
        }
      }
    }
    System.out.printf(
        "exactly once: %,d seeds from %d, %,d transactions, %,d runs: %,d row versions, of which Millrace lost 0 and sent 0 twice; the plain window lost %,d%n",
        SEEDS, first, all.transactions(), all.runs(), all.versions(), all.lostByPlainWindow());
    assertThat(all.lostByPlainWindow()).as("rows that the plain window loses").isPositive();
  }
}
