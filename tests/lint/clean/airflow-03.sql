-- flowmend: scheduler=airflow release=2.7.3 dialect=postgresql
\set ON_ERROR_STOP on
\set dag 'billing'
\set run 'scheduled__2026-01-30T00:00:00+00:00'
CREATE TABLE IF NOT EXISTS ti_backup AS SELECT * FROM task_instance WHERE dag_id = :'dag' AND run_id = :'run';
BEGIN;
-- Back to "no status": the scheduler takes them up again.
UPDATE task_instance
   SET state = NULL, start_date = NULL, end_date = NULL, duration = NULL, queued_by_job_id = NULL,
       external_executor_id = NULL, trigger_id = NULL, trigger_timeout = NULL, next_method = NULL, next_kwargs = NULL,
       max_tries = max_tries + 1, updated_at = '2026-01-31 09:00:00+00'
 WHERE dag_id = :'dag' AND run_id = :'run' AND task_id = 'send' AND map_index = -1 AND state = 'queued';
COMMIT;
