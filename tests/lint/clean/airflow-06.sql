-- flowmend: scheduler=airflow release=2.10.5 dialect=postgresql
DO $$
DECLARE
  n integer;
BEGIN
  SELECT count(*) INTO n FROM dag_run WHERE dag_id = 'etl' AND state = 'running';
  IF n <> 1 THEN
    RAISE EXCEPTION 'expected one running run, found %', n;
  END IF;
END
$$;
INSERT INTO ops.dag_run_backup SELECT * FROM public.dag_run WHERE dag_id = 'etl' AND run_id = 'manual__2026-01-30T10:00:00+00:00';
BEGIN;
UPDATE public.dag_run AS dr
   SET state = 'failed', end_date = '2026-01-31 09:00:00+00', updated_at = '2026-01-31 09:00:00+00'
 WHERE dr.dag_id = 'etl' AND dr.run_id = 'manual__2026-01-30T10:00:00+00:00' AND dr.state IN ('running', 'queued')
   AND NOT EXISTS (
     SELECT 1 FROM public.task_instance ti
      WHERE ti.dag_id = dr.dag_id AND ti.run_id = dr.run_id
        AND (ti.state IS NULL OR ti.state IN ('scheduled', 'queued', 'running', 'deferred', 'restarting', 'up_for_retry', 'up_for_reschedule')));
COMMIT;
