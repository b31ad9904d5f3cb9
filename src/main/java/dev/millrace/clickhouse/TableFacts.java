package dev.millrace.clickhouse;

import java.util.UUID;

/**
 * What the catalogue says of a table.
 *
 * @param uuid its identity, which stays when it is renamed or exchanged; all zeros where the
 *     database engine gives none
 * @param engine such as {@code ReplicatedMergeTree}
 * @param engineFull the engine with its arguments and clauses, as it can stand after {@code ENGINE
 *     =}
 * @param sortingKey the expressions of ORDER BY by commas; empty for none
 * @param primaryKey the expressions of PRIMARY KEY by commas; empty for none
 * @param comment its comment; empty for none
 */
public record TableFacts(
    UUID uuid,
    String engine,
    String engineFull,
    String sortingKey,
    String primaryKey,
    String comment) {}
