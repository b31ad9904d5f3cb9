-- One row for each budget of a run: the last that was told.
CREATE TABLE control.budget_usage (
    run_id text NOT NULL,
    extractor text NOT NULL,
    budget_name text NOT NULL,
    limit_val bigint,
    used bigint,
    remaining bigint,
    hit boolean,
    ran_at timestamp with time zone,
    PRIMARY KEY (run_id, extractor, budget_name)
);
