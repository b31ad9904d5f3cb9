-- One row for each extractor that ever ran: who may work until when.
CREATE TABLE control.lease (
    extractor text PRIMARY KEY,
    run_id text NOT NULL,
    lease_expires_at timestamp with time zone NOT NULL
);
