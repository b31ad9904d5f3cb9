package dev.millrace.replication;

/**
 * What a child workflow did to its table, and what it took.
 *
 * @param result what a run tells of the table
 * @param extractAttempts attempts of {@code extract}; null when the window was empty
 * @param writeAttempts attempts of {@code write}
 * @param extractMillis time of {@code extract} with its retries; null when the window was empty
 * @param writeMillis time of {@code write} with its retries
 */
public record CopiedTable(
    TableResult result,
    Integer extractAttempts,
    int writeAttempts,
    Long extractMillis,
    long writeMillis) {}
