-- One row for each unit of work of a run.
CREATE TABLE control.event (
    extractor text NOT NULL,
    run_id text NOT NULL,
    seq bigint NOT NULL,
    ran_at timestamp with time zone NOT NULL,
    entity text,
    unit text,
    business_date date,
    status text NOT NULL,
    http_status integer,
    rows bigint,
    source_attempts integer,
    sink_attempts integer,
    pull_ms integer,
    load_ms integer,
    error_detail text,
    extra jsonb,
    PRIMARY KEY (extractor, run_id, seq)
);
CREATE INDEX event_run ON control.event (run_id);
