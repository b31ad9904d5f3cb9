package dev.millrace.refresh;

import java.util.Objects;

/**
 * What of a load and of both servers decides how a column is converted.
 *
 * @param load how rows get across
 * @param takesQuery whether ClickHouse's {@code postgresql()} takes our own SELECT; only for {@link
 *     Load#PULL}
 * @param serverZone ClickHouse's time zone ({@code serverTimezone()}), which counts where a type
 *     names none
 * @param encoding of the Postgres database, such as {@code UTF8}
 */
record LoadConditions(Load load, boolean takesQuery, String serverZone, String encoding) {

  LoadConditions {
    Objects.requireNonNull(load, "load");
    Objects.requireNonNull(serverZone, "serverZone");
    Objects.requireNonNull(encoding, "encoding");
  }

  boolean isUnicode() {
    return encoding.equals("UTF8");
  }
}
