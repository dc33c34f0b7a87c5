-- flowmend: scheduler=dolphinscheduler release=3.2.2 dialect=postgresql
WITH wanted AS (
  SELECT t.id
    FROM t_ds_task_instance t
   WHERE t.process_instance_id IN (61001, 61002) AND t.flag = 1 AND t.state IN (0, 1, 12, 17)
)
INSERT INTO ops.task_copy (id, old_state, old_end)
SELECT t.id, t.state, t.end_time FROM t_ds_task_instance t WHERE t.id IN (SELECT w.id FROM wanted w);

BEGIN ISOLATION LEVEL REPEATABLE READ;
WITH wanted AS (SELECT c.id, c.old_state FROM ops.task_copy c)
UPDATE t_ds_task_instance t
   SET state = 9, end_time = '2026-01-31 10:00:00'
  FROM wanted w
 WHERE w.id = t.id AND t.state = w.old_state AND t.state IN (0, 1, 12, 17)
RETURNING t.id, t.state;
UPDATE t_ds_process_instance p
   SET state = 5, end_time = COALESCE(p.end_time, '2026-01-31 10:00:00'), update_time = '2026-01-31 10:00:00'
 WHERE p.id IN (61001, 61002)
   AND p.state IN (0, 1, 2, 4, 12, 14, 16, 17, 18)
   AND NOT EXISTS (
     SELECT 1 FROM t_ds_task_instance c
      WHERE c.process_instance_id = p.id AND c.flag = 1 AND c.state NOT IN (3, 5, 6, 7, 8, 9, 13));
COMMIT;
