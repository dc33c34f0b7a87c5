-- flowmend: scheduler=dolphinscheduler release=3.1.9 dialect=postgresql
\set ON_ERROR_STOP 1
\set at '2026-01-31 10:00:00'
BEGIN;
CREATE TEMP TABLE doomed ON COMMIT DROP AS
SELECT t.id
  FROM t_ds_task_instance t
  JOIN t_ds_process_instance p ON p.id = t.process_instance_id
 WHERE p.id = 5120 AND t.flag = 1 AND t.state IN (0, 1, 12, 17);
INSERT INTO ops.task_instance_backup SELECT t.* FROM t_ds_task_instance t JOIN doomed d ON d.id = t.id;
INSERT INTO ops.process_instance_backup SELECT * FROM t_ds_process_instance WHERE id = 5120;
UPDATE t_ds_task_instance t
   SET state = 6, end_time = :'at'
  FROM doomed d
 WHERE d.id = t.id AND t.state IN (0, 1, 12, 17);
UPDATE t_ds_process_instance
   SET state = 6, end_time = :'at', update_time = :'at'
 WHERE id = 5120 AND state IN (0, 1, 2, 4, 12, 14);
COMMIT;
