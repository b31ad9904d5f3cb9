package dev.millrace.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.testing.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class PostgresIT {
  private static String database;
  private static Postgres postgres;

  @BeforeAll
  static void connect() {
    database = TestPostgres.createDatabase();
    TestPostgres.execute(database, "CREATE TABLE parcel (id int8 PRIMARY KEY, weight int4)");
    TestPostgres.execute(
        database, "ALTER DATABASE %s SET TimeZone = 'Asia/Kathmandu'".formatted(database));
    TestPostgres.execute(
        database, "ALTER DATABASE %s SET DateStyle = 'German'".formatted(database));
    postgres = TestPostgres.connect(database);
  }

  @AfterAll
  static void close() {
    postgres.close();
  }

  private static String value(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getString(1);
    }
  }

  private static void assertCode(ErrorCode code, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOfSatisfying(MillraceException.class, e -> assertThat(e.code()).isEqualTo(code));
  }

  @Test
  void aReadingSessionHasFixedSettingsWhateverTheDatabasesDefaults() {
    postgres.read(
        connection -> {
          assertThat(value(connection, "SHOW transaction_read_only")).isEqualTo("on");
          assertThat(value(connection, "SHOW transaction_isolation")).isEqualTo("repeatable read");
          assertThat(value(connection, "SHOW row_security")).isEqualTo("off");
          assertThat(value(connection, "SHOW TimeZone")).isEqualTo("UTC");
          assertThat(value(connection, "SHOW DateStyle")).isEqualTo("ISO, YMD");
          assertThat(value(connection, "SHOW search_path")).isEqualTo("pg_catalog");
          assertThat(value(connection, "SHOW statement_timeout")).isEqualTo("0");
          assertThat(value(connection, "SHOW lock_timeout")).isEqualTo("30s");
          assertThat(value(connection, "SHOW application_name")).isEqualTo("millrace");
          return null;
        });
  }

  @Test
  void nothingOfAReadingSessionStaysOnTheConnection() {
    PostgresSettings one = limited(1, Duration.ofSeconds(60));
    try (Postgres single = new Postgres(one)) {
      single.read(connection -> null);
      single.transact(
          connection -> {
            assertThat(value(connection, "SHOW transaction_read_only")).isEqualTo("off");
            assertThat(value(connection, "SHOW transaction_isolation")).isEqualTo("read committed");
            assertThat(value(connection, "SHOW statement_timeout")).isEqualTo("1min");
            return null;
          });
    }
  }

  @Test
  void aTransactionIsRolledBackWhenItsWorkFails() {
    TestPostgres.execute(database, "CREATE TABLE rolled (id int4)");
    assertThatThrownBy(
            () ->
                postgres.transact(
                    connection -> {
                      value(connection, "INSERT INTO public.rolled VALUES (1) RETURNING id");
                      throw new IllegalStateException("no");
                    }))
        .hasMessage("no");
    assertThat(TestPostgres.query(database, "SELECT count(*) FROM rolled")).isEqualTo("0");
  }

  @Test
  void aReadCanNotWrite() {
    assertCode(
        ErrorCode.POSTGRES_ERROR,
        () -> postgres.read(c -> value(c, "INSERT INTO public.parcel VALUES (1) RETURNING id")));
  }

  @Test
  void errorsOfTheServerGetTheirCodes() {
    assertCode(ErrorCode.TABLE_MISSING, () -> postgres.read(c -> value(c, "SELECT 1 FROM gone")));
    assertCode(
        ErrorCode.COLUMN_MISSING, () -> postgres.read(c -> value(c, "SELECT gone FROM pg_class")));
    assertCode(ErrorCode.POSTGRES_ERROR, () -> postgres.read(c -> value(c, "SELECT 1/0")));
    assertCode(
        ErrorCode.POSTGRES_UNAVAILABLE,
        () -> postgres.read(c -> value(c, "SELECT pg_terminate_backend(pg_backend_pid())")));
    assertThat(postgres.<String>read(c -> value(c, "SELECT 1"))).isEqualTo("1");
  }

  @Test
  void aServerThatIsNotThereIsUnavailable() {
    PostgresSettings nowhere =
        new PostgresSettings(
            "gone",
            "127.0.0.1",
            1,
            "d",
            "u",
            null,
            SslMode.REQUIRE,
            null,
            2,
            Duration.ofSeconds(1),
            Duration.ofSeconds(1));
    try (Postgres gone = new Postgres(nowhere)) {
      assertThatThrownBy(() -> gone.read(c -> null))
          .isInstanceOfSatisfying(
              MillraceException.class,
              e -> assertThat(e.code()).isEqualTo(ErrorCode.POSTGRES_UNAVAILABLE))
          .hasMessageContaining("'gone'")
          .hasMessageContaining("127.0.0.1:1/d");
    }
  }

  @Test
  void aDatabaseOrRoleThatIsNotThereIsRefused() {
    for (PostgresSettings wrong :
        new PostgresSettings[] {
          brief(TestPostgres.settings("nowhere")), brief(TestPostgres.settings(database, "nobody"))
        }) {
      try (Postgres refused = new Postgres(wrong)) {
        assertCode(ErrorCode.POSTGRES_REFUSED, () -> refused.read(c -> null));
      }
    }
  }

  private static PostgresSettings brief(PostgresSettings s) {
    return new PostgresSettings(
        s.name(),
        s.host(),
        s.port(),
        s.database(),
        s.user(),
        null,
        s.sslMode(),
        null,
        1,
        Duration.ofSeconds(1),
        Duration.ofSeconds(5));
  }

  private static PostgresSettings limited(int connections, Duration socketTimeout) {
    PostgresSettings s = TestPostgres.settings(database);
    return new PostgresSettings(
        s.name(),
        s.host(),
        s.port(),
        s.database(),
        s.user(),
        null,
        s.sslMode(),
        null,
        connections,
        s.connectTimeout(),
        socketTimeout);
  }

  @Test
  void copyStreamsTheWholeResultAndTellsItsRows() {
    AtomicLong bytes = new AtomicLong();
    long rows =
        postgres.read(
            c ->
                postgres.copy(
                    c,
                    "SELECT i, repeat('x', 100) FROM generate_series(1, 50000) AS i",
                    (data, offset, length) -> bytes.addAndGet(length)));
    assertThat(rows).isEqualTo(50_000);
    // header, trailer; each row: field count, two lengths, int4, text
    assertThat(bytes.get()).isEqualTo(19 + 2 + 50_000L * (2 + 4 + 4 + 4 + 100));
  }

  @Test
  void aFailureOfTheReceiverEndsTheCopyOnTheServerAndItsConnection() {
    try (Postgres single = new Postgres(limited(1, Duration.ofSeconds(60)))) {
      String before = single.read(c -> value(c, "SELECT pg_backend_pid()"));
      assertThatThrownBy(
              () ->
                  single.read(
                      c ->
                          single.copy(
                              c,
                              "SELECT repeat('x', 1000) FROM (SELECT generate_series(1, 100000000)) AS s",
                              (data, offset, length) -> {
                                throw new IllegalStateException("full");
                              })))
          .hasMessage("full");
      assertThat(single.<String>read(c -> value(c, "SELECT pg_backend_pid()")))
          .isNotEqualTo(before);
      String left = "SELECT count(*) FROM pg_stat_activity WHERE pid = " + before;
      Instant deadline = Instant.now().plusSeconds(30);
      while (!"0".equals(TestPostgres.query(database, left))) {
        assertThat(Instant.now()).isBefore(deadline);
      }
    }
  }

  @Test
  void aCopyThatIsSilentForLongerThanTheSocketTimeoutGoesOn() {
    try (Postgres impatient = new Postgres(limited(2, Duration.ofSeconds(1)))) {
      AtomicInteger asked = new AtomicInteger();
      CopyOut.Rows rows =
          new CopyOut.Rows() {
            @Override
            public void accept(byte[] data, int offset, int length) {}

            @Override
            public void waiting() {
              asked.incrementAndGet();
            }
          };
      assertThat(impatient.<Long>read(c -> impatient.copy(c, "SELECT 1 FROM pg_sleep(4)", rows)))
          .isEqualTo(1);
      assertThat(asked.get()).isPositive();
    }
  }

  @Test
  void aReceiverCanStopASilentCopy() {
    CopyOut.Rows rows =
        new CopyOut.Rows() {
          @Override
          public void accept(byte[] data, int offset, int length) {}

          @Override
          public void waiting() {
            throw new IllegalStateException("stopped");
          }
        };
    assertThatThrownBy(
            () -> postgres.read(c -> postgres.copy(c, "SELECT 1 FROM pg_sleep(600)", rows)))
        .hasMessage("stopped");
  }

  @Test
  void anErrorInTheMiddleOfACopyIsTold() {
    assertCode(
        ErrorCode.POSTGRES_ERROR,
        () ->
            postgres.read(
                c ->
                    postgres.copy(
                        c,
                        "SELECT 1 / (100000 - i) FROM generate_series(1, 200000) AS i",
                        (data, offset, length) -> {})));
  }

  @Test
  void aCutConnectionFailsWithinTheSocketTimeout() throws Exception {
    try (Silencer silencer = new Silencer(TestPostgres.server().getPort())) {
      PostgresSettings s = limited(2, Duration.ofSeconds(2));
      PostgresSettings through =
          new PostgresSettings(
              s.name(),
              s.host(),
              silencer.port(),
              s.database(),
              s.user(),
              null,
              s.sslMode(),
              null,
              2,
              Duration.ofSeconds(5),
              s.socketTimeout());
      try (Postgres cut = new Postgres(through)) {
        assertCode(
            ErrorCode.POSTGRES_UNAVAILABLE,
            () ->
                cut.read(
                    c ->
                        cut.copy(
                            c,
                            "SELECT repeat('x', 1000) FROM (SELECT generate_series(1, 100000000)) AS s",
                            (data, offset, length) -> silencer.silence())));
      }
    }
  }
}
