package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.testing.Await;
import dev.millrace.testing.TestPostgres;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.IntStream;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The connection of a library user to a real Postgres. */
class DsnDatabaseIT {
  private static final Executor OWN_THREAD = task -> new Thread(task).start();

  private static String name;

  private DsnDatabase database;

  @BeforeAll
  static void create() {
    name = TestPostgres.createDatabase();
    TestPostgres.execute(name, "CREATE TABLE counter (value integer)");
    TestPostgres.execute(
        "postgres", "ALTER DATABASE %s SET timezone = 'Asia/Kolkata'".formatted(name));
  }

  @BeforeEach
  void open() {
    TestPostgres.execute(name, "TRUNCATE counter; INSERT INTO counter VALUES (0)");
    database = DsnDatabase.of(TestPostgres.uri(name));
  }

  @AfterEach
  void close() {
    database.close();
  }

  private static String query(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    }
  }

  private String query(String sql) {
    return database.transact(connection -> query(connection, sql));
  }

  private void count() {
    database.transact(
        connection -> {
          try (Statement statement = connection.createStatement()) {
            statement.execute("UPDATE public.counter SET value = value + 1");
          }
          return null;
        });
  }

  private static String counted() {
    return TestPostgres.query(name, "SELECT value FROM counter");
  }

  private static AbstractThrowableAssert<?, ?> assertFails(ErrorCode code, ThrowingCallable call) {
    return assertThatThrownBy(call)
        .isInstanceOfSatisfying(
            MillraceException.class,
            failure -> assertThat(failure.code()).as(failure.getMessage()).isEqualTo(code));
  }

  @Test
  void aTransactionIsReadCommittedAndInUtc() {
    assertThat(query("SHOW TimeZone")).isEqualTo("UTC");
    assertThat(query("SHOW transaction_isolation")).isEqualTo("read committed");
    assertThat(query("SHOW application_name")).isEqualTo("millrace");
    assertThat(
            query("SELECT source FROM pg_settings WHERE name = 'TimeZone' AND reset_val <> 'UTC'"))
        .as("set for the transaction only")
        .isEqualTo("session");
  }

  @Test
  void theSameConnectionServesAgain() {
    String process = query("SELECT pg_backend_pid()");
    count();
    assertThat(query("SELECT pg_backend_pid()")).isEqualTo(process);
    assertThat(counted()).isEqualTo("1");
  }

  @Test
  void nothingIsPreparedByName() {
    for (int i = 0; i < 10; i++) {
      count();
    }
    assertThat(query("SELECT count(*) FROM pg_prepared_statements")).isEqualTo("0");
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void workThatFailsIsRolledBackAndTheNextGoesOn(boolean ofTheServer) {
    assertThatThrownBy(
            () ->
                database.transact(
                    connection -> {
                      query(connection, "UPDATE public.counter SET value = 7 RETURNING value");
                      if (ofTheServer) {
                        query(connection, "SELECT 1/0");
                      }
                      throw new IllegalArgumentException("ours");
                    }))
        .isInstanceOf(ofTheServer ? MillraceException.class : IllegalArgumentException.class);
    assertThat(counted()).isEqualTo("0");
    count();
    assertThat(counted()).isEqualTo("1");
  }

  @Test
  void aConnectionThatTheServerEndedIsOpenedAgainUnseen() {
    String process = query("SELECT pg_backend_pid()");
    end(process);
    count();
    assertThat(counted()).isEqualTo("1");
    assertThat(query("SELECT pg_backend_pid()")).isNotEqualTo(process);
  }

  private static void end(String process) {
    TestPostgres.query(name, "SELECT pg_terminate_backend(%s)".formatted(process));
    Await.until(
        "the server process ends",
        () ->
            TestPostgres.query(
                    name, "SELECT 1 FROM pg_stat_activity WHERE pid = %s".formatted(process))
                == null);
  }

  @Test
  void aConnectionThatIsLostInTheMiddleOfWorkIsAnErrorAndTheNextGoesOn() {
    assertFails(
            ErrorCode.POSTGRES_UNAVAILABLE,
            () ->
                database.transact(
                    connection -> {
                      query(connection, "UPDATE public.counter SET value = 7 RETURNING value");
                      end(query(connection, "SELECT pg_backend_pid()"));
                      return query(connection, "SELECT 1");
                    }))
        .hasMessageContaining("control database 127.0.0.1:");
    assertThat(counted()).isEqualTo("0");
    count();
    assertThat(counted()).isEqualTo("1");
  }

  @Test
  void manyThreadsShareIt() {
    List<CompletableFuture<Void>> threads =
        IntStream.range(0, 8)
            .mapToObj(
                i ->
                    CompletableFuture.runAsync(
                        () -> IntStream.range(0, 25).forEach(j -> count()), OWN_THREAD))
            .toList();
    threads.forEach(CompletableFuture::join);
    assertThat(counted()).isEqualTo("200");
  }

  @Test
  void aTransactionInsideATransactionIsRefused() {
    assertThatIllegalStateException()
        .isThrownBy(() -> database.transact(connection -> query("SELECT 1")));
    count();
    assertThat(counted()).isEqualTo("1");
  }

  @Test
  void aClosedDatabaseIsOpenedNoMore() {
    String process = query("SELECT pg_backend_pid()");
    database.close();
    Await.until(
        "the server process ends",
        () ->
            TestPostgres.query(
                    name, "SELECT 1 FROM pg_stat_activity WHERE pid = %s".formatted(process))
                == null);
    assertThatIllegalStateException().isThrownBy(this::count);
    database.close();
  }

  @Test
  void aUrlOfTheDriverServesAsWell() {
    try (DsnDatabase jdbc =
        DsnDatabase.of(TestPostgres.server().getJdbcUrl("postgres", name) + "&sslmode=disable")) {
      String zone = jdbc.transact(connection -> query(connection, "SHOW TimeZone"));
      assertThat(zone).isEqualTo("UTC");
    }
  }

  @Test
  void optionsReachTheServer() {
    try (DsnDatabase given =
        DsnDatabase.of(TestPostgres.uri(name) + "&options=-c%20work_mem%3D77MB")) {
      String memory = given.transact(connection -> query(connection, "SHOW work_mem"));
      assertThat(memory).isEqualTo("77MB");
    }
  }

  @Test
  void aServerThatIsNotThereIsToldWithPlaceAndWithoutPassword() throws IOException {
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    try (DsnDatabase gone =
        DsnDatabase.of("postgresql://u:hunter22@127.0.0.1:%d/d".formatted(port))) {
      assertFails(ErrorCode.POSTGRES_UNAVAILABLE, () -> gone.transact(connection -> null))
          .hasMessageContaining("127.0.0.1:%d/d".formatted(port))
          .hasMessageNotContaining("hunter22");
    }
  }

  @Test
  void aServerThatSaysNothingIsGivenUp() throws IOException {
    try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        DsnDatabase dead =
            DsnDatabase.of(
                "postgresql://u@127.0.0.1:%d/d?connect_timeout=1"
                    .formatted(silent.getLocalPort()))) {
      long start = System.nanoTime();
      assertFails(ErrorCode.POSTGRES_UNAVAILABLE, () -> dead.transact(connection -> null));
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
    }
  }

  @Test
  void anUnknownDatabaseIsRefused() {
    try (DsnDatabase unknown = DsnDatabase.of(TestPostgres.uri("nowhere"))) {
      assertFails(ErrorCode.POSTGRES_REFUSED, () -> unknown.transact(connection -> null))
          .hasMessageContaining("user 'postgres'");
    }
  }

  @Test
  void aMissingTableAndAMissingRightHaveTheirOwnCodes() {
    assertFails(ErrorCode.TABLE_MISSING, () -> query("SELECT 1 FROM public.nothing"));
    TestPostgres.execute(name, "CREATE ROLE nobody_at_all LOGIN");
    try (DsnDatabase nobody = DsnDatabase.of(TestPostgres.uri(name, "nobody_at_all"))) {
      assertFails(
          ErrorCode.NO_PRIVILEGE,
          () -> nobody.transact(connection -> query(connection, "SELECT 1 FROM public.counter")));
    }
  }
}
