package dev.millrace.control;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.millrace.failure.ErrorCode;
import dev.millrace.failure.MillraceException;
import dev.millrace.testing.Await;
import dev.millrace.testing.Logs;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WalTest {
  @TempDir private Path folder;
  private WalFile file;

  @BeforeEach
  void name() {
    file = new WalFile(folder.resolve("deep/wal"), "orders", "20260920T181500Z-orders-0a1b2c");
  }

  private void append(long seq) {
    try (Wal wal = Wal.open(file)) {
      wal.append(event(seq));
    }
  }

  private WalRecord event(long seq) {
    return WalWriter.event(file, seq, null);
  }

  private byte[] lines(long... seqs) {
    StringBuilder text = new StringBuilder();
    for (long seq : seqs) {
      text.append(new String(WalFormat.line(event(seq)), US_ASCII));
    }
    return text.toString().getBytes(US_ASCII);
  }

  private byte[] bytes() {
    try {
      return Files.readAllBytes(file.path());
    } catch (IOException exception) {
      throw new UncheckedIOException(exception);
    }
  }

  /** Reads the numbers of all events; a line that is not whole JSON fails. */
  private List<Long> seqs() throws IOException {
    String text = new String(bytes(), US_ASCII);
    assertThat(text).endsWith("\n");
    List<Long> seqs = new ArrayList<>();
    for (String line : text.split("\n", -1)) {
      if (!line.isEmpty()) {
        seqs.add(new ObjectMapper().readTree(line).get("seq").longValue());
      }
    }
    return seqs;
  }

  @Test
  void recordsAreLinesInOrder() throws IOException {
    try (Wal wal = Wal.open(file)) {
      wal.append(event(0));
      wal.append(event(1));
    }
    append(2);

    assertThat(bytes()).isEqualTo(lines(0, 1, 2));
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file.path())))
        .isEqualTo("rw-r--r--");
  }

  @Test
  void nothingIsThereBeforeTheFirstRecord() {
    Wal wal = Wal.open(file);
    wal.close();

    assertThat(file.path()).doesNotExist();
    assertThat(file.path().getParent()).isDirectory();
    assertThatThrownBy(() -> wal.append(event(0))).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aRecordThatIsRefusedLeavesTheFileAsItIs() {
    try (Wal wal = Wal.open(file)) {
      assertThatThrownBy(() -> wal.append(WalWriter.event(file, 0, "\0")))
          .isInstanceOfSatisfying(
              MillraceException.class,
              exception -> assertThat(exception.code()).isEqualTo(ErrorCode.BAD_RECORD));
      assertThat(file.path()).doesNotExist();
      wal.append(event(0));
      assertThatThrownBy(() -> wal.append(WalWriter.event(file, 1, "\ud83d")))
          .isInstanceOf(MillraceException.class);
      wal.append(event(1));
    }

    assertThat(bytes()).isEqualTo(lines(0, 1));
  }

  @Test
  void aTornRecordIsCutWhereverItWasTorn() throws IOException {
    byte[] whole = lines(0, 1);
    byte[] torn = lines(2);
    for (int length = 0; length < torn.length; length++) {
      Files.createDirectories(file.path().getParent());
      Files.write(file.path(), join(whole, Arrays.copyOf(torn, length)));
      append(3);
      assertThat(bytes()).as("torn at %d", length).isEqualTo(lines(0, 1, 3));

      byte[] again = lines(4);
      Files.write(
          file.path(), Arrays.copyOf(again, again.length - 1 - length), StandardOpenOption.APPEND);
      append(5);
      assertThat(bytes()).as("torn again at %d", length).isEqualTo(lines(0, 1, 3, 5));
    }
  }

  @Test
  void aTornFirstRecordIsCut() throws IOException {
    Files.createDirectories(file.path().getParent());
    Files.write(file.path(), Arrays.copyOf(lines(0), 50));

    try (Logs logs = Logs.listen()) {
      append(1);
      assertThat(logs.messages(Level.WARN))
          .singleElement()
          .asString()
          .contains("50 bytes", file.path().toString(), " at 0");
    }
    assertThat(bytes()).isEqualTo(lines(1));
  }

  @Test
  void aLongTornRecordIsCut() throws IOException {
    append(0);
    Files.writeString(file.path(), "x".repeat(100_000), StandardOpenOption.APPEND);
    append(1);

    assertThat(bytes()).isEqualTo(lines(0, 1));
  }

  @Test
  void whatAnotherWriterLeftTornIsCutByALogThatIsOpen() throws IOException {
    try (Wal wal = Wal.open(file)) {
      wal.append(event(0));
      Files.write(file.path(), lines(1), StandardOpenOption.APPEND);
      wal.append(event(2));
      Files.writeString(file.path(), "{\"kind\":", StandardOpenOption.APPEND);
      wal.append(event(3));
    }

    assertThat(bytes()).isEqualTo(lines(0, 1, 2, 3));
  }

  @Test
  void aLogThatWasRemovedIsMadeAgain() throws IOException {
    try (Wal wal = Wal.open(file)) {
      wal.append(event(0));
      Files.delete(file.path());
      Files.delete(file.path().getParent());

      Await.until(
          "records are in a file of that name again",
          () -> {
            wal.append(event(1));
            return Files.exists(file.path());
          });
      assertThat(bytes()).isEqualTo(lines(1));
    }
  }

  @Test
  void manyThreadsAppendWholeLines() throws Exception {
    int threads = 8;
    int each = 500;
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    List<Future<?>> futures = new ArrayList<>();
    try (Wal shared = Wal.open(file)) {
      for (int thread = 0; thread < threads; thread++) {
        long first = (long) thread * each;
        boolean own = thread % 2 == 0;
        futures.add(
            executor.submit(
                () -> {
                  Wal wal = own ? Wal.open(file) : shared;
                  for (long seq = first; seq < first + each; seq++) {
                    wal.append(event(seq));
                  }
                  if (own) {
                    wal.close();
                  }
                }));
      }
      for (Future<?> future : futures) {
        future.get();
      }
    } finally {
      executor.shutdownNow();
    }

    assertThat(seqs())
        .hasSize(4_000)
        .containsExactlyInAnyOrderElementsOf(LongStream.range(0, 4_000).boxed().toList());
  }

  @Test
  void twoProcessesAppendWholeLinesToOneLog() throws IOException {
    int each = 500;
    // Long enough to be seen half-written by who does not wait.
    try (WalWriter left = WalWriter.start(file, 0, each, 50_000, 0);
        WalWriter right = WalWriter.start(file, each, each, 70_000, 0)) {
      assertThat(left.line()).isEqualTo("ready");
      assertThat(right.line()).isEqualTo("ready");
      left.go();
      right.go();
      assertThat(left.line()).isEqualTo("appended " + each);
      assertThat(right.line()).isEqualTo("appended " + each);
    }

    List<Long> seqs = seqs();
    assertThat(seqs)
        .containsExactlyInAnyOrderElementsOf(LongStream.range(0, 2L * each).boxed().toList());
    assertThat(seqs).as("they took turns").isNotEqualTo(seqs.stream().sorted().toList());
  }

  /** A process has one lock of a file; readers of the same process must not let it go. */
  @Test
  void aReaderDoesNotOpenTheFileToAnotherProcessInTheMiddleOfAnAppend() throws Exception {
    int each = 400;
    AtomicBoolean over = new AtomicBoolean();
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try (WalWriter other = WalWriter.start(file, 0, each, 50_000, 0);
        Wal wal = Wal.open(file)) {
      assertThat(other.line()).isEqualTo("ready");
      Future<Long> reader =
          executor.submit(
              () -> {
                long looks = 0;
                while (!over.get()) {
                  LineReader.open(file.path()).close();
                  looks++;
                }
                return looks;
              });
      other.go();
      for (long seq = each; seq < 2L * each; seq++) {
        wal.append(WalWriter.event(file, seq, 50_000));
      }
      assertThat(other.line()).isEqualTo("appended " + each);
      over.set(true);
      assertThat(reader.get()).isPositive();
    } finally {
      over.set(true);
      executor.shutdownNow();
    }

    assertThat(seqs())
        .containsExactlyInAnyOrderElementsOf(LongStream.range(0, 2L * each).boxed().toList());
  }

  @Test
  void anAppendWaitsForAnotherHoldersLock() throws Exception {
    append(0);
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try (WalWriter other = WalWriter.start(file, 1, 1, 10, 0);
        FileChannel channel = FileChannel.open(file.path(), StandardOpenOption.WRITE)) {
      assertThat(other.line()).isEqualTo("ready");
      FileLock lock = channel.lock();
      other.go();
      Future<String> answer = executor.submit(other::line);
      assertThatThrownBy(() -> answer.get(300, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      assertThat(bytes()).isEqualTo(lines(0));
      lock.release();
      assertThat(answer.get()).isEqualTo("appended 1");
    } finally {
      executor.shutdownNow();
    }
  }

  @Test
  void aFullDiskLeavesWholeRecordsAndALaterAppendWorks() throws IOException {
    // Bash counts in blocks of 1,024 bytes; the record at the border is written in part first.
    int limit = 64 << 10;
    String error;
    int appended;
    try (WalWriter writer = WalWriter.start(file, 0, 1_000, 1_000, limit >> 10)) {
      assertThat(writer.line()).isEqualTo("ready");
      writer.go();
      error = writer.line();
      String smaller = writer.line();
      assertThat(smaller).startsWith("smaller ").isNotEqualTo("smaller 0");
      appended = Integer.parseInt(writer.line().substring("appended ".length()));
    }

    assertThat(error)
        .startsWith("WAL_UNWRITABLE ")
        .contains(file.path().toString(), "File too large");
    assertThat(seqs()).isEqualTo(LongStream.range(0, appended).boxed().toList());
    assertThat(Files.size(file.path())).isBetween(limit - 500L, (long) limit);

    append(appended);
    assertThat(seqs()).isEqualTo(LongStream.rangeClosed(0, appended).boxed().toList());
  }

  @Test
  void aFolderThatCantBeMadeIsNamed() throws IOException {
    Files.createDirectories(folder.resolve("deep"));
    Files.writeString(folder.resolve("deep/wal"), "in the way");

    assertThatThrownBy(() -> Wal.open(file))
        .isInstanceOfSatisfying(
            MillraceException.class,
            exception -> {
              assertThat(exception.code()).isEqualTo(ErrorCode.WAL_UNWRITABLE);
              assertThat(exception.code().retryable()).isTrue();
            })
        .hasMessageContaining(file.path().getParent().toString());
  }

  @Test
  void aFolderInPlaceOfTheFileIsNamed() throws IOException {
    Files.createDirectories(file.path());

    assertThatThrownBy(() -> append(0))
        .isInstanceOfSatisfying(
            MillraceException.class,
            exception -> assertThat(exception.code()).isEqualTo(ErrorCode.WAL_UNWRITABLE))
        .hasMessageContainingAll(file.path().toString(), "Is a directory");
  }

  @Test
  void anInterruptedThreadStillAppendsAndStaysInterrupted() {
    Thread.currentThread().interrupt();
    try (Wal wal = Wal.open(file)) {
      wal.append(event(0));
      assertThat(Thread.interrupted()).isTrue();
      wal.append(event(1));
      assertThat(Thread.interrupted()).isFalse();
    }

    assertThat(bytes()).isEqualTo(lines(0, 1));
  }

  @Test
  void interruptsInTheMiddleOfAppendsLoseAndRepeatNothing() throws Exception {
    int count = 1_000;
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try (Wal wal = Wal.open(file)) {
      Thread[] writer = new Thread[1];
      Future<Integer> interrupted =
          executor.submit(
              () -> {
                writer[0] = Thread.currentThread();
                int interrupts = 0;
                for (long seq = 0; seq < count; seq++) {
                  wal.append(event(seq));
                  interrupts += Thread.interrupted() ? 1 : 0;
                }
                return interrupts;
              });
      while (!interrupted.isDone()) {
        if (writer[0] != null) {
          writer[0].interrupt();
        }
        LockSupport.parkNanos(50_000);
      }
      assertThat(interrupted.get()).isPositive();
    } finally {
      executor.shutdownNow();
    }

    assertThat(seqs()).isEqualTo(LongStream.range(0, count).boxed().toList());
  }

  private static byte[] join(byte[] left, byte[] right) {
    byte[] joined = Arrays.copyOf(left, left.length + right.length);
    System.arraycopy(right, 0, joined, left.length, right.length);
    return joined;
  }
}
