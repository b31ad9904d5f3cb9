package dev.millrace.clickhouse;

import java.time.Duration;

/**
 * A statement that the server works on.
 *
 * @param queryId its id
 * @param user who started it
 * @param kind such as {@code Insert}; empty where the server does not say
 * @param elapsed since it began
 * @param sql its text, at most 200 characters
 */
public record RunningQuery(String queryId, String user, String kind, Duration elapsed, String sql) {

  /** Returns what a message says of it. */
  @Override
  public String toString() {
    return "%s of user %s for %d s".formatted(queryId, user, elapsed.toSeconds());
  }
}
