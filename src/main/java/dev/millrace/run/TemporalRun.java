package dev.millrace.run;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Where the history of a run is.
 *
 * @param namespace the namespace
 * @param workflowId the workflow
 * @param runId the first run of its chain
 */
public record TemporalRun(String namespace, String workflowId, String runId) {

  /** Returns it as the {@code extra} of the control plane's run. */
  ObjectNode extra() {
    ObjectNode extra = JsonNodeFactory.instance.objectNode();
    extra
        .putObject(OpenRuns.TEMPORAL)
        .put("namespace", namespace)
        .put("workflow_id", workflowId)
        .put("run_id", runId);
    return extra;
  }
}
