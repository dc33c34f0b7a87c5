-- flowmend: scheduler=dolphinscheduler release=3.2.2 dialect=mysql
-- History before 2025: only what is over. Children first; nothing that a parent still needs.
CREATE TABLE ops.gone_runs (PRIMARY KEY (id)) AS
SELECT p.id FROM t_ds_process_instance p
 WHERE p.state IN (3, 5, 6, 7, 13) AND p.end_time < '2025-01-01 00:00:00' AND p.is_sub_process = 0;
CREATE TABLE ops.old_tasks AS SELECT t.* FROM t_ds_task_instance t JOIN ops.gone_runs g ON g.id = t.process_instance_id;
CREATE TABLE ops.old_runs AS SELECT p.* FROM t_ds_process_instance p JOIN ops.gone_runs g ON g.id = p.id;
START TRANSACTION;
DELETE t FROM t_ds_task_instance t
  JOIN ops.gone_runs g ON g.id = t.process_instance_id
 WHERE t.state IN (3, 5, 6, 7, 8, 9, 13);
DELETE p FROM t_ds_process_instance p
  JOIN ops.gone_runs g ON g.id = p.id
 WHERE p.state IN (3, 5, 6, 7, 13);
COMMIT;
