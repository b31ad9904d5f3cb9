package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.dev.PostgresServer;
import dev.millrace.postgres.Postgres;
import dev.millrace.postgres.PostgresSettings;
import dev.millrace.postgres.SslMode;
import dev.millrace.testing.Await;
import dev.millrace.testing.TestPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/** A primary and a real standby of it as the source. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StandbyIT {
  @TempDir private static Path folder;

  private static PostgresServer primary;
  private static PostgresServer standby;
  private static Postgres primarySource;
  private static Postgres standbySource;
  private static DirectRuns onPrimary;
  private static DirectRuns onStandby;

  @BeforeAll
  static void start() throws Exception {
    Path first = folder.resolve("primary");
    Path second = folder.resolve("standby");
    PostgresServer.start(first, 0, false).close();
    copy(first, second);
    Path data = second.resolve("data");
    primary = PostgresServer.start(first, 0, false);
    Files.createFile(data.resolve("standby.signal"));
    Files.writeString(
        data.resolve("postgresql.auto.conf"),
        "primary_conninfo = '%s'\n".formatted(primary.url()),
        StandardOpenOption.APPEND);
    standby = PostgresServer.start(second, 0, false);
    execute(primary, "CREATE SCHEMA s");
    primarySource = source(primary);
    standbySource = source(standby);
    String state = TestPostgres.createDatabase();
    onPrimary = new DirectRuns(state, folder.resolve("lake"), primarySource);
    onStandby = new DirectRuns(state, folder.resolve("lake"), standbySource);
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Files.copy(
            file, to.resolve(from.relativize(file).toString()), StandardCopyOption.COPY_ATTRIBUTES);
      }
    }
  }

  private static Postgres source(PostgresServer server) {
    return new Postgres(
        new PostgresSettings(
            "source",
            server.host(),
            server.port(),
            PostgresServer.DATABASE,
            PostgresServer.USER,
            server.password(),
            SslMode.DISABLE,
            null,
            4,
            Duration.ofSeconds(10),
            Duration.ofMinutes(1)));
  }

  @AfterAll
  static void stop() throws IOException {
    onPrimary.close();
    onStandby.close();
    primarySource.close();
    standbySource.close();
    standby.close();
    primary.close();
  }

  private static void execute(PostgresServer server, String sql) throws SQLException {
    try (Connection connection = server.connect();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String value(PostgresServer server, String sql) {
    try (Connection connection = server.connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    } catch (SQLException exception) {
      throw new IllegalStateException(sql, exception);
    }
  }

  private static void caughtUp() {
    String written = value(primary, "SELECT pg_current_wal_insert_lsn()");
    Await.until(
        "the standby has replayed " + written,
        () ->
            "t"
                .equals(
                    value(
                        standby,
                        "SELECT pg_last_wal_replay_lsn() >= '%s'::pg_lsn".formatted(written))));
  }

  private static DirectRuns.Asked table(String name) throws SQLException {
    execute(
        primary,
        """
        CREATE TABLE s.%1$s (id int PRIMARY KEY, updated_at timestamptz NOT NULL);
        CREATE INDEX ON s.%1$s (updated_at);
        INSERT INTO s.%1$s VALUES (1, clock_timestamp())"""
            .formatted(name));
    caughtUp();
    return DirectRuns.Asked.of(name, "s." + name, "updated_at");
  }

  /** Case 2 (airbyte#10782). */
  @Test
  @Order(1)
  void aWindowEndsAtTheLastCommitThatTheStandbyHasReplayed() throws Exception {
    DirectRuns.Asked paused = table("paused");
    execute(standby, "SELECT pg_wal_replay_pause()");
    execute(primary, "INSERT INTO s.paused VALUES (2, clock_timestamp())");
    String replayed =
        value(
            standby,
            "SELECT to_char(pg_last_xact_replay_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US\"Z\"')");

    TableResult first = onStandby.run(paused).result();

    assertThat(first.rows()).isEqualTo(1);
    assertThat(first.high()).isEqualTo(replayed);
    assertThat(first.warning()).isNull();
    execute(standby, "SELECT pg_wal_replay_resume()");
    execute(primary, "INSERT INTO s.paused VALUES (3, clock_timestamp())");
    caughtUp();
    onStandby.run(paused);
    assertThat(onStandby.values("s.paused", "id")).containsExactly("1", "2", "3");
  }

  @Test
  @Order(2)
  void rowsThatCommitLateComeOnceFromAStandby() throws Exception {
    DirectRuns.Asked late = table("late");
    try (Connection session = primary.connect();
        Statement statement = session.createStatement()) {
      session.setAutoCommit(false);
      statement.execute("INSERT INTO s.late VALUES (2, clock_timestamp())");
      statement.execute("SAVEPOINT one");
      statement.execute("INSERT INTO s.late VALUES (3, clock_timestamp())");
      execute(primary, "INSERT INTO s.late VALUES (4, clock_timestamp())");
      caughtUp();
      assertThat(onStandby.run(late).result().rows()).isEqualTo(2);
      assertThat(onStandby.run(late).result().rows()).isZero();
      session.commit();
    }
    caughtUp();
    assertThat(onStandby.run(late).result().rows()).isEqualTo(2);
    assertThat(onStandby.run(late).result().rows()).isZero();
    assertThat(onStandby.values("s.late", "id")).containsExactly("1", "2", "3", "4");
  }

  @Test
  @Order(3)
  void aStandbyThatIsBehindTheLastRunIsWaitedFor() throws Exception {
    DirectRuns.Asked moved = table("moved");
    execute(standby, "SELECT pg_wal_replay_pause()");
    execute(primary, "INSERT INTO s.moved VALUES (2, clock_timestamp())");
    TableResult first = onPrimary.run(moved).result();
    assertThat(first.rows()).isEqualTo(2);

    TableResult second = onStandby.run(moved).result();

    assertThat(second.warning()).contains("behind the last run's snapshot");
    assertThat(second.high()).isEqualTo(first.high());
    execute(standby, "SELECT pg_wal_replay_resume()");
    execute(primary, "INSERT INTO s.moved VALUES (3, clock_timestamp())");
    caughtUp();
    assertThat(onStandby.run(moved).result().rows()).isEqualTo(1);
    assertThat(onStandby.values("s.moved", "id")).containsExactly("1", "2", "3");
  }

  /** The promoted standby has another timeline, on which ids of lost transactions come again. */
  @Test
  @Order(4)
  void afterAFailoverTheWindowAloneIsReadOnce() throws Exception {
    DirectRuns.Asked failover = table("failover");
    assertThat(onStandby.run(failover).result().rows()).isEqualTo(1);
    execute(standby, "SELECT pg_promote()");
    execute(standby, "INSERT INTO s.failover VALUES (2, clock_timestamp())");

    TableResult second = onStandby.run(failover).result();

    assertThat(second.warning()).contains("timeline 2").contains("failover");
    assertThat(second.rows()).isEqualTo(1);
    assertThat(onStandby.run(failover).result().warning()).isNull();
    assertThat(onStandby.values("s.failover", "id")).containsExactly("1", "2");
  }
}
