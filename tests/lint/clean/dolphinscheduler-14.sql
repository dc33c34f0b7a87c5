-- flowmend: scheduler=dolphinscheduler release=2.0.9 dialect=mysql
INSERT INTO ops.t_ds_task_instance_old SELECT * FROM t_ds_task_instance WHERE id = 31;
START TRANSACTION;
-- One row, from RUNNING to FAILURE; compare and set.
UPDATE t_ds_task_instance SET state = 6, end_time = IFNULL(end_time, '2026-01-31 10:00:00'), retry_times = max_retry_times + 1 WHERE id = 31 AND state = 1;
COMMIT;
SELECT b.id, b.state AS was, t.state AS is_now FROM ops.t_ds_task_instance_old b JOIN t_ds_task_instance t USING (id);
