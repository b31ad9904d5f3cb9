package dev.millrace.refresh;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * What a refresh did.
 *
 * @param summary one line for people
 * @param outcome published, skipped or rejected
 * @param runId the run
 * @param pipeline its pipeline
 * @param target {@code database.table}
 * @param rowsBefore rows of the live table before
 * @param rowsAfter rows of the live table now
 * @param sourceFingerprint of the source
 * @param liveFingerprint of the live table now
 * @param decision who decided what; null where nobody was asked
 * @param pending what could not be cleaned up after the publish, with the way out
 * @param warnings what somebody should know
 */
public record RefreshResult(
    @JsonProperty("summary") String summary,
    @JsonProperty("outcome") String outcome,
    @JsonProperty("run_id") String runId,
    @JsonProperty("pipeline") String pipeline,
    @JsonProperty("target") String target,
    @JsonProperty("rows_before") String rowsBefore,
    @JsonProperty("rows_after") String rowsAfter,
    @JsonProperty("source_fingerprint") String sourceFingerprint,
    @JsonProperty("live_fingerprint") String liveFingerprint,
    @JsonProperty("decision") RecordedDecision decision,
    @JsonProperty("pending") List<String> pending,
    @JsonProperty("warnings") List<String> warnings) {}
