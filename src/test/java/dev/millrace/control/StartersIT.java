package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.testing.TestPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Eight processes that start their runs at once, each of an extractor of its own. */
class StartersIT {
  private static final int STARTERS = 8;

  /** What a start may wait for locks. */
  private static final long LOCK_TIMEOUT = 5_000;

  /** What eight cold JVMs need for the rest of a start on a busy machine of two cores. */
  private static final long COLD_START = 20_000;

  @TempDir private Path folder;
  private String database;
  private final List<ChildJvm> starters = new ArrayList<>();

  @BeforeEach
  void start() {
    database = TestPostgres.createDatabase();
    String dsn = TestPostgres.uri(database);
    IntStream.range(0, STARTERS)
        .forEach(i -> starters.add(ChildJvm.start(Starter.class, dsn, folder, "extractor-" + i)));
    starters.forEach(starter -> assertThat(starter.line("ready")).isNotNull());
  }

  @AfterEach
  void close() {
    starters.forEach(ChildJvm::close);
  }

  private String query(String sql) {
    return TestPostgres.query(database, sql);
  }

  private void ensure() {
    try (DsnDatabase control = DsnDatabase.of(TestPostgres.uri(database))) {
      ControlSchema.ensure(control);
    }
  }

  private void begin() {
    starters.forEach(starter -> starter.say(""));
  }

  private void assertAllBegan(long milliseconds) {
    for (ChildJvm starter : starters) {
      String began = starter.line("began");
      assertThat(began).as("a start failed").isNotNull();
      assertThat(Long.parseLong(began.substring("began ".length()))).isLessThan(milliseconds);
    }
  }

  private void assertAllEnd() {
    starters.forEach(starter -> starter.say(""));
    starters.forEach(starter -> assertThat(starter.line("done")).isNotNull());
    assertThat(
            query(
                "SELECT count(*) || '/' || count(DISTINCT extractor) FROM control.run WHERE status = 'ok'"))
        .isEqualTo("8/8");
    assertThat(query("SELECT count(*) FROM control.event")).isEqualTo("8");
    assertThat(query("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"))
        .isEqualTo("0");
    assertThat(
            query(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"))
        .isEqualTo("0");
  }

  private Connection locking(String mode) throws SQLException {
    Connection other = TestPostgres.server().getDatabase("postgres", database).getConnection();
    other.setAutoCommit(false);
    try (Statement statement = other.createStatement()) {
      statement.execute("LOCK TABLE control.event IN " + mode + " MODE");
    }
    return other;
  }

  @Test
  void onAnEmptyDatabaseAllBeginAndEnd() {
    begin();
    assertAllBegan(LOCK_TIMEOUT + COLD_START);
    assertAllEnd();
    ensure();
    assertThat(query(ControlSchemaIT.FACTS_QUERY)).contains("run_dbt_ready_notify");
  }

  @Test
  void aSchemaThatIsCurrentWaitsForNoLock() throws SQLException {
    ensure();
    try (Connection other = locking("ACCESS EXCLUSIVE")) {
      begin();
      assertAllBegan(COLD_START);
      other.rollback();
    }
    assertAllEnd();
  }

  @Test
  void aTriggerThatCannotBeHadDelaysNoStartBeyondTheTimeout() throws SQLException {
    ensure();
    TestPostgres.execute(database, "DROP TRIGGER event_dbt_ready_notify ON control.event");
    try (Connection other = locking("ROW EXCLUSIVE")) {
      begin();
      assertAllBegan(LOCK_TIMEOUT + COLD_START);
      assertThat(query("SELECT count(*) FROM pg_trigger WHERE tgname = 'event_dbt_ready_notify'"))
          .as("somebody had the table all the time")
          .isEqualTo("0");
      other.rollback();
    }
    assertAllEnd();
    ensure();
    assertThat(query(ControlSchemaIT.FACTS_QUERY)).contains("event_dbt_ready_notify");
  }
}
