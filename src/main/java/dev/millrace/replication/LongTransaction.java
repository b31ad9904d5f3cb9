package dev.millrace.replication;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.json.JsonMapper;

/**
 * A transaction of the source that has been open for long. It holds nothing back; its rows arrive
 * when it has ended.
 *
 * @param id its 64-bit id
 * @param since when it began, or when a run first met it; an ISO-8601 instant
 * @param session who runs it; null where that may not be seen
 * @param first whether this run is the first to tell of it
 */
public record LongTransaction(
    @JsonProperty("id") long id,
    @JsonProperty("since") String since,
    @JsonInclude(JsonInclude.Include.NON_NULL) @JsonProperty("session") String session,
    @JsonProperty("first") boolean first) {

  private static final JsonMapper JSON = new JsonMapper();

  /** Returns JSON; null for null. */
  static String write(LongTransaction transaction) {
    try {
      return transaction == null ? null : JSON.writeValueAsString(transaction);
    } catch (JsonProcessingException exception) {
      throw new IllegalStateException("can't be written as JSON", exception);
    }
  }

  /** Reads what {@link #write} returned. */
  static LongTransaction read(String json) {
    try {
      return json == null ? null : JSON.readValue(json, LongTransaction.class);
    } catch (JsonProcessingException exception) {
      throw new IllegalStateException("the state holds what is no transaction", exception);
    }
  }

  /** Returns it as people write it. */
  @Override
  public String toString() {
    return "transaction %d has been open since %s (%s)"
        .formatted(id, since, session == null ? "its session may not be seen" : session);
  }
}
