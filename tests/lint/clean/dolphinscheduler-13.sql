-- flowmend: scheduler=dolphinscheduler release=3.1.9 dialect=postgresql
\set ON_ERROR_STOP on
\prompt 'run id: ' run
\prompt 'state that the run has now: ' old
BEGIN;
INSERT INTO ops.runs SELECT * FROM t_ds_process_instance WHERE id = :run;
UPDATE t_ds_process_instance
   SET state = 6, end_time = '2026-01-31 10:00:00', update_time = '2026-01-31 10:00:00'
 WHERE id = :run AND state = :old;
\echo ':ROW_COUNT' row
COMMIT;
