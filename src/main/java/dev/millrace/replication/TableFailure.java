package dev.millrace.replication;

/**
 * Why a table failed.
 *
 * @param table as people write it
 * @param code the stable code
 * @param message names the thing, the cause and the way out
 */
public record TableFailure(String table, String code, String message) {}
