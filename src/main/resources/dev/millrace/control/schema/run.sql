-- One row for each run; finished_at is null while it is open.
CREATE TABLE control.run (
    run_id text PRIMARY KEY,
    extractor text NOT NULL,
    mode text,
    host text,
    pid integer,
    started_at timestamp with time zone NOT NULL,
    finished_at timestamp with time zone,
    status text NOT NULL,
    stop_reason text,
    n_ok integer,
    n_err integer,
    n_skipped integer,
    reconciled_by text,
    wal_path text,
    extra jsonb
);
CREATE INDEX run_extractor_unfinished ON control.run (extractor) WHERE finished_at IS NULL;
