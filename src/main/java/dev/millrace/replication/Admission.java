package dev.millrace.replication;

/**
 * What the worker's configuration means for a run; fixed when the run is admitted, so that the
 * workflow stays deterministic.
 *
 * @param maxAttempts tries of {@code prepare} and {@code extract}
 * @param tableTimeoutSeconds how long one step of a table may take with all its tries
 * @param searchAttributes whether the namespace has the search attributes of Millrace
 * @param runTimeoutSeconds how long a run may work from its turn on; 0 for no limit
 * @param businessTimeZone the zone of the business's dates; null where records have none
 */
public record Admission(
    int maxAttempts,
    long tableTimeoutSeconds,
    boolean searchAttributes,
    long runTimeoutSeconds,
    String businessTimeZone) {}
