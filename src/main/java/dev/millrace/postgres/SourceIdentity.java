package dev.millrace.postgres;

/**
 * What tells one database from another that has the same address.
 *
 * @param systemIdentifier the cluster's, from {@code pg_control_system()}; drawn by initdb, kept by
 *     standbys and physical copies
 * @param database the database's name
 */
public record SourceIdentity(long systemIdentifier, String database) {}
