package dev.millrace.control;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Names one execution of an extractor: {@code <UTC yyyymmddTHHMMSSZ>-<extractor>-<6 hex>}. */
public final class RunId {
  private static final DateTimeFormatter SECOND =
      DateTimeFormatter.ofPattern("uuuuMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

  private RunId() {}

  /**
   * Makes the id.
   *
   * @param start when the run started; its second is part of the id
   * @param extractor whose run it is, such as a pipeline's name
   * @param random only its lowest 24 bits are taken
   */
  public static String of(Instant start, String extractor, int random) {
    return "%s-%s-%06x".formatted(SECOND.format(start), extractor, random & 0xff_ffff);
  }
}
