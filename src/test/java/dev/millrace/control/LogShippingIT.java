package dev.millrace.control;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.testing.Await;
import dev.millrace.testing.CutLine;
import dev.millrace.testing.TestPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a worker does with the logs of its host, against a real Postgres. */
class LogShippingIT {
  private static final Instant LONG_AGO = Instant.parse("2020-01-01T00:00:00Z");

  @TempDir private Path folder;
  private String database;
  private CutLine line;
  private DsnDatabase control;

  @BeforeEach
  void connect() {
    database = TestPostgres.createDatabase();
    line = new CutLine(TestPostgres.server().getPort());
    control =
        DsnDatabase.of("postgresql://postgres@127.0.0.1:%d/%s".formatted(line.port(), database));
  }

  @AfterEach
  void close() {
    control.close();
    line.close();
  }

  private String query(String sql) {
    return TestPostgres.query(database, sql);
  }

  private WalFile log(String runId) {
    return new WalFile(folder, "appdb", runId);
  }

  private static ObjectNode temporal() {
    ObjectNode extra = JsonNodeFactory.instance.objectNode();
    extra.putObject("temporal").put("workflow_id", "replicate-appdb");
    return extra;
  }

  private void append(WalRecord record) {
    try (Wal wal = Wal.open(log(record.runId()))) {
      wal.append(record);
    }
  }

  private void start(String runId, Instant at) {
    append(new WalRecord.RunStart(runId, "appdb", "replicate", "h", 1, at, "p", temporal()));
  }

  private void finish(String runId, Instant at) {
    append(
        new WalRecord.RunFinish(
            "appdb", runId, at, at, RunStatus.OK, StopReason.CLEAN, 1, 0, 0, temporal()));
  }

  private void event(String runId, long seq) {
    append(
        new WalRecord.Event(
            "appdb",
            runId,
            seq,
            LONG_AGO,
            "public.t",
            null,
            null,
            EventStatus.OK,
            null,
            1L,
            null,
            null,
            null,
            null,
            null,
            null));
  }

  private void awaitEvents(int count) {
    Await.until(
        count + " events are shipped",
        () -> {
          String found =
              query("SELECT to_regclass('control.event') IS NOT NULL").equals("t")
                  ? query("SELECT count(*) FROM control.event")
                  : "0";
          return found.equals(String.valueOf(count));
        });
  }

  @Test
  void whatEarlierRunsLeftIsShippedAtTheStartForEachPipeline() {
    start("r1", LONG_AGO);
    event("r1", 0);
    WalFile other = new WalFile(folder, "orders", "o1");
    try (Wal wal = Wal.open(other)) {
      wal.append(
          new WalRecord.RunStart("o1", "orders", "replicate", "h", 1, LONG_AGO, "p", temporal()));
    }

    try (LogShipping shipping = LogShipping.start(control, folder, Retention.NONE)) {
      assertThat(shipping).isNotNull();
      awaitEvents(1);
      Await.until(
          "both runs are shown", () -> query("SELECT count(*) FROM control.run").equals("2"));
    }
  }

  @Test
  void whatIsAppendedIsShippedSoonAndADatabaseThatIsAwayIsWaitedFor() {
    try (LogShipping shipping = LogShipping.start(control, folder, Retention.NONE)) {
      start("r1", LONG_AGO);
      event("r1", 0);
      shipping.soon(log("r1"));
      awaitEvents(1);

      line.cut();
      event("r1", 1);
      shipping.soon(log("r1"));
      event("r1", 2);
      shipping.soon(log("r1"));
      assertThat(Shipper.unshipped(log("r1"))).isPositive();
      line.mend();

      awaitEvents(3);
    }
    assertThat(Shipper.unshipped(log("r1"))).isZero();
  }

  @Test
  void aStopShipsWhatIsLeft() {
    LogShipping shipping = LogShipping.start(control, folder, Retention.NONE);
    start("r1", LONG_AGO);
    event("r1", 0);
    shipping.soon(log("r1"));
    shipping.close();

    assertThat(query("SELECT count(*) FROM control.event")).isEqualTo("1");
  }

