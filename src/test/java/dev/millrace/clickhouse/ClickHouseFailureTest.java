package dev.millrace.clickhouse;

import static org.assertj.core.api.Assertions.assertThat;

import com.clickhouse.client.api.DataTransferException;
import com.clickhouse.client.api.ServerException;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.failure.ServerAnswer;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ClickHouseFailureTest {
  private static final ClickHouseSettings SETTINGS =
      new ClickHouseSettings(
          "warehouse",
          "ch.example.org",
          8123,
          false,
          "millrace",
          "very-secret",
          Duration.ofSeconds(1),
          Duration.ofSeconds(1),
          Duration.ofSeconds(1));

  @ParameterizedTest
  @CsvSource({
    "202, CLICKHOUSE_UNAVAILABLE",
    "209, CLICKHOUSE_UNAVAILABLE",
    "210, CLICKHOUSE_UNAVAILABLE",
    "241, CLICKHOUSE_UNAVAILABLE",
    "242, CLICKHOUSE_UNAVAILABLE",
    "999, CLICKHOUSE_UNAVAILABLE",
    "159, TIMEOUT",
    "192, CLICKHOUSE_REFUSED",
    "193, CLICKHOUSE_REFUSED",
    "194, CLICKHOUSE_REFUSED",
    "516, CLICKHOUSE_REFUSED",
    "497, CLICKHOUSE_REFUSED",
    "60, TARGET_MISSING",
    "81, TARGET_MISSING",
    "62, CLICKHOUSE_ERROR",
    "48, CLICKHOUSE_ERROR",
    "1001, CLICKHOUSE_ERROR"
  })
  void numbersHaveTheirCodes(int number, ErrorCode code) {
    MillraceException failure =
        ClickHouseFailure.of(
            SETTINGS,
            new ServerException(
                number,
                "Code: " + number + ". DB::Exception: no. (X) (version 26.7.2.1)",
                500,
                ""));

    assertThat(failure.code()).isEqualTo(code);
    assertThat(failure)
        .hasMessageContaining("'warehouse' (ch.example.org:8123): no. (X) (code " + number + ")");
    assertThat(failure.answer())
        .contains(new ServerAnswer(ServerAnswer.Kind.CLICKHOUSE, Integer.toString(number), 500));
    assertThat(ClickHouseFailure.number(failure)).isEqualTo(number);
  }

  @Test
  void aMissingRightComesWithItsGrant() {
    MillraceException failure =
        ClickHouseFailure.of(
            SETTINGS,
            new ServerException(
                497,
                "Code: 497. DB::Exception: millrace: Not enough privileges. To execute this query, it's"
                    + " necessary to have the grant SELECT(id) ON d.t. (ACCESS_DENIED) (version 26.7.2.1)"
                    + "  (queryId= q1)",
                403,
                "q1"));

    assertThat(failure).hasMessageEndingWith("; run GRANT SELECT(id) ON d.t TO `millrace`");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "type: pqxx::broken_connection, e.what() = …",
        "type: pqxx::sql_error, e.what() = FATAL:  terminating connection due to administrator command",
        "type: pqxx::sql_error, e.what() = FATAL:  the database system is shutting down",
        "type: pqxx::sql_error, e.what() = server closed the connection unexpectedly"
      })
  void aPostgresThatWentAwayMayComeBack(String text) {
    assertThat(ClickHouseFailure.code(1001, "std::exception. Code: 1001, " + text))
        .isEqualTo(ErrorCode.CLICKHOUSE_UNAVAILABLE);
  }

  @Test
  void aLostAnswerIsUnavailableAndHasNoNumber() {
    MillraceException failure =
        ClickHouseFailure.of(
            SETTINGS,
            new DataTransferException("failed", new SocketTimeoutException("Read timed out")));

    assertThat(failure.code()).isEqualTo(ErrorCode.CLICKHOUSE_UNAVAILABLE);
    assertThat(failure).hasMessageContaining("SocketTimeoutException: Read timed out");
    assertThat(ClickHouseFailure.number(failure)).isZero();
  }

  /** Case 54. */
  @ParameterizedTest
  @CsvSource({
    "48, ENGINE_UNSUPPORTED",
    "344, ENGINE_UNSUPPORTED",
    "60, ATTEMPT_OVERTAKEN",
    "159, TIMEOUT"
  })
  void aServerThatCanNotExchangeIsNotSupported(int number, ErrorCode code) {
    MillraceException answer =
        ClickHouseFailure.of(SETTINGS, number, "renameat2 is not supported", 500, null);

    MillraceException failure =
        ShadowTables.exchangeFailure(answer, new TargetTable("analytics", "products"));

    assertThat(failure.code()).isEqualTo(code);
    assertThat(failure).hasMessageContaining("renameat2");
  }

  @Test
  void thePasswordIsNotInTheText() {
    assertThat(SETTINGS.toString()).doesNotContain("very-secret").contains("ch.example.org:8123");
  }
}
