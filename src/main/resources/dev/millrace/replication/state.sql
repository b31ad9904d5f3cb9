-- What Millrace remembers of each table: how far it is, what it compares with, and where both ends are.
CREATE TABLE IF NOT EXISTS millrace.table_state (
    pipeline TEXT NOT NULL,
    schema_name TEXT NOT NULL,
    table_name TEXT NOT NULL,
    seed_key TEXT NOT NULL,
    watermark TEXT,
    baseline BIGINT,
    key_column TEXT NOT NULL,
    key_kind TEXT NOT NULL,
    system_identifier TEXT NOT NULL,
    database_name TEXT NOT NULL,
    table_oid BIGINT NOT NULL,
    lake TEXT NOT NULL,
    prefix TEXT NOT NULL,
    -- The attempt that read the last window; it fences the watermark, see millrace.reading.
    reading TEXT,
    -- Where a first load was to end that has not.
    first_load_to TEXT,
    -- The key of the object that was published last; its manifest names the one before it.
    last_object TEXT,
    run_id TEXT,
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (pipeline, schema_name, table_name)
);

-- What the last window of a table was read in, which tells late rows from those that were read; and what attempts have
-- read that is not published yet.
CREATE TABLE IF NOT EXISTS millrace.reading (
    attempt TEXT PRIMARY KEY,
    pipeline TEXT NOT NULL,
    schema_name TEXT NOT NULL,
    table_name TEXT NOT NULL,
    -- xmin:xmax of pg_current_snapshot; none where rows have no versions.
    snapshot TEXT,
    timeline INTEGER NOT NULL,
    look_back TEXT NOT NULL,
    -- oid:filenode of the tables that held the rows.
    files TEXT,
    -- Transactions from xmin on whose rows were visible: distances from xmin, in the Roaring format.
    seen BYTEA,
    open_since TIMESTAMPTZ,
    open_told BOOLEAN NOT NULL,
    -- Which rows were read, in SQL; none for all.
    filter TEXT,
    read_at TIMESTAMPTZ NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS reading_table ON millrace.reading (pipeline, schema_name, table_name);

-- Manifests of objects that are staged or half published, as they will be in the lake.
CREATE TABLE IF NOT EXISTS millrace.manifest (
    attempt TEXT PRIMARY KEY,
    pipeline TEXT NOT NULL,
    schema_name TEXT NOT NULL,
    table_name TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS manifest_table ON millrace.manifest (pipeline, schema_name, table_name);

-- One folder of a lake belongs to one table of one pipeline.
CREATE TABLE IF NOT EXISTS millrace.folder (
    lake TEXT NOT NULL,
    folder TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    PRIMARY KEY (lake, folder)
);

-- Names of objects that are being staged; a row goes when its object is published or given up.
CREATE TABLE IF NOT EXISTS millrace.reservation (
    lake TEXT NOT NULL,
    object_key TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    schema_name TEXT NOT NULL,
    table_name TEXT NOT NULL,
    run_id TEXT NOT NULL,
    attempt TEXT NOT NULL,
    upload_id TEXT,
    reserved_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (lake, object_key)
);
CREATE INDEX IF NOT EXISTS reservation_table
    ON millrace.reservation (pipeline, schema_name, table_name);

-- At most one per pipeline and table: only its upload is ever completed.
CREATE TABLE IF NOT EXISTS millrace.intent (
    pipeline TEXT NOT NULL,
    schema_name TEXT NOT NULL,
    table_name TEXT NOT NULL,
    attempt TEXT NOT NULL,
    run_id TEXT NOT NULL,
    lake TEXT NOT NULL,
    object_key TEXT NOT NULL,
    upload_id TEXT NOT NULL,
    bytes BIGINT NOT NULL,
    rows BIGINT NOT NULL,
    low TEXT,
    high TEXT NOT NULL,
    previous TEXT,
    reading TEXT NOT NULL,
    initial_load BOOLEAN NOT NULL,
    goes_on_to TEXT,
    run_rows BIGINT NOT NULL,
    null_keys BIGINT NOT NULL,
    spike BOOLEAN NOT NULL,
    baseline BIGINT NOT NULL,
    warning TEXT,
    long_transaction TEXT,
    position INTEGER NOT NULL,
    -- How many values of which columns rules have replaced.
    replaced JSONB NOT NULL DEFAULT '[]',
    inserted_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (pipeline, schema_name, table_name)
);

-- What each run did to each table.
CREATE TABLE IF NOT EXISTS millrace.table_result (
    run_id TEXT NOT NULL,
    schema_name TEXT NOT NULL,
    table_name TEXT NOT NULL,
    pipeline TEXT NOT NULL,
    position INTEGER NOT NULL,
    status TEXT NOT NULL,
    low TEXT,
    high TEXT,
    rows BIGINT NOT NULL DEFAULT 0,
    bytes BIGINT NOT NULL DEFAULT 0,
    object TEXT,
    objects INTEGER NOT NULL DEFAULT 0,
    initial_load BOOLEAN NOT NULL DEFAULT false,
    baseline BIGINT NOT NULL DEFAULT 0,
    spike BOOLEAN NOT NULL DEFAULT false,
    null_keys BIGINT NOT NULL DEFAULT 0,
    warning TEXT,
    long_transaction TEXT,
    replaced JSONB NOT NULL DEFAULT '[]',
    code TEXT,
    message TEXT,
    finished_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (run_id, schema_name, table_name)
);
CREATE INDEX IF NOT EXISTS table_result_table
    ON millrace.table_result (pipeline, schema_name, table_name, finished_at);
CREATE INDEX IF NOT EXISTS table_result_age ON millrace.table_result (finished_at);

CREATE OR REPLACE VIEW millrace.watermark AS
    SELECT pipeline, schema_name, table_name, seed_key, watermark AS value
    FROM millrace.table_state
    WHERE watermark IS NOT NULL;
