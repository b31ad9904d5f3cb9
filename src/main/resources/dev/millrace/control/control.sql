-- The lease is the one of feather-control-plane 0.1.0, column for column; a fleet shares it.
CREATE SCHEMA IF NOT EXISTS control;

CREATE TABLE IF NOT EXISTS control.lease (
    extractor TEXT PRIMARY KEY,
    run_id TEXT NOT NULL,
    lease_expires_at TIMESTAMPTZ NOT NULL
);

CREATE SCHEMA IF NOT EXISTS millrace;

-- A run is here from its first question for a turn until it closes. turn_at is null while it waits.
CREATE TABLE IF NOT EXISTS millrace.queue (
    run_id TEXT PRIMARY KEY,
    pipeline TEXT NOT NULL,
    workflow_id TEXT NOT NULL,
    started_at TIMESTAMPTZ NOT NULL,
    asked_at TIMESTAMPTZ NOT NULL,
    turn_at TIMESTAMPTZ
);
CREATE INDEX IF NOT EXISTS queue_pipeline ON millrace.queue (pipeline, started_at);
