package dev.millrace.run;

/**
 * What the worker's configuration means for a run; fixed when the run is admitted, so that the
 * workflow stays deterministic.
 *
 * @param maxAttempts tries of a step that reads rows
 * @param stepTimeoutSeconds how long one step may take with all its tries
 * @param searchAttributes whether the namespace has the search attributes of Millrace
 * @param runTimeoutSeconds how long a run may work from its turn on; 0 for no limit
 * @param businessTimeZone the zone of the business's dates; null where records have none
 */
public record Admission(
    int maxAttempts,
    long stepTimeoutSeconds,
    boolean searchAttributes,
    long runTimeoutSeconds,
    String businessTimeZone) {}