  @Test
  void theLogOfALiveRunOfAnotherProgramIsLeftToIt() {
    ControlSchema.ensure(control);
    TestPostgres.execute(
        database,
        "INSERT INTO control.lease VALUES ('appdb', 'python', now() + interval '1 hour')");
    event("python", 0);
    event("r1", 0);

    try (LogShipping shipping = LogShipping.start(control, folder, Retention.NONE)) {
      assertThat(shipping).isNotNull();
      awaitEvents(1);
    }
    assertThat(query("SELECT run_id FROM control.event")).isEqualTo("r1");
    assertThat(log("python").offsetPath()).doesNotExist();
  }

  @Test
  void nothingIsRemovedUnlessTheConfigurationSaysSo() throws IOException {
    start("r1", LONG_AGO);
    finish("r1", LONG_AGO);
    event("r1", 0);
    Files.setLastModifiedTime(log("r1").path(), FileTime.from(LONG_AGO));

    try (LogShipping shipping = LogShipping.start(control, folder, Retention.NONE)) {
      assertThat(shipping).isNotNull();
      awaitEvents(1);
    }
    assertThat(log("r1").path()).exists();
    assertThat(query("SELECT count(*) FROM control.run")).isEqualTo("1");
  }

  @Test
  void oldLogsThatAreShippedAndOldRunsAreRemoved() throws IOException {
    ControlSchema.ensure(control);
    Shipper shipper = new Shipper(control);
    Instant now = Instant.now();
    for (String runId : new String[] {"old", "left", "rejected"}) {
      start(runId, LONG_AGO);
      event(runId, 0);
      finish(runId, LONG_AGO);
      shipper.ship(log(runId));
    }
    start("new", now);
    event("new", 0);
    finish("new", now);
    shipper.ship(log("new"));
    start("open", LONG_AGO);
    shipper.ship(log("open"));
    TestPostgres.execute(
        database,
        "INSERT INTO control.run (run_id, extractor, started_at, finished_at, status) VALUES ('python', 'sap', '2020-01-01', '2020-01-01', 'ok')");
    event("left", 1);
    Files.writeString(
        log("rejected").rejectedPath(), "{\"offset\":0,\"bytes\":1,\"reason\":\"x\"}\n");
    for (String runId : new String[] {"old", "left", "rejected"}) {
      Files.setLastModifiedTime(log(runId).path(), FileTime.from(LONG_AGO));
    }

    Duration keep = Duration.ofDays(30);
    assertThat(Retention.removeLogs(folder, now.minus(keep))).isEqualTo(1);
    int runs = control.transact(connection -> Retention.removeRuns(connection, keep));

    assertThat(log("old").path()).doesNotExist();
    assertThat(log("old").offsetPath()).doesNotExist();
    assertThat(log("left").path()).as("a line is not shipped").exists();
    assertThat(log("rejected").path()).as("a person has to look").exists();
    assertThat(log("new").path()).exists();
    assertThat(runs).isEqualTo(3);
    assertThat(query("SELECT string_agg(run_id, ' ' ORDER BY run_id) FROM control.run"))
        .isEqualTo("new open python");
    assertThat(query("SELECT string_agg(DISTINCT run_id, ' ') FROM control.event"))
        .isEqualTo("new");
  }

  @Test
  void whatRetentionRemovedDoesNotComeBackFromItsLog() throws IOException {
    start("old", LONG_AGO);
    event("old", 0);
    finish("old", LONG_AGO);
    Retention retention = new Retention(Optional.empty(), Optional.of(Duration.ofDays(30)));
    ControlSchema.ensure(control);
    new Shipper(control).ship(log("old"));
    Files.setLastModifiedTime(log("old").path(), FileTime.from(LONG_AGO));
    start("new", Instant.now());
    event("new", 0);

    for (int time = 0; time < 2; time++) {
      try (LogShipping shipping = LogShipping.start(control, folder, retention)) {
        assertThat(shipping).isNotNull();
        Await.until(
            "old runs are removed",
            () -> query("SELECT string_agg(run_id, ' ') FROM control.run").equals("new"));
      }
      assertThat(query("SELECT string_agg(run_id, ' ') FROM control.event")).isEqualTo("new");
    }
  }
}
