package dev.millrace.lake;

/**
 * An object as a listing shows it.
 *
 * @param key the whole key, prefix included
 * @param bytes its size, in bytes
 */
public record ListedObject(String key, long bytes) {}
