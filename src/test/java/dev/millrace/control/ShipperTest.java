package dev.millrace.control;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.testing.Logs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The order of the steps, with a database that fails on purpose. */
class ShipperTest {
  private static final String BROKEN = "{\"kind\":\"event\",\n";

  @TempDir private Path folder;
  private WalFile file;
  private final FailingDatabase database = new FailingDatabase();
  private final Shipper shipper = new Shipper(database, database::apply);

  /** Keeps the numbers of the events that were committed. */
  private static final class FailingDatabase implements ControlDatabase {
    private final List<Long> committed = new ArrayList<>();
    private final List<Long> pending = new ArrayList<>();
    private final List<Integer> batches = new ArrayList<>();
    private RuntimeException before;
    private RuntimeException after;
    private Runnable inside = () -> {};
    private long poisonSeq = -1;
    private int transactions;

    @Override
    public <T> T transact(Work<T> work) {
      transactions++;
      pending.clear();
      if (before != null) {
        throw before;
      }
      T result;
      try {
        result = work.run(null);
      } catch (SQLException exception) {
        throw new MillraceException(ErrorCode.POSTGRES_ERROR, "refused", exception);
      }
      committed.addAll(pending);
      if (after != null) {
        throw after;
      }
      return result;
    }

    private List<WalLine.Refused> apply(Object connection, List<WalLine> lines) {
      inside.run();
      batches.add(lines.size());
      List<WalLine.Refused> refused = new ArrayList<>();
      for (WalLine line : lines) {
        long seq = line.fields().get("seq").longValue();
        if (seq == poisonSeq) {
          refused.add(new WalLine.Refused(line.offset(), line.bytes(), "Postgres refused \"it\""));
        } else {
          pending.add(seq);
        }
      }
      return refused;
    }
  }

  @BeforeEach
  void name() throws IOException {
    file = new WalFile(folder, "orders", "r");
    Files.createDirectories(file.path().getParent());
  }

  private void append(long seq) {
    try (Wal wal = Wal.open(file)) {
      wal.append(WalWriter.event(file, seq, null));
    }
  }

