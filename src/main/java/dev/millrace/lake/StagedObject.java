package dev.millrace.lake;

/**
 * What it takes to publish a staged object from another process.
 *
 * @param key the whole key, prefix included
 * @param uploadId the store's id of the upload
 * @param attempt the id of the attempt that staged it
 * @param bytes its size, in bytes
 */
public record StagedObject(String key, String uploadId, String attempt, long bytes) {}
