-- flowmend: scheduler=airflow release=2.10.5 dialect=postgresql
CREATE OR REPLACE FUNCTION ops.close_task(p_dag text, p_run text, p_task text, p_at timestamptz) RETURNS integer
LANGUAGE plpgsql AS $fn$
DECLARE
  n integer;
BEGIN
  UPDATE task_instance SET state = 'failed', end_date = p_at, updated_at = p_at
   WHERE dag_id = p_dag AND run_id = p_run AND task_id = p_task AND map_index = -1 AND state IN ('running', 'queued');
  GET DIAGNOSTICS n = ROW_COUNT;
  RETURN n;
END
$fn$;
BEGIN;
INSERT INTO ops.ti_backup SELECT * FROM task_instance WHERE dag_id = 'etl' AND run_id = 'manual__3';
SELECT ops.close_task('etl', 'manual__3', 'load', '2026-01-31 09:00:00+00');
COMMIT;
