/**
 * ClickHouse over HTTP: statements by known query ids, the catalogue, types, RowBinary, and the
 * fenced operations on a table beside the live one. Knows nothing of where the rows come from.
 */
package dev.millrace.clickhouse;
