-- The marker after which a batch can be built. A replayed event is no INSERT and tells nobody again.
CREATE OR REPLACE FUNCTION control.notify_dbt_ready() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('dbt_ready', json_build_object(
        'extractor', NEW.extractor, 'run_id', NEW.run_id,
        'business_date', NEW.business_date)::text);
    RETURN NULL;
END
$$;
CREATE TRIGGER event_dbt_ready_notify AFTER INSERT ON control.event FOR EACH ROW
    WHEN (NEW.extractor = 'zakya' AND NEW.entity = 'transform_ready' AND NEW.status = 'ok')
    EXECUTE FUNCTION control.notify_dbt_ready();
