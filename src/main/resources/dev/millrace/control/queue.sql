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