  private void write(String text) throws IOException {
    Files.writeString(file.path(), text, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private long size() throws IOException {
    return Files.size(file.path());
  }

  @Test
  void theTailIsShippedOnce() throws IOException {
    append(0);
    append(1);
    assertThat(Shipper.unshipped(file)).isEqualTo(size());

    assertThat(shipper.ship(file)).isEqualTo(new Shipper.Shipped(2, 0, size()));
    assertThat(Files.readString(file.offsetPath())).isEqualTo("" + size());
    assertThat(Shipper.unshipped(file)).isZero();

    append(2);
    assertThat(shipper.ship(file)).isEqualTo(new Shipper.Shipped(1, 0, size()));
    assertThat(database.committed).containsExactly(0L, 1L, 2L);
    assertThat(file.rejectedPath()).doesNotExist();
  }

  @Test
  void withoutANewLineTheDatabaseIsNotAsked() throws IOException {
    assertThat(shipper.ship(file)).isEqualTo(new Shipper.Shipped(0, 0, 0));
    append(0);
    shipper.ship(file);
    write("{\"kind\":\"event\",\"se");

    assertThat(shipper.ship(file)).isEqualTo(new Shipper.Shipped(0, 0, ShippedOffset.read(file)));
    assertThat(database.transactions).isEqualTo(1);
    assertThat(Shipper.unshipped(file)).isZero();
    assertThat(new WalFile(folder, "orders", "none").offsetPath()).doesNotExist();
  }

  @Test
  void anErrorOfTheDatabaseLeavesTheOffset() throws IOException {
    append(0);
    shipper.ship(file);
    long offset = size();
    append(1);
    write(BROKEN);
    MillraceException down = new MillraceException(ErrorCode.POSTGRES_UNAVAILABLE, "down");
    database.before = down;
    assertThatThrownBy(() -> shipper.ship(file)).isSameAs(down);

    database.before = null;
    database.inside =
        () -> {
          throw new MillraceException(ErrorCode.BAD_RECORD, "taken");
        };
    assertThatThrownBy(() -> shipper.ship(file)).hasMessage("taken");

    assertThat(ShippedOffset.read(file)).isEqualTo(offset);
    assertThat(file.rejectedPath()).doesNotExist();
    assertThat(database.committed).containsExactly(0L);

    database.inside = () -> {};
    assertThat(shipper.ship(file)).isEqualTo(new Shipper.Shipped(1, 1, size()));
    assertThat(database.committed).containsExactly(0L, 1L);
  }

  @Test
  void aCommitWhoseAnswerIsLostIsShippedAgain() throws IOException {
    append(0);
    database.after = new MillraceException(ErrorCode.POSTGRES_UNAVAILABLE, "cut");
    assertThatThrownBy(() -> shipper.ship(file)).hasMessage("cut");
    assertThat(file.offsetPath()).doesNotExist();

    database.after = null;
    assertThat(shipper.ship(file)).isEqualTo(new Shipper.Shipped(1, 0, size()));
    assertThat(database.committed).containsExactly(0L, 0L);
  }

  @Test
  void aLineThatCantBeShippedIsSetAsideAndHidesNoOther() throws IOException {
    append(0);
    long broken = size();
    write(BROKEN);
    long poison = size();
    append(1);
    append(2);
    byte[] before = Files.readAllBytes(file.path());
    database.poisonSeq = 1;

    try (Logs logs = Logs.listen()) {
      assertThat(shipper.ship(file)).isEqualTo(new Shipper.Shipped(2, 2, size()));
      assertThat(logs.messages(Level.WARN)).hasSize(2);
      assertThat(logs.messages(Level.WARN).get(0))
          .contains(" at " + broken + " of " + file.path(), "not JSON");
      assertThat(logs.messages(Level.WARN).get(1))
          .contains(" at " + poison + " of " + file.path(), "Postgres refused");
    }

    assertThat(database.committed).containsExactly(0L, 2L);
    assertThat(RejectedLines.count(file)).isEqualTo(2);
    assertThat(Files.readAllBytes(file.path())).isEqualTo(before);
    List<String> rejected = Files.readAllLines(file.rejectedPath(), US_ASCII);
    assertThat(rejected.get(0))
        .startsWith("{\"offset\":" + broken + ",\"bytes\":" + BROKEN.length() + ",\"reason\":\"");
    assertThat(new ObjectMapper().readTree(rejected.get(1)).get("reason").textValue())
        .isEqualTo("Postgres refused \"it\"");
  }

  @Test
  void aLineIsSetAsideOnceHoweverOftenItIsFound() throws IOException {
    append(0);
    write(BROKEN);
    write("[]\n");
    shipper.ship(file);
    byte[] rejected = Files.readAllBytes(file.rejectedPath());
    Files.delete(file.offsetPath());
    append(1);

    try (Logs logs = Logs.listen()) {
      assertThat(shipper.ship(file)).isEqualTo(new Shipper.Shipped(2, 2, size()));
      assertThat(logs.messages(Level.WARN)).isEmpty();
    }
    assertThat(Files.readAllBytes(file.rejectedPath())).isEqualTo(rejected);

    write(BROKEN);
    shipper.ship(file);
    assertThat(RejectedLines.count(file)).isEqualTo(3);
  }

  @Test
  void aTornListOfRejectedLinesIsMended() throws IOException {
    write(BROKEN);
    Files.writeString(file.rejectedPath(), "{\"offset\":0,\"byt");
    assertThat(RejectedLines.count(file)).isZero();

    shipper.ship(file);

    assertThat(RejectedLines.count(file)).isEqualTo(1);
    assertThat(Files.readAllLines(file.rejectedPath())).hasSize(1);
  }

  /** Once the offset has passed a line, nobody would look for it again. */
  @Test
  void theOffsetStaysWhereALineCouldNotBeSetAside() throws IOException {
    append(0);
    write(BROKEN);
    Files.createDirectory(file.rejectedPath());

    assertThatThrownBy(() -> shipper.ship(file))
        .isInstanceOfSatisfying(
            MillraceException.class,
            exception -> assertThat(exception.code()).isEqualTo(ErrorCode.WAL_UNWRITABLE))
        .hasMessageContaining(file.rejectedPath().toString());
    assertThat(file.offsetPath()).doesNotExist();

    Files.delete(file.rejectedPath());
    assertThat(shipper.ship(file)).isEqualTo(new Shipper.Shipped(1, 1, size()));
  }

  @Test
  void aWrongOffsetShipsAllAgain() throws IOException {
    append(0);
    append(1);
    for (String wrong : List.of("-1", "5", "100000", "x", "")) {
      database.committed.clear();
      Files.writeString(file.offsetPath(), wrong);
      assertThat(shipper.ship(file)).isEqualTo(new Shipper.Shipped(2, 0, size()));
      assertThat(database.committed).containsExactly(0L, 1L);
    }
  }

  @Test
  void aLongTailIsOneTransactionInParts() throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int seq = 0; seq < 20_000; seq++) {
      lines.append(new String(WalFormat.line(WalWriter.event(file, seq, null)), US_ASCII));
    }
    write(lines.toString());

    assertThat(shipper.ship(file)).isEqualTo(new Shipper.Shipped(20_000, 0, size()));
    assertThat(database.transactions).isEqualTo(1);
    assertThat(database.batches).hasSizeGreaterThan(4).allMatch(size -> size < 8_000);
    assertThat(database.committed).hasSize(20_000).isSorted();
  }

