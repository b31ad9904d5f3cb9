-- A run became ok. One that was ok and finished before tells nobody again.
CREATE OR REPLACE FUNCTION control.notify_dbt_run_finished() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.status = 'ok' AND OLD.finished_at IS NOT NULL THEN
        RETURN NULL;
    END IF;
    PERFORM pg_notify('dbt_run_finished', json_build_object(
        'kind', 'run', 'extractor', NEW.extractor, 'run_id', NEW.run_id,
        'finished_at', NEW.finished_at)::text);
    RETURN NULL;
END
$$;
CREATE TRIGGER run_dbt_ready_notify AFTER INSERT OR UPDATE ON control.run FOR EACH ROW
    WHEN (NEW.status = 'ok' AND NEW.finished_at IS NOT NULL AND NEW.extractor <> 'dbt')
    EXECUTE FUNCTION control.notify_dbt_run_finished();
