-- What Millrace remembers of each ClickHouse table that it refreshes, by connection, database and table.
CREATE TABLE IF NOT EXISTS millrace.refresh_state (
    clickhouse TEXT NOT NULL,
    database_name TEXT NOT NULL,
    table_name TEXT NOT NULL,
    seed_key TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    source_fingerprint TEXT NOT NULL,
    live_fingerprint TEXT NOT NULL,
    rows TEXT NOT NULL,
    -- A hash of the columns, their types and what is compared; with another one nothing is skipped.
    layout TEXT NOT NULL,
    -- Which table of which database it was made of.
    source TEXT NOT NULL,
    shadow_uuid TEXT NOT NULL,
    run_id TEXT NOT NULL,
    published_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (clickhouse, database_name, table_name)
);

-- The run that is at work on a table; it holds while the run is in millrace.queue with a turn.
CREATE TABLE IF NOT EXISTS millrace.refresh_claim (
    clickhouse TEXT NOT NULL,
    database_name TEXT NOT NULL,
    table_name TEXT NOT NULL,
    run_id TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    claimed_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (clickhouse, database_name, table_name)
);

-- At most one swap of a table is being published; whoever finds it decides it first.
CREATE TABLE IF NOT EXISTS millrace.refresh_intent (
    clickhouse TEXT NOT NULL,
    database_name TEXT NOT NULL,
    table_name TEXT NOT NULL,
    run_id TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    shadow_uuid TEXT NOT NULL,
    live_uuid TEXT NOT NULL,
    source_fingerprint TEXT NOT NULL,
    live_fingerprint TEXT NOT NULL,
    rows TEXT NOT NULL,
    layout TEXT NOT NULL,
    source TEXT NOT NULL,
    inserted_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (clickhouse, database_name, table_name)
);

-- The same under the seed's keys.
CREATE OR REPLACE VIEW millrace.refresh_fingerprint AS
    SELECT clickhouse, seed_key AS key,
           jsonb_build_object(
               'source_fingerprint', source_fingerprint,
               'live_fingerprint', live_fingerprint,
               'rows', rows,
               'execution', run_id) AS value
    FROM millrace.refresh_state;
