package dev.millrace.control;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.millrace.failure.Redactor;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The lines of a log that can't be shipped, in {@code <log>.rejected}: one JSON object a line with
 * {@code offset}, {@code bytes} and {@code reason}. The log itself keeps them. Stateless.
 */
public final class RejectedLines {
  private static final ObjectReader READER = new JsonMapper().reader();

  private RejectedLines() {}

  /**
   * Returns how many lines of a log are set aside.
   *
   * @throws dev.millrace.failure.MillraceException with {@code WAL_UNWRITABLE} when the list can't
   *     be read
   */
  public static long count(WalFile file) {
    return offsets(file).size();
  }

  /**
   * Adds lines to the list, durably, unless they are in it.
   *
   * @return those that were not in it
   */
  static List<WalLine.Refused> note(WalFile file, List<WalLine.Refused> refused) {
    if (refused.isEmpty()) {
      return List.of();
    }
    Set<Long> known = offsets(file);
    List<WalLine.Refused> unknown =
        refused.stream().filter(line -> !known.contains(line.offset())).toList();
    if (unknown.isEmpty()) {
      return List.of();
    }
    StringBuilder text = new StringBuilder();
    for (WalLine.Refused line : unknown) {
      text.append("{\"offset\":").append(line.offset());
      text.append(",\"bytes\":").append(line.bytes()).append(",\"reason\":");
      String reason = WalFormat.cut(line.reason());
      WalFormat.quote(text, reason == null ? "" : Redactor.redact(reason));
      text.append("}\n");
    }
    try (LineFile list = LineFile.open(file.rejectedPath())) {
      list.append(text.toString().getBytes(StandardCharsets.US_ASCII));
    }
    return unknown;
  }

  private static Set<Long> offsets(WalFile file) {
    Set<Long> offsets = new HashSet<>();
    try (WalTail list = WalTail.open(file.rejectedPath(), 0)) {
      List<WalTail.Line> lines = list.next();
      while (!lines.isEmpty()) {
        lines.forEach(line -> addOffset(offsets, line.content()));
        lines = list.next();
      }
    }
    return offsets;
  }

  /** A damaged line of the list is no offset: what it told is noted again. */
  private static void addOffset(Set<Long> offsets, String content) {
    if (content == null) {
      return;
    }
    try {
      JsonNode offset = READER.readTree(content).path("offset");
      if (offset.isIntegralNumber()) {
        offsets.add(offset.longValue());
      }
    } catch (JsonProcessingException exception) {
      return;
    }
  }
}
