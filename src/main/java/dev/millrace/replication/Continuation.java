package dev.millrace.replication;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * Where a run that continued as new goes on. It travels as one more field of the run's own input.
 *
 * @param runId the run
 * @param instant the run's instant, an ISO-8601 instant
 * @param next position of the first table that has not been started
 * @param succeeded tables that went well so far
 * @param failed tables that failed so far
 * @param from the Temporal run that handed over. The next run of a cron schedule gets the input of
 *     the last one, this field included, but not from this one; so it starts from the beginning
 */
record Continuation(
    String runId, String instant, int next, int succeeded, int failed, String from) {
  private static final String FIELD = "continuation";

  /**
   * Takes the field out of the input of a continued run.
   *
   * @param continuedFrom the Temporal run before this one; null for none
   * @return null when this run begins
   */
  static Continuation take(ObjectNode input, String continuedFrom) {
    if (continuedFrom == null || !(input.get(FIELD) instanceof ObjectNode)) {
      return null;
    }
    ObjectNode field = (ObjectNode) input.remove(FIELD);
    if (!continuedFrom.equals(field.path("from").textValue())) {
      return null;
    }
    return new Continuation(
        field.path("run_id").textValue(),
        field.path("instant").textValue(),
        field.path("next").intValue(),
        field.path("succeeded").intValue(),
        field.path("failed").intValue(),
        continuedFrom);
  }

  /** Returns a copy of the input with this field. */
  ObjectNode putInto(ObjectNode input) {
    ObjectNode copy = input.deepCopy();
    copy.putObject(FIELD)
        .put("run_id", runId)
        .put("instant", instant)
        .put("next", next)
        .put("succeeded", succeeded)
        .put("failed", failed)
        .put("from", from);
    return copy;
  }
}
