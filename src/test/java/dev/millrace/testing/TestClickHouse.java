package dev.millrace.testing;

import dev.millrace.clickhouse.ClickHouse;
import dev.millrace.clickhouse.ClickHouseSettings;
import java.net.URI;
import java.time.Duration;

/** The ClickHouse server of all tests of this JVM, and a client of it. Thread-safe. */
public final class TestClickHouse {
  private TestClickHouse() {}

  /** Returns settings with generous limits. */
  public static ClickHouseSettings settings() {
    URI url = URI.create(System.getProperty("millrace.clickhouse", "http://127.0.0.1:18199"));
    return new ClickHouseSettings(
        "warehouse",
        url.getHost(),
        url.getPort(),
        false,
        "millrace",
        "mill-secret",
        Duration.ofSeconds(5),
        Duration.ofSeconds(60),
        Duration.ofMinutes(2));
  }

  /** Returns a new client. */
  public static ClickHouse client() {
    return new ClickHouse(settings());
  }
}
