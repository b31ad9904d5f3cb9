package dev.millrace.app;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * What the fleet does, as {@code millrace fleet} shows it. Instants are ISO-8601 texts, ages and
 * times left are seconds by the database's clock.
 *
 * @param pipelines each pipeline or other extractor, with its last run
 * @param queue runs that wait for their turn, in their order
 * @param dead runs that never ended and whose lease nobody renews
 * @param log the records of this host
 * @param attention what needs a person, one text each; empty when nothing does
 */
record Fleet(
    @JsonProperty("pipelines") List<PipelineLine> pipelines,
    @JsonProperty("queue") List<Waiting> queue,
    @JsonProperty("dead") List<Dead> dead,
    @JsonProperty("log") Log log,
    @JsonProperty("attention") List<String> attention) {
  Fleet {
    pipelines = List.copyOf(pipelines);
    queue = List.copyOf(queue);
    dead = List.copyOf(dead);
    attention = List.copyOf(attention);
  }

  /**
   * A pipeline and its last run. Everything of a run is null where there was none.
   *
   * @param status the run's word
   * @param startedSecondsAgo since it got its turn
   * @param seconds how long it took, or has taken so far
   * @param rows rows of its events
   * @param watermarkAgeSeconds of the pipeline's table that is furthest behind; null without times
   * @param lease null where nobody holds it
   * @param lastError the newest failure of the last run
   * @param workflowId where its history is; null for other extractors
   */
  record PipelineLine(
      @JsonProperty("pipeline") String pipeline,
      @JsonProperty("run_id") String runId,
      @JsonProperty("mode") String mode,
      @JsonProperty("host") String host,
      @JsonProperty("status") String status,
      @JsonProperty("stop_reason") String stopReason,
      @JsonProperty("started_at") String startedAt,
      @JsonProperty("finished_at") String finishedAt,
      @JsonProperty("started_seconds_ago") Long startedSecondsAgo,
      @JsonProperty("seconds") Long seconds,
      @JsonProperty("ok") Integer ok,
      @JsonProperty("failed") Integer failed,
      @JsonProperty("skipped") Integer skipped,
      @JsonProperty("rows") Long rows,
      @JsonProperty("watermark_age_seconds") Long watermarkAgeSeconds,
      @JsonProperty("lease") LeaseLine lease,
      @JsonProperty("last_error") String lastError,
      @JsonProperty("workflow_id") String workflowId) {}

  /**
   * Who holds a lease.
   *
   * @param secondsLeft negative when it has expired
   */
  record LeaseLine(
      @JsonProperty("run_id") String runId, @JsonProperty("seconds_left") long secondsLeft) {}

  /**
   * A run that waits.
   *
   * @param waitingSeconds since its workflow started
   * @param askedSecondsAgo since it asked last; it loses its place after 300
   */
  record Waiting(
      @JsonProperty("pipeline") String pipeline,
      @JsonProperty("run_id") String runId,
      @JsonProperty("workflow_id") String workflowId,
      @JsonProperty("waiting_seconds") long waitingSeconds,
      @JsonProperty("asked_seconds_ago") long askedSecondsAgo) {}

  /** A run without a sign of life. */
  record Dead(
      @JsonProperty("pipeline") String pipeline,
      @JsonProperty("run_id") String runId,
      @JsonProperty("host") String host,
      @JsonProperty("started_at") String startedAt,
      @JsonProperty("workflow_id") String workflowId) {}

  /**
   * The write-ahead logs of this host.
   *
   * @param files logs that are not wholly shipped
   * @param unshippedBytes what Postgres does not have yet
   * @param stuckFiles of those, how many nobody has shipped for ten minutes
   * @param rejectedLines lines that Postgres can't take
   */
  record Log(
      @JsonProperty("folder") String folder,
      @JsonProperty("files") int files,
      @JsonProperty("unshipped_bytes") long unshippedBytes,
      @JsonProperty("stuck_files") int stuckFiles,
      @JsonProperty("rejected_lines") long rejectedLines) {}
}
