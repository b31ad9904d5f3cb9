package dev.millrace.replication;

/**
 * Where the rows of a table come from and go to; a watermark means nothing for another pair.
 *
 * @param systemIdentifier of the Postgres cluster; {@code demo} in demo mode
 * @param database its database
 * @param tableOid the table's oid; 0 in demo mode
 * @param lake the lake's location
 * @param prefix the lake's prefix
 */
record TableOrigin(
    String systemIdentifier, String database, long tableOid, String lake, String prefix) {}
