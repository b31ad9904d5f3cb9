package dev.millrace.replication;

/**
 * What {@code write} returns.
 *
 * @param result what a run tells of the table
 * @param attempt the attempt that wrote it, from 1
 */
public record Written(TableResult result, int attempt) {}
