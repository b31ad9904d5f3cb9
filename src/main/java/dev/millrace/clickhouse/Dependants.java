package dev.millrace.clickhouse;

/**
 * What hangs on a table by its name, and so on whichever table has the name after a swap.
 *
 * @param readingViews materialized views that fire when rows are inserted into it
 * @param feedingViews materialized views that insert into it: what they wrote into live since the
 *     load is lost with a swap
 * @param dictionaries dictionaries over it: they keep the old rows until they are reloaded, and
 *     they forbid to drop or rename it (code 630)
 * @param policies row policies on it, as {@code name on database.table}
 * @param grants users and roles with rights on it or one of its columns
 */
public record Dependants(
    Seen readingViews, Seen feedingViews, Seen dictionaries, Seen policies, Seen grants) {}
