-- S1: which tasks run
SELECT task_instance_id, task_name, project_code, state, update_time
  FROM t_ds_task_instance WHERE state = 4 AND update_time < DATE_SUB(NOW(), INTERVAL 2 HOUR);
-- S2: which runs hang
SELECT p.id, p.state, COUNT(t.id)
  FROM t_ds_process_instance p JOIN t_ds_task_instance t ON t.process_instance_id = p.id
 WHERE p.state = 4 GROUP BY p.id, p.state;
-- S3: copies
CREATE TABLE t_ds_task_instance_bak LIKE t_ds_task_instance;
INSERT INTO t_ds_task_instance_bak SELECT * FROM t_ds_task_instance;
-- S4: the tasks fail
UPDATE t_ds_task_instance SET state = 6, end_time = NOW()
 WHERE state = 4 AND update_time < DATE_SUB(NOW(), INTERVAL 2 HOUR);
-- S5: the runs fail
UPDATE t_ds_process_instance SET state = 6, end_time = NOW()
 WHERE state = 4 AND id IN (SELECT process_instance_id FROM t_ds_task_instance WHERE state IN (6, 8));
-- S6: their commands go
DELETE FROM t_ds_command
 WHERE process_instance_id IN (SELECT id FROM t_ds_process_instance WHERE state = 6);
-- S7: the queue of task groups
UPDATE t_ds_task_group_queue SET status = 3 WHERE status = 2 AND update_time < DATE_SUB(NOW(), INTERVAL 2 HOUR);
-- S8: nothing is left
SELECT COUNT(*) FROM t_ds_task_instance WHERE state = 4 AND update_time < DATE_SUB(NOW(), INTERVAL 2 HOUR);
