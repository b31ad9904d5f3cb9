package dev.millrace.refresh;

/**
 * A swap that is being published.
 *
 * @param runId the run that publishes
 * @param pipeline its pipeline
 * @param shadowUuid the table that becomes live
 * @param liveUuid the table that it takes the place of
 * @param fingerprint of the source, and what an audit of live has to give after the swap
 * @param rows of the table that becomes live
 * @param layout the columns and how they are copied
 * @param source which table of which database it was made of
 */
record Intent(
    String runId,
    String pipeline,
    String shadowUuid,
    String liveUuid,
    Fingerprint fingerprint,
    String rows,
    String layout,
    String source) {}
