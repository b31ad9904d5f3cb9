package dev.millrace.replication;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * The result of a run; small whatever the number of tables.
 *
 * @param summary one line for people
 * @param runId the run
 * @param pipeline whose run it was
 * @param status {@code ok}, {@code partial} or {@code failed}
 * @param tables tables that were asked for
 * @param ok tables that went well
 * @param failed tables that failed
 * @param rows rows published in all
 * @param bytes bytes published in all
 * @param results at most 200 tables that went well
 * @param failures at most 200 tables that failed
 * @param more where the rest is; null when nothing was left out
 */
public record RunResult(
    @JsonProperty("summary") String summary,
    @JsonProperty("run_id") String runId,
    @JsonProperty("pipeline") String pipeline,
    @JsonProperty("status") String status,
    @JsonProperty("tables") int tables,
    @JsonProperty("ok") int ok,
    @JsonProperty("failed") int failed,
    @JsonProperty("rows") long rows,
    @JsonProperty("bytes") long bytes,
    @JsonProperty("results") List<TableResult> results,
    @JsonProperty("failures") List<TableFailure> failures,
    @JsonInclude(JsonInclude.Include.NON_NULL) @JsonProperty("more") String more) {
  public RunResult {
    results = List.copyOf(results);
    failures = List.copyOf(failures);
  }
}
