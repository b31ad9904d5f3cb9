package dev.millrace.refresh;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * A decision as it is kept.
 *
 * @param approved whether the shadow was to be published
 * @param reason why; empty for none given
 * @param by who, as they say themselves
 * @param identity the client that sent it, as Temporal's history has it
 * @param decidedAt when, an ISO-8601 instant
 * @param digest of the question
 */
public record RecordedDecision(
    @JsonProperty("approved") boolean approved,
    @JsonProperty("reason") String reason,
    @JsonProperty("by") String by,
    @JsonProperty("identity") String identity,
    @JsonProperty("decided_at") String decidedAt,
    @JsonProperty("digest") String digest) {}
