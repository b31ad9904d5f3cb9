package dev.millrace.control;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.millrace.failure.MillraceException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** A process that appends events to a log, and what tests say to it. */
final class WalWriter implements AutoCloseable {
  private static final Instant RAN_AT = Instant.parse("2026-11-30T10:44:50.5Z");

  private final Process process;
  private final BufferedReader output;

  private WalWriter(Process process) {
    this.process = process;
    InputStream stream = process.getInputStream();
    this.output = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
  }

  /**
   * Appends events with a text of so many characters once a line comes in, until there are enough
   * or one fails; then some that are a tenth as long. Says how many went in, and the error.
   *
   * @param arguments folder, extractor, run, first number, count, length of the text
   */
  public static void main(String[] arguments) throws IOException {
    WalFile file = new WalFile(Path.of(arguments[0]), arguments[1], arguments[2]);
    long first = Long.parseLong(arguments[3]);
    long count = Long.parseLong(arguments[4]);
    int length = Integer.parseInt(arguments[5]);
    try (Wal wal = Wal.open(file)) {
      System.out.println("ready");
      if (System.in.read() < 0) {
        return;
      }
      long number = first;
      try {
        while (number < first + count) {
          wal.append(event(file, number, length));
          number++;
        }
      } catch (MillraceException exception) {
        System.out.println(exception.code() + " " + exception.getMessage());
        number = appendSmaller(wal, file, number, length / 10);
      }
      System.out.println("appended " + (number - first));
    }
  }

  /** What is left of the space takes smaller records, through the same log. */
  private static long appendSmaller(Wal wal, WalFile file, long number, int length) {
    long next = number;
    try {
      while (true) {
        wal.append(event(file, next, length));
        next++;
      }
    } catch (MillraceException exception) {
      System.out.println("smaller " + (next - number));
      return next;
    }
  }

  static WalRecord event(WalFile file, long seq, int length) {
    String text = "x".repeat(length);
    return event(file, seq, null, JsonNodeFactory.instance.objectNode().put("text", text));
  }

  static WalRecord event(WalFile file, long seq, String detail) {
    return event(file, seq, detail, null);
  }

  private static WalRecord event(WalFile file, long seq, String detail, ObjectNode extra) {
    return new WalRecord.Event(
        file.extractor(),
        file.runId(),
        seq,
        RAN_AT,
        "public.orders",
        null,
        null,
        EventStatus.OK,
        null,
        1L,
        null,
        null,
        null,
        null,
        detail,
        extra);
  }

  /**
   * Starts it.
   *
   * @param blocks the most blocks of 1,024 bytes that its files may have; 0 for no limit
   */
  static WalWriter start(WalFile file, long first, long count, int length, int blocks)
      throws IOException {
    List<String> command = new ArrayList<>();
    if (blocks > 0) {
      command.addAll(List.of("bash", "-c", "ulimit -f " + blocks + "; exec \"$@\"", "bash"));
    }
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(WalWriter.class.getName());
    command.addAll(List.of(file.folder().toString(), file.extractor(), file.runId()));
    command.addAll(List.of("" + first, "" + count, "" + length));
    return new WalWriter(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /** Returns the next line it says, or null at its end. */
  String line() throws IOException {
    return output.readLine();
  }

  /** Lets it begin. */
  void go() throws IOException {
    process.getOutputStream().write('\n');
    process.getOutputStream().flush();
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().join();
  }
}
