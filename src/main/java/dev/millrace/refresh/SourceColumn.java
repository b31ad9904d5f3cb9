package dev.millrace.refresh;

/**
 * A column of the Postgres table.
 *
 * @param name as the catalogue has it
 * @param declared its type as Postgres shows it, which may be the name of a domain
 * @param type the type that its values have
 * @param nullable false only where Postgres has made sure that no value is NULL
 */
record SourceColumn(String name, String declared, PostgresType type, boolean nullable) {}
