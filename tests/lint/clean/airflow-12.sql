-- flowmend: scheduler=airflow release=2.10.5 dialect=mysql
-- A deferred task whose trigger is gone: the scheduler times it out by itself, with its callbacks.
INSERT INTO ops.ti_backup SELECT * FROM task_instance WHERE dag_id = 'sensors' AND run_id = 'manual__9' AND state = 'deferred';
START TRANSACTION;
UPDATE task_instance ti
   SET ti.trigger_timeout = '2026-01-31 08:59:00', ti.updated_at = '2026-01-31 09:00:00'
 WHERE ti.dag_id = 'sensors' AND ti.run_id = 'manual__9' AND ti.state = 'deferred'
   AND (ti.trigger_id IS NULL OR NOT EXISTS (SELECT 1 FROM `trigger` t WHERE t.id = ti.trigger_id));
COMMIT;
