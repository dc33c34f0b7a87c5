-- flowmend: scheduler=dolphinscheduler release=1.3.9 dialect=mysql
-- Two tasks whose worker was taken away. All masters are stopped.
CREATE TABLE IF NOT EXISTS fix_20260131_task AS SELECT * FROM t_ds_task_instance WHERE id IN (8812, 8813);
CREATE TABLE IF NOT EXISTS fix_20260131_run AS SELECT * FROM t_ds_process_instance WHERE id = 411;

START TRANSACTION;
UPDATE t_ds_task_instance
   SET state = 6, end_time = '2026-01-31 03:10:00'
 WHERE id IN (8812, 8813) AND state IN (0, 1, 10, 11) AND flag = 1;
UPDATE t_ds_process_instance
   SET state = 6, end_time = '2026-01-31 03:10:00'
 WHERE id = 411 AND state IN (0, 1, 2, 4, 8, 10, 11);
COMMIT;
