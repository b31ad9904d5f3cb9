package dev.millrace.replication;

import static org.assertj.core.api.Assertions.assertThat;

import dev.millrace.control.EventStatus;
import dev.millrace.control.RunStatus;
import dev.millrace.control.StopReason;
import dev.millrace.control.WalRecord;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.ServerAnswer;
import dev.millrace.run.FailedStep;
import dev.millrace.run.FailureWords;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rules by which what happened becomes words of the control plane. */
class TableEventTest {
  private static final Instant NOW = Instant.parse("2026-11-30T10:44:50Z");
  private static final TableEvent EVENTS =
      new TableEvent("appdb", "run-1", LocalDate.of(2026, 11, 30));

  private static CopiedTable copied(String low, long rows, Integer extracts, Long millis) {
    return new CopiedTable(
        new TableResult(
            "public.t",
            low,
            "9",
            rows,
            0,
            null,
            0,
            low == null,
            0,
            false,
            0,
            null,
            null,
            List.of()),
        extracts,
        2,
        millis,
        30);
  }

  @Test
  void aCopiedTableTellsItsWindowItsRowsAndWhatItTook() {
    WalRecord.Event event = EVENTS.copied(3, NOW, copied("5", 7, 4, 1_200L));

    assertThat(event)
        .isEqualTo(
            new WalRecord.Event(
                "appdb",
                "run-1",
                3,
                NOW,
                "public.t",
                "(5, 9]",
                LocalDate.of(2026, 11, 30),
                EventStatus.OK,
                null,
                7L,
                4,
                2,
                1_200,
                30,
                null,
                null));
  }

  @Test
  void aFirstLoadHasNoLowerBoundAndAnEmptyWindowNoExtract() {
    assertThat(EVENTS.copied(0, NOW, copied(null, 1, 1, 1L)).unit()).isEqualTo("(, 9]");
    WalRecord.Event empty = EVENTS.copied(0, NOW, copied("9", 0, null, null));
    assertThat(empty.status()).isEqualTo(EventStatus.ZERO_ROWS);
    assertThat(empty.sourceAttempts()).isNull();
    assertThat(empty.pullMs()).isNull();
  }

  @Test
  void timesBeyondTheColumnAreItsGreatestValue() {
    assertThat(EVENTS.copied(0, NOW, copied("5", 1, 1, Long.MAX_VALUE)).pullMs())
        .isEqualTo(Integer.MAX_VALUE);
  }

  @ParameterizedTest
  @CsvSource({
    "TABLE_MISSING, SOURCE_ERROR",
    "POSTGRES_UNAVAILABLE, SOURCE_ERROR",
    "VALUE_OUT_OF_RANGE, SOURCE_ERROR",
    "LAKE_UNAVAILABLE, SINK_ERROR",
    "LAKE_REFUSED, SINK_ERROR",
    "STAGED_OBJECT_LOST, SINK_ERROR",
    "TIMEOUT, TIMEOUT",
    "CANCELLED, ERROR",
    "LEASE_LOST, ERROR",
    "INTERNAL, ERROR",
    "A_CODE_OF_TOMORROW, ERROR"
  })
  void eachFailureHasItsWord(String code, EventStatus status) {
    assertThat(FailureWords.status(code)).isEqualTo(status);
  }

  @Test
  void aServersOwnCodeIsKeptAndItsHttpStatusOnlyForHttp() {
    TableFailure refused = new TableFailure("public.t", ErrorCode.LAKE_REFUSED.name(), "no");
    WalRecord.Event put =
        EVENTS.failed(
            1,
            NOW,
            "public.t",
            refused,
            new FailedStep(
                "TableWrite", 3, new ServerAnswer(ServerAnswer.Kind.S3, "AccessDenied", 403)));
    assertThat(put.httpStatus()).isEqualTo(403);
    assertThat(put.extra()).hasToString("{\"s3_code\":\"AccessDenied\"}");
    assertThat(put.sinkAttempts()).isEqualTo(3);
    assertThat(put.sourceAttempts()).isNull();
    assertThat(put.errorDetail()).isEqualTo("LAKE_REFUSED: no");

    WalRecord.Event read =
        EVENTS.failed(
            1,
            NOW,
            "public.t",
            new TableFailure("public.t", ErrorCode.POSTGRES_ERROR.name(), "x"),
            new FailedStep(
                "TableExtract", 5, new ServerAnswer(ServerAnswer.Kind.SQLSTATE, "22012", null)));
    assertThat(read.httpStatus()).isNull();
    assertThat(read.extra()).hasToString("{\"sqlstate\":\"22012\"}");
    assertThat(read.sourceAttempts()).isEqualTo(5);
  }

  @Test
  void aMessageThatNoLineCanHoldIsRecordedAllTheSame() {
    WalRecord.Event event =
        EVENTS.failed(
            1, NOW, null, new TableFailure(null, "INTERNAL", "nul \0, half \ud83d"), null);

    assertThat(event.errorDetail()).isEqualTo("INTERNAL: nul \ufffd, half \ufffd");
  }

  @ParameterizedTest
  @CsvSource({
    "3, 0, , OK, CLEAN",
    "0, 0, , OK, CLEAN",
    "2, 1, , PARTIAL, ERROR",
    "0, 3, , FAILED, ERROR",
    "2, 0, ERROR, FAILED, ERROR",
    "2, 0, BUDGET_TIME, PARTIAL, BUDGET_TIME",
    "0, 1, BUDGET_TIME, PARTIAL, BUDGET_TIME"
  })
  void aRunsEndFollowsFromItsTables(
      int ok, int failed, StopReason stopped, RunStatus status, StopReason reason) {
    assertThat(RunOutcome.status(ok, failed, stopped)).isEqualTo(status);
    assertThat(RunOutcome.reason(failed, stopped)).isEqualTo(reason);
  }
}