  @Test
  void blankLinesArePassed() throws IOException {
    write("\n  \n");

    assertThat(shipper.ship(file)).isEqualTo(new Shipper.Shipped(0, 0, 4));
    assertThat(file.rejectedPath()).doesNotExist();
    assertThat(database.batches).isEmpty();
  }

  @Test
  void theLongestNameLeavesRoomForTheFilesBesideALog() throws IOException {
    file = new WalFile(folder, "x".repeat(200), "y".repeat(200));
    append(0);
    write(BROKEN);

    assertThat(shipper.ship(file)).isEqualTo(new Shipper.Shipped(1, 1, size()));
    assertThat(RejectedLines.count(file)).isEqualTo(1);
  }

  @Test
  void anInterruptedThreadShipsAndStaysInterrupted() throws IOException {
    append(0);
    write(BROKEN);
    Thread.currentThread().interrupt();
    Shipper.Shipped shipped = shipper.ship(file);

    assertThat(Thread.interrupted()).isTrue();
    assertThat(shipped).isEqualTo(new Shipper.Shipped(1, 1, size()));
    assertThat(RejectedLines.count(file)).isEqualTo(1);
  }

  @Test
  void aLogIsShippedByOneThreadAtATime() throws Exception {
    append(0);
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    database.inside =
        () -> {
          begun.countDown();
          waitFor(goOn);
        };
    ExecutorService executor = Executors.newFixedThreadPool(2);
    try {
      Future<Shipper.Shipped> first = executor.submit(() -> shipper.ship(file));
      waitFor(begun);
      FailingDatabase otherDatabase = new FailingDatabase();
      Shipper other = new Shipper(otherDatabase, otherDatabase::apply);
      Future<Shipper.Shipped> second = executor.submit(() -> other.ship(file));
      assertThatThrownBy(() -> second.get(200, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      append(1);
      goOn.countDown();

      long end = size();
      assertThat(first.get().records()).isEqualTo(1);
      assertThat(second.get()).isEqualTo(new Shipper.Shipped(1, 0, end));
      assertThat(otherDatabase.committed).containsExactly(1L);
    } finally {
      goOn.countDown();
      executor.shutdownNow();
    }
  }

  private static void waitFor(CountDownLatch latch) {
    try {
      assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
    } catch (InterruptedException exception) {
      throw new IllegalStateException(exception);
    }
  }
}
