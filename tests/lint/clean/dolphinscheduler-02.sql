-- flowmend: scheduler=dolphinscheduler release=1.3.9 dialect=postgresql
\set ON_ERROR_STOP on
\set run 411
\timing off
CREATE TABLE IF NOT EXISTS keep_task AS SELECT * FROM public.t_ds_task_instance WHERE process_instance_id = :run;
BEGIN;
SET LOCAL lock_timeout = '5s';
SELECT id, name, state, host, start_time FROM public.t_ds_task_instance WHERE process_instance_id = :run ORDER BY id FOR UPDATE;
UPDATE public.t_ds_task_instance AS t
   SET state = 9, end_time = TIMESTAMP '2026-01-31 03:10:00'
 WHERE t.process_instance_id = :run AND t.flag = 1 AND t.state IN (0, 1, 10, 11);
UPDATE public.t_ds_process_instance
   SET state = 5, end_time = TIMESTAMP '2026-01-31 03:10:00', update_time = TIMESTAMP '2026-01-31 03:10:00'
 WHERE id = :run AND state = 4
   AND NOT EXISTS (SELECT 1 FROM public.t_ds_task_instance c WHERE c.process_instance_id = :run AND c.flag = 1 AND c.state IN (0, 1, 10, 11));
COMMIT;
