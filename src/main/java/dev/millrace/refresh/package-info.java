/**
 * Refreshing a ClickHouse dimension table from Postgres: how a column goes from one to the other,
 * how both sides are proved equal, and what the figures mean for publishing.
 */
package dev.millrace.refresh;
