-- flowmend: scheduler=dolphinscheduler release=3.1.9 dialect=mysql
-- Slots that finished tasks still hold: the queue rows go first, then the counter is recounted.
INSERT INTO ops.task_group_queue_0131
SELECT * FROM t_ds_task_group_queue WHERE group_id = 3 AND status IN (-1, 1);
INSERT INTO ops.task_group_0131 SELECT * FROM t_ds_task_group WHERE id = 3;
BEGIN;
UPDATE t_ds_task_group_queue q
  JOIN t_ds_task_instance t ON t.id = q.task_id
   SET q.status = 2, q.in_queue = 0, q.update_time = '2026-01-31 10:00:00'
 WHERE q.group_id = 3 AND q.status = 1 AND t.state IN (6, 7, 9) AND t.flag = 1;
UPDATE t_ds_task_group g
   SET g.use_size = (SELECT COUNT(*) FROM t_ds_task_group_queue q WHERE q.group_id = g.id AND q.status = 1 AND q.force_start = 0),
       g.update_time = '2026-01-31 10:00:00'
 WHERE g.id = 3;
COMMIT;
